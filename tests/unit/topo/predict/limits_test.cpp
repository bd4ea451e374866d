// SPDX-License-Identifier: BSD-3-Clause
#include "topo/predict/limits.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/unit/topo/bounds/small_graphs.hpp"
#include "tests/unit/topo/tree_machine.hpp"

namespace busbar::topo {
namespace {

double network_GBps(const Graph& host, const std::vector<int>& devices,
                    const BoundOptions& options = {}) {
  return host_network_GBps(Cluster({.host = host}), {.devices = devices}, options);
}

TEST(HostNetwork, AgreesWithAllPartsOfTheNodes) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const TreeMachine machine({.gpus = 3}, seed);
    const Graph& graph = machine.graph();
    const std::vector<std::vector<int>> sets{{0}, {2}, {0, 1}, {0, 1, 2}};
    for (const std::vector<int>& set : sets) {
      const auto is_ours = [&](int node) {
        return std::any_of(set.begin(), set.end(), [&](int device) {
          return graph.devices[static_cast<std::size_t>(device)] == node;
        });
      };
      std::vector<int> links;  // less those of the other GPUs
      for (std::size_t k = 0; k < graph.links.size(); ++k) {
        const auto stranger = [&](int node) {
          return graph.nodes[static_cast<std::size_t>(node)].kind == NodeKind::Gpu &&
                 !is_ours(node);
        };
        if (stranger(graph.links[k].from) || stranger(graph.links[k].to)) continue;
        links.push_back(static_cast<int>(k));
      }
      // Our devices on one side and the network on the other, seen from either.
      const int fabric = find_node(graph, "fabric");
      const double least = least_cut(graph, links, [&](const auto& has) {
        const bool first = has(graph.devices[static_cast<std::size_t>(set.front())]);
        return has(fabric) != first && std::all_of(set.begin(), set.end(), [&](int device) {
                 return has(graph.devices[static_cast<std::size_t>(device)]) == first;
               });
      });
      EXPECT_NEAR(network_GBps(graph, set), least, 1e-7) << set.size();
    }
  }
}

TEST(HostNetwork, CountsTheFlowsOfEachCard) {
  Graph graph = cluster_of({"02", "20"}, 25, 1, 12.5, 1.25);
  EXPECT_NEAR(network_GBps(graph, {0, 1}), 12.5, 1e-9);
  EXPECT_NEAR(network_GBps(graph, {0, 1}, {.flows = 3}), 3.75, 1e-9);
  EXPECT_EQ(network_GBps(nvlink_graph({"02", "20"}, 25), {0, 1}), 0) << "no network";
}

TEST(HostNetwork, PassesNoProcessorThatRanksOfTheirOwnRunOn) {
  Graph graph{.name = "two sockets"};
  for (const char* name : {"CPU0", "CPU1"}) {
    graph.devices.push_back(add_node(graph, {.kind = NodeKind::Processor, .name = name}));
  }
  const int nic = add_node(graph, {.kind = NodeKind::Nic, .name = "NIC0"});
  const int fabric = add_node(graph, {.kind = NodeKind::Network, .name = "fabric", .host = -1});
  const auto join = [&](int one, int other, const char* name, LinkKind kind, double GBps) {
    add_cable(graph, one, other,
              add_medium(graph, {.name = name, .kind = kind, .nominal_GBps = GBps}));
  };
  join(graph.devices[0], graph.devices[1], "UPI", LinkKind::Smp, 20);
  join(graph.devices[1], nic, "PCIe", LinkKind::Pcie, 16);
  join(nic, fabric, "Ethernet", LinkKind::Network, 12.5);
  EXPECT_EQ(network_GBps(graph, {0}), 0);
  EXPECT_NEAR(network_GBps(graph, {1}), 12.5, 1e-9);
  EXPECT_NEAR(network_GBps(graph, {0, 1}), 12.5, 1e-9);
}

TEST(HostNetwork, StaysWithinItsHost) {
  // Each host of power_graph has two cards of 12 and an X-Bus of 32 between its sockets.
  const Graph graph = power_graph(2, 2, 3);
  const Cluster cluster({.host = graph});
  EXPECT_NEAR(host_network_GBps(cluster, {.host = 1, .devices = {0, 1}}, {}), 24, 1e-9);
  const Graph narrow = power_graph(2, 2, 3, 5);
  EXPECT_NEAR(host_network_GBps(Cluster({.host = narrow}), {.host = 1, .devices = {2, 3}}, {}), 17,
              1e-9)
      << "one card, and the other over the X-Bus";
}

SetLimits limits(const EqualHosts& machine, int ranks, const BoundOptions& options = {},
                 const std::string& devices = "prefix") {
  const Cluster cluster(machine);
  return limits_of(cluster, cluster.place(ranks, parse_selection("--devices", devices), options),
                   options);
}

TEST(LimitsOf, AreThoseOfThePortsOfASwitch) {
  const SetLimits eight = limits(load_machine("dgx-h100"), 8);
  EXPECT_EQ(eight.hosts, 1);
  EXPECT_EQ(eight.most_on_host, 8);
  EXPECT_NEAR(eight.ring_GBps, 450, 1e-6);  // 18 links of 25
  EXPECT_NEAR(eight.host_GBps, 450, 1e-6);
  EXPECT_NEAR(eight.in_switch_GBps, 700, 1e-6);  // 2 x 450 x 7/9
  EXPECT_EQ(eight.kind, "nvswitch");
  EXPECT_EQ(eight.within, LinkKind::NvLink);
  // Hosts that NVLink joins are one: 2 x 900 x 71/73.
  const SetLimits rack = limits(load_machine("gb200-nvl72"), 72);
  EXPECT_EQ(rack.hosts, 1);
  EXPECT_EQ(rack.most_on_host, 72);
  EXPECT_NEAR(rack.ring_GBps, 900, 1e-6);
  EXPECT_NEAR(rack.in_switch_GBps, 2 * 900.0 * 71 / 73, 1e-6);
  EXPECT_NEAR(limits(load_machine("gb200-nvl72"), 3).in_switch_GBps, 900, 1e-6);  // 2 x 900 x 2/4
  EXPECT_EQ(limits(load_machine("dgx-2"), 16).in_switch_GBps, 0) << "its switch does not add";
}

TEST(LimitsOf, AreTheLeastOfHostsAndNetwork) {
  // X-Bus of 32 in a host, two cards of 12 to others.
  const SetLimits four = limits(load_machine("ac922-x4"), 16);
  EXPECT_EQ(four.hosts, 4);
  EXPECT_EQ(four.most_on_host, 4);
  EXPECT_NEAR(four.host_GBps, 32, 1e-6);
  EXPECT_NEAR(four.network_GBps, 24, 1e-6);
  EXPECT_NEAR(four.ring_GBps, 24, 1e-6);
  EXPECT_EQ(four.within, LinkKind::Smp);
  EXPECT_TRUE(four.exact);
  // Two of the second host are on one socket: three links of 25, and the first host's 32.
  const SetLimits six = limits(load_machine("ac922-x4"), 6);
  EXPECT_EQ(six.hosts, 2);
  EXPECT_EQ(six.most_on_host, 4);
  EXPECT_NEAR(six.host_GBps, 32, 1e-6);
  EXPECT_EQ(six.within, LinkKind::Smp);
  const SetLimits two = limits(load_machine("ac922-x4"), 2);
  EXPECT_EQ(two.hosts, 1);
  EXPECT_EQ(two.most_on_host, 2);
  EXPECT_NEAR(two.ring_GBps, 75, 1e-6);
  EXPECT_NEAR(two.host_GBps, 75, 1e-6);
  EXPECT_TRUE(std::isinf(two.network_GBps));
  EXPECT_EQ(two.within, LinkKind::NvLink);
}

TEST(LimitsOf, AreNoneForOneRank) {
  for (const char* system : {"dgx-h100", "dgx-1v"}) {
    const SetLimits one = limits(load_machine(system), 1);
    EXPECT_EQ(one.kind, "none");
    EXPECT_TRUE(std::isinf(one.ring_GBps));
    EXPECT_EQ(one.most_on_host, SetLimits{}.most_on_host);
  }
}

TEST(LimitsOf, HaveNoRingInHostsOfOneRank) {
  const SetLimits pair = limits({.host = cluster_of({"0"}, 25, 1, 12.5), .hosts = 3}, 3);
  EXPECT_EQ(pair.hosts, 3);
  EXPECT_EQ(pair.most_on_host, 1);
  EXPECT_TRUE(std::isinf(pair.host_GBps));
  EXPECT_NEAR(pair.network_GBps, 12.5, 1e-9);
  EXPECT_NEAR(pair.ring_GBps, 12.5, 1e-9);
  EXPECT_EQ(pair.kind, "network");
}

TEST(LimitsOf, TakeTheNetworkWhereTwoHostsAreMoreThanSixteenDevices) {
  // Rows of nine: a ring of double links, 50 GB/s one way round and 50 the other.
  std::vector<std::string> rows(9, std::string(9, '0'));
  for (std::size_t k = 0; k < 9; ++k) rows[k][(k + 1) % 9] = rows[(k + 1) % 9][k] = '2';
  const EqualHosts machine{.host = cluster_of(rows, 25, 1, 12.5, 1.25), .hosts = 2};
  const SetLimits all = limits(machine, 18);
  EXPECT_NEAR(all.host_GBps, 100, 1e-6);
  EXPECT_NEAR(all.ring_GBps, 12.5, 1e-6);
  EXPECT_EQ(all.kind, "network");
  EXPECT_NEAR(limits(machine, 18, {.flows = 1}).ring_GBps, 1.25, 1e-6);
  const SetLimits sixteen = limits(machine, 10);  // nine and one: the search is exact
  EXPECT_TRUE(sixteen.exact);
  EXPECT_EQ(sixteen.most_on_host, 9);
  EXPECT_NEAR(sixteen.ring_GBps, 12.5, 1e-6);
}

TEST(LimitsOf, NameWhatLimitsTwoHostsUpToSixteenDevices) {
  const SetLimits sixteen = limits(load_machine("p3dn-x2"), 16, {.flows = 100});
  EXPECT_EQ(sixteen.kind, "nvlink+network");
  EXPECT_NE(sixteen.limit.find("host0/NIC0"), std::string::npos) << sixteen.limit;
  // Where a host's own ring is no wider than the network, the host is named.
  const EqualHosts equal{.host = cluster_of({"01", "10"}, 12.5, 1, 12.5), .hosts = 2};
  EXPECT_EQ(limits(equal, 4).kind, "nvlink");
  EXPECT_NEAR(limits(equal, 4).ring_GBps, 12.5, 1e-9);
}

TEST(LimitsOf, AreNotExactWhereAHostIsNot) {
  // Eighteen GPUs with few NVLinks: rings of 12.5 GB/s are found, and 31.25 are not ruled out.
  const Graph host = TreeMachine({.gpus = 18, .network = false, .nvlink = 0.4}, 3).graph();
  ASSERT_FALSE(bound_of(host, prefix(18)).exact);
  EXPECT_FALSE(limits({.host = host}, 18).exact);
  EXPECT_TRUE(limits({.host = host}, 4).exact);
}

TEST(LimitsOf, TakeTheSlowestStepOfAllHosts) {
  // NVLink joins 0 and 1 only: a host with all three needs PCIe, one with the pair does not.
  const EqualHosts machine{.host = cluster_of({"010", "100", "000"}, 25, 1, 12.5), .hosts = 2};
  EXPECT_EQ(limits(machine, 5).within, LinkKind::Pcie);
  EXPECT_EQ(limits(machine, 4, {}, "0,1,3,4").within, LinkKind::NvLink);
  EXPECT_EQ(limits(machine, 4, {}, "0,1,3,5").within, LinkKind::Pcie);
  EXPECT_EQ(limits(machine, 4, {}, "0,2,3,4").within, LinkKind::Pcie);
}

TEST(LimitsOf, TakePcieWhereALaterHostNeedsIt) {
  // Two sockets a host: NVLink and the X-Bus join the first one's GPUs, PCIe the second one's.
  Graph graph = power_graph(2, 1, 3);
  const auto medium = [&](const char* name) { return add_medium(graph, {.name = name}); };
  for (Link& link : graph.links) {
    const bool second = graph.nodes[static_cast<std::size_t>(link.from)].host == 1;
    if (second && link.medium == medium("NVLink 2")) link.medium = medium("PCIe 4.0 x8");
  }
  EXPECT_EQ(limits({.host = graph}, 2).within, LinkKind::Smp);
  EXPECT_EQ(limits({.host = graph}, 4).within, LinkKind::Pcie);
}

TEST(LimitsOf, CompareEveryHostThatNamesItselfWithTheFirst) {
  // Three hosts in one graph, the last with a card of 5 instead of 12.5.
  Graph graph = cluster_of({"02", "20"}, 25, 3, 12.5);
  const int slow = add_medium(
      graph, {.name = "slow", .kind = LinkKind::Network, .nominal_GBps = 5, .flow_GBps = 1});
  const int nic = find_node(graph, "host2/NIC0");
  for (Link& link : graph.links) {
    const int other = link.from == nic ? link.to : link.to == nic ? link.from : -1;
    if (other == find_node(graph, "fabric")) link.medium = slow;
  }
  EXPECT_NEAR(limits({.host = graph}, 6).ring_GBps, 5, 1e-6);
  EXPECT_NEAR(limits({.host = graph}, 6).network_GBps, 5, 1e-6);
  EXPECT_NEAR(limits({.host = graph}, 4).ring_GBps, 12.5, 1e-6);
}

}  // namespace
}  // namespace busbar::topo

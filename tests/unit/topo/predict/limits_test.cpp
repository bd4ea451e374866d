// SPDX-License-Identifier: BSD-3-Clause
#include "topo/predict/limits.hpp"

#include <algorithm>
#include <limits>

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
        return std::any_of(set.begin(), set.end(),
                           [&](int device) { return graph.devices[to_size(device)] == node; });
      };
      std::vector<int> links;  // less those of the other GPUs
      for (std::size_t k = 0; k < graph.links.size(); ++k) {
        const auto stranger = [&](int node) {
          return graph.nodes[to_size(node)].kind == NodeKind::Gpu && !is_ours(node);
        };
        if (stranger(graph.links[k].from) || stranger(graph.links[k].to)) continue;
        links.push_back(static_cast<int>(k));
      }
      // Our devices on one side and the network on the other, seen from either.
      const int fabric = find_node(graph, "fabric");
      const double least = least_cut(graph, links, [&](const auto& has) {
        const bool first = has(graph.devices[to_size(set.front())]);
        return has(fabric) != first && std::all_of(set.begin(), set.end(), [&](int device) {
                 return has(graph.devices[to_size(device)]) == first;
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
  Graph joined = graph;
  add_cable(joined, find_node(joined, "host0/NIC0"), find_node(joined, "host1/NIC0"), 3);
  EXPECT_NEAR(host_network_GBps(Cluster({.host = joined}), {.host = 1, .devices = {0, 1}}, {}), 24,
              1e-9)
      << "not by the card of another host";
}

SetLimits limits(const EqualHosts& machine, int ranks, const BoundOptions& options = {},
                 const std::string& devices = "prefix") {
  const Cluster cluster(machine);
  return limits_of(cluster, cluster.place(ranks, parse_selection("--devices", devices), options),
                   options);
}

TEST(LimitsOf, AreThoseOfEachKindOfMachine) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  // A ring of nine double links: 50 GB/s one way round and 50 the other.
  std::vector<std::string> rows(9, std::string(9, '0'));
  for (std::size_t k = 0; k < 9; ++k) rows[k][(k + 1) % 9] = rows[(k + 1) % 9][k] = '2';
  const EqualHosts nines{.host = cluster_of(rows, 25, 1, 12.5, 1.25), .hosts = 2};
  const EqualHosts ones{.host = cluster_of({"0"}, 25, 1, 12.5), .hosts = 3};
  const EqualHosts rack = load_machine("gb200-nvl72");
  const EqualHosts ac922 = load_machine("ac922-x4");
  struct Case {
    EqualHosts machine;
    int ranks;
    std::string kind;
    int hosts;
    int most_on_host;
    double ring;
    double host;
    double network = kNone;
    double in_switch = 0;
    LinkKind within = LinkKind::NvLink;
    BoundOptions options{};
  };
  const std::vector<Case> cases{
      {load_machine("dgx-h100"), 8, "nvswitch", 1, 8, 450, 450, kNone, 700},  // 2 x 450 x 7/9
      {load_machine("dgx-2"), 16, "nvswitch", 1, 16, 150, 150},  // its switch does not add
      // Hosts that NVLink joins are one.
      {rack, 72, "nvswitch", 1, 72, 900, 900, kNone, 2 * 900.0 * 71 / 73},
      {rack, 3, "nvswitch", 1, 3, 900, 900, kNone, 900},
      // X-Bus of 32 in a host, two cards of 12 to others.
      {ac922, 16, "nvlink+smp+network", 4, 4, 24, 32, 24, 0, LinkKind::Smp},
      // Two of the second host are on one socket and leave by its card.
      {ac922, 6, "nvlink+smp+network", 2, 4, 12, 32, 24, 0, LinkKind::Smp},
      {ac922, 2, "nvlink", 1, 2, 75, 75},
      {load_machine("dgx-1v"), 1, "none", 1, 0, kNone, kNone},
      {load_machine("dgx-h100"), 1, "none", 1, 0, kNone, kNone},
      {ones, 3, "network", 3, 1, 12.5, kNone, 12.5},  // no ring in hosts of one rank
      {nines, 18, "network", 2, 9, 12.5, 100, 12.5},  // two hosts are more than sixteen devices
      {nines, 18, "network", 2, 9, 1.25, 100, 1.25, 0, LinkKind::NvLink, {.flows = 1}},
      {nines, 10, "nvlink+network", 2, 9, 12.5, 100, 12.5}};  // nine and one: searched
  for (const Case& one : cases) {
    SCOPED_TRACE(fmt::format("{} {}", one.machine.host.name, one.ranks));
    const SetLimits found = limits(one.machine, one.ranks, one.options);
    EXPECT_EQ(found.kind, one.kind);
    EXPECT_EQ(found.hosts, one.hosts);
    EXPECT_EQ(found.most_on_host, one.most_on_host);
    EXPECT_FLOAT_EQ(static_cast<float>(found.ring_GBps), static_cast<float>(one.ring));
    EXPECT_FLOAT_EQ(static_cast<float>(found.host_GBps), static_cast<float>(one.host));
    EXPECT_FLOAT_EQ(static_cast<float>(found.network_GBps), static_cast<float>(one.network));
    EXPECT_NEAR(found.in_switch_GBps, one.in_switch, 1e-6);
    EXPECT_EQ(found.within, one.within);
    EXPECT_TRUE(found.exact);
  }
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
    const bool second = graph.nodes[to_size(link.from)].host == 1;
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

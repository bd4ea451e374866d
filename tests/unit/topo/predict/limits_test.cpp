// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/topo/bounds/small_graphs.hpp"
#include "tests/unit/topo/tree_machine.hpp"
#include "topo/predict/cluster.hpp"

namespace busbar::topo {
namespace {

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
      {ac922, 6, "nvlink+smp+network", 2, 4, 12, 32, 12, 0, LinkKind::Smp},
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

// SPDX-License-Identifier: BSD-3-Clause
#include "topo/systems/joined_hosts.hpp"

#include "tests/unit/topo/choice/machines.hpp"
#include "topo/systems/system_file.hpp"
#include "topo/systems/system_tables.hpp"

namespace busbar::topo {
namespace {

/// Four GPUs with these NVLinks and a PCIe tree, without adapters.
Graph box(const std::vector<std::string>& rows = {"0444", "4044", "4404", "4440"}) {
  Graph graph = nvlink_graph(rows, 25);
  add_pcie(graph, {.gpus = 4});
  return graph;
}

/// The adapters that have a cable to the network.
std::vector<std::string> joined(const Graph& graph) {
  std::vector<std::string> names;
  const int network = find_node(graph, "network");
  for (const Link& link : graph.links) {
    if (link.to == network) names.push_back(graph.nodes[static_cast<std::size_t>(link.from)].name);
  }
  return names;
}

TEST(JoinedHosts, HaveAnAssumedAdapterForEachDevice) {
  const Graph host = with_network(box(), NetworkRequest{.adapter_GBps = 10});
  EXPECT_THAT(joined(host), ElementsAre("NIC0", "NIC1", "NIC2", "NIC3"));
  EXPECT_EQ(host.assumptions.at(host.assumptions.size() - 1).kind, LinkKind::Network);
}

TEST(JoinedHosts, TakeTheAdaptersOfTheMachine) {
  Graph graph = box();
  add_nic(graph, "PLX0");
  const std::size_t before = graph.assumptions.size();
  const Graph host = with_network(graph, NetworkRequest{.adapters = 1, .adapter_GBps = 10});
  EXPECT_THAT(joined(host), ElementsAre("NIC on PLX0"));
  EXPECT_EQ(host.assumptions.size(), before);
  EXPECT_THROW((void)with_network(graph, NetworkRequest{.adapters = 2, .adapter_GBps = 10}), Error);
  add_nic_at(graph, {graph.devices[0]}, "NIC of GPU0");
  const Graph near = with_network(graph, NetworkRequest{.adapters = 1, .adapter_GBps = 10});
  EXPECT_THAT(joined(near), ElementsAre("NIC of GPU0")) << "one hop, not two";
}

TEST(JoinedHosts, HaveTheBoundOfTheirAdapters) {
  struct Case {
    Graph host;
    std::optional<NetworkRequest> network;
    int hosts;
    double GBps;
    std::string kind;
  };
  const std::vector<Case> cases{
      {box(), NetworkRequest{2, 1}, 3, 2, "nvlink+network"},
      // NVLink joins pairs only: a ring over it and the network crosses that at every pair.
      {box({"0400", "4000", "0004", "0040"}), NetworkRequest{2, 1}, 2, 2, "nvlink+pcie+network"},
      // Instead of their own.
      {load_system("dgx-h100"), NetworkRequest{4, 25}, 2, 100, "nvswitch+network"},
      // An NVLink domain joins its hosts where no network is requested.
      {load_system("p6e-gb300"), std::nullopt, 2, 900, "nvswitch"},
      {load_system("gb200-tray"), NetworkRequest{4, 50}, 2, 200, "nvswitch+network"}};
  for (const auto& [host, network, hosts, GBps, kind] : cases) {
    SCOPED_TRACE(host.name + " " + kind);
    const Graph all = parse_system(write_system(with_network(host, network), hosts), "all.toml");
    const Bound bound = bound_of(all, prefix(hosts * static_cast<int>(device_count(host))));
    EXPECT_NEAR(bound.ring_GBps, GBps, 1e-6);
    EXPECT_EQ(bound.kind, kind);
    EXPECT_EQ(bound.assumptions.empty(), host.name != "mesh") << "where adapters are is assumed";
  }
}

TEST(JoinedHosts, NeedANetwork) {
  EXPECT_THROW((void)with_network(box(), std::nullopt), Error);
  const Graph own = load_system("dgx-h100");
  EXPECT_EQ(with_network(own, std::nullopt).links.size(), own.links.size());
  EXPECT_THROW((void)with_network(load_system("p3dn-x2"), std::nullopt), Error);
}

TEST(JoinedHosts, EndAtTheLastHostOfAnNvlinkDomain) {
  for (const char* system :
       {"gb200-tray", "gb200-tray-x8", "gb300-tray", "p6e-gb200", "p6e-gb300"}) {
    const Graph tray = load_machine(system).host;
    EXPECT_EQ(device_count(copy_hosts(tray, 18)), 72U) << system;
    EXPECT_THROW((void)copy_hosts(tray, 19), Error) << system;
    EXPECT_THROW((void)write_system(tray, 19), Error) << system;
    EXPECT_THROW((void)copy_hosts(parse_machine(write_system(tray, 2), "t.toml").host, 19), Error)
        << "what is saved ends there, too";
  }
  EXPECT_NO_THROW(check_hosts(load_machine("gb200-nvl72-x2").host, 19)) << "racks are its hosts";
  const Graph own = with_network(load_system("gb200-tray"), NetworkRequest{4, 50});
  EXPECT_EQ(device_count(copy_hosts(own, 36)), 144U) << "no domain where a network is requested";
}

TEST(JoinedHosts, ReadTheNumberAndRateOfAdapters) {
  const NetworkRequest one = parse_network("--nic", "50");
  EXPECT_EQ(one.adapters, 0);
  EXPECT_DOUBLE_EQ(one.adapter_GBps, 50);
  const NetworkRequest eight = parse_network("--nic", "8x12.5");
  EXPECT_EQ(eight.adapters, 8);
  EXPECT_DOUBLE_EQ(eight.adapter_GBps, 12.5);
  for (const char* text : {"", "x50", "8x", "0x50", "8x0", "8x50x2", "fast"}) {
    EXPECT_THROW((void)parse_network("--nic", text), Error) << text;
  }
}

using Names = std::vector<std::string>;
using Pairs = std::vector<std::pair<std::string, std::string>>;

const toml::table kTable = parse_toml("name = \"GPU7-0\"", "my.toml");
const TomlFields kFields(kTable, "my.toml", "[[node]]");

Names names(const std::string& text) { return names_of_range(kFields, "name", text); }
Pairs pairs(const std::string& one, const std::string& other) {
  return pairs_of_ranges(kFields, "name", one, other);
}

TEST(NodeRanges, StandForNumberedNames) {
  EXPECT_EQ(names("GPU0-3"), (Names{"GPU0", "GPU1", "GPU2", "GPU3"}));
  EXPECT_EQ(names("mlx5_9-10"), (Names{"mlx5_9", "mlx5_10"}));
  for (const char* other : {"GPU0", "0-3", "switch-a", "0000:01:00.0", "GPU-3", "GPU0-", "-"}) {
    EXPECT_EQ(names(other), Names{other});
  }
  EXPECT_EQ(names("GPU0-255").size(), 256U);
}

TEST(NodeRanges, CountUpwardsToAtMost256Nodes) {
  for (const char* bad : {"GPU7-0", "GPU3-3", "GPU0-256", "GPU00-07", "GPU0-99999999999"}) {
    test::expect_failure(Status::Usage, {fmt::format("my.toml:1:8: \"{}\"", bad), "as GPU0-7"},
                         [&] { static_cast<void>(names(bad)); });
  }
}

TEST(NodeRanges, PairOneToOneInBlocksOrEachWithEach) {
  EXPECT_EQ(pairs("A", "B"), (Pairs{{"A", "B"}}));
  EXPECT_EQ(pairs("A0-1", "B4-5"), (Pairs{{"A0", "B4"}, {"A1", "B5"}}));
  EXPECT_EQ(pairs("A0-1", "B"), (Pairs{{"A0", "B"}, {"A1", "B"}}));
  EXPECT_EQ(pairs("A0-3", "B0-1"), (Pairs{{"A0", "B0"}, {"A1", "B0"}, {"A2", "B1"}, {"A3", "B1"}}));
  EXPECT_EQ(pairs("B0-1", "A0-3"), (Pairs{{"B0", "A0"}, {"B0", "A1"}, {"B1", "A2"}, {"B1", "A3"}}));
  EXPECT_EQ(pairs("A0-2", "A0-2"), (Pairs{{"A0", "A1"}, {"A0", "A2"}, {"A1", "A2"}}));
}

}  // namespace
}  // namespace busbar::topo

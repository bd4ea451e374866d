// SPDX-License-Identifier: BSD-3-Clause
#include "topo/systems/joined_hosts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/unit/topo/choice/machines.hpp"
#include "topo/bounds/bound.hpp"
#include "topo/systems/system_file.hpp"
#include "topo/systems/system_writer.hpp"

namespace busbar::topo {
namespace {

using testing::ElementsAre;

/// Four GPUs with a PCIe tree and without adapters.
Graph box() {
  Graph graph = nvlink_graph({"0444", "4044", "4404", "4440"}, 25);
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
  ASSERT_FALSE(host.assumptions.empty());
  EXPECT_EQ(host.assumptions.back().kind, LinkKind::Network);
}

TEST(JoinedHosts, TakeTheAdaptersOfTheMachine) {
  Graph graph = box();
  add_nic(graph, "PLX0");
  const std::size_t before = graph.assumptions.size();
  const Graph host = with_network(graph, NetworkRequest{.adapters = 1, .adapter_GBps = 10});
  EXPECT_THAT(joined(host), ElementsAre("NIC on PLX0"));
  EXPECT_EQ(host.assumptions.size(), before);
  EXPECT_THROW((void)with_network(graph, NetworkRequest{.adapters = 2, .adapter_GBps = 10}), Error);
}

TEST(JoinedHosts, HaveTheBoundOfTheirAdapters) {
  const std::string text =
      write_system(with_network(box(), NetworkRequest{.adapters = 2, .adapter_GBps = 1}), 3);
  const Graph three = parse_system(text, "three.toml");
  ASSERT_EQ(device_count(three), 12U);
  const Bound bound = bound_of(three, std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  EXPECT_NEAR(bound.bound_GBps, 2, 1e-6);
  EXPECT_FALSE(bound.assumptions.empty()) << "where the adapters are is assumed";
}

/// NVLink joins pairs only, so a ring over NVLink and the network alone crosses it at every pair.
TEST(JoinedHosts, SpareTheNetworkByPcieWhereNvlinkDoesNotJoinAHost) {
  Graph pairs = nvlink_graph({"0400", "4000", "0004", "0040"}, 25);
  add_pcie(pairs, {.gpus = 4});
  const Graph host = with_network(pairs, NetworkRequest{.adapters = 2, .adapter_GBps = 1});
  const Graph two = parse_system(write_system(host, 2), "two.toml");
  const Bound bound = bound_of(two, std::vector{0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_NEAR(bound.ring_GBps, 2, 1e-6);
  EXPECT_EQ(bound.kind, "nvlink+pcie+network");
}

TEST(JoinedHosts, NeedANetworkAndHaveOneOnly) {
  EXPECT_THROW((void)with_network(box(), std::nullopt), Error);
  const Graph own = load_system("dgx-h100");
  EXPECT_EQ(with_network(own, std::nullopt).links.size(), own.links.size());
  EXPECT_THROW((void)with_network(own, NetworkRequest{.adapter_GBps = 50}), Error);
  EXPECT_THROW((void)with_network(load_system("p3dn-x2"), std::nullopt), Error);
}

}  // namespace
}  // namespace busbar::topo

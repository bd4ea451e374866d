// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/sets.hpp"

#include "tests/unit/topo/choice/machines.hpp"

namespace busbar::topo {
namespace {

int nic_steps_of(const TieBreaker& ties, int device) {
  return ties.of(std::vector{device}).nic_steps;
}

TEST(CountSets, IsTheBinomialCoefficientUpToWhatSixtyFourBitsHold) {
  EXPECT_EQ(count_sets(8, 4), 70U);
  EXPECT_EQ(count_sets(5, 0), 1U);
  EXPECT_EQ(count_sets(3, 5), 0U);
  EXPECT_EQ(count_sets(67, 33), 14226520737620288370U);  // the last row that fits
  EXPECT_EQ(count_sets(72, 36), kManySets);
  EXPECT_EQ(count_sets(72, 3), 59640U);
  EXPECT_EQ(counted_sets(1), "1 set");
}

TEST(AllSets, ComeInLexicographicOrder) {
  EXPECT_EQ(all_sets(4, 2),
            (std::vector<DeviceSet>{{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}));
  EXPECT_EQ(all_sets(4, 0), (std::vector<DeviceSet>{{}}));
  EXPECT_TRUE(all_sets(4, 5).empty());
  for (std::size_t k = 0; k <= 16; ++k) EXPECT_EQ(all_sets(16, k).size(), count_sets(16, k));
}

TEST(TieBreaker, CountsNumaNodesAcrossHosts) {
  Graph graph = pcie_graph({.gpus = 4});
  set_two_numa_nodes(graph);
  const TieBreaker ties(graph);
  EXPECT_EQ(ties.of(std::vector{0, 1}).numa_nodes, 1);
  EXPECT_EQ(ties.of(std::vector{1, 2}).numa_nodes, 2);
  gpu(graph, 1).host = 1;  // the same number on another host is another node
  EXPECT_EQ(TieBreaker(graph).of(std::vector{0, 1}).numa_nodes, 2);
}

TEST(TieBreaker, TakesUnknownNumaNodesOfAHostAsOne) {
  const TieBreaker ties(pcie_graph({.gpus = 4}));
  EXPECT_EQ(ties.of(std::vector{0, 1, 2, 3}).numa_nodes, 1);
}

TEST(TieBreaker, FindsACardUnderTheSwitchNearerThanAboveIt) {
  Graph graph = pcie_graph({});
  add_nic(graph, "PLX0");
  const TieBreaker ties(graph);
  EXPECT_EQ(nic_steps_of(ties, 0), 2);
  EXPECT_EQ(ties.of(std::vector{0, 1}).nic_steps, 4);
  // Links, 10 for each package and 100 for the link between packages: GPU2 PLX1 CPU0 PLX0 card, and
  // GPU4 PLX2 CPU1 CPU0 PLX0 card.
  EXPECT_EQ(nic_steps_of(ties, 2), 4 + 10);
  EXPECT_EQ(nic_steps_of(ties, 4), 5 + 2 * 10 + 100);
}

TEST(TieBreaker, GoesThroughNoGpuToACard) {
  Graph graph = nvlink_graph({"01", "10"}, 25);
  add_nic_at(graph, {graph.devices[0]});
  const TieBreaker ties(graph);
  EXPECT_EQ(nic_steps_of(ties, 0), 1);
  EXPECT_EQ(nic_steps_of(ties, 1), TieBreaker::kNoNic);
}

TEST(TieBreaker, SeesPairsWithoutPeerAccessUnlessNvlinkJoinsThem) {
  Graph graph = nvlink_graph({"0100", "1000", "0000", "0000"}, 25);
  add_pcie(graph, {.gpus = 4, .p2p = P2p::Off});
  const TieBreaker ties(graph);
  EXPECT_EQ(ties.of(std::vector{0, 1}).off_pairs, 0);
  EXPECT_EQ(ties.of(std::vector{0, 1, 2}).off_pairs, 1);
  EXPECT_EQ(TieBreaker(pcie_graph({})).of(std::vector{0, 1}).off_pairs, 0);
}

TEST(TieBreaker, TakesAnNvswitchAsJoining) {
  Graph graph = star_graph(4, 6, 25);
  graph.p2p.assign(4, std::vector<P2p>(4, P2p::Off));
  EXPECT_EQ(TieBreaker(graph).of(std::vector{0, 1, 2}).off_pairs, 0);
  const int hub = find_node(graph, "NVSwitch");
  const int other = add_node(graph, {.kind = NodeKind::NvSwitch, .name = "another"});
  for (Link& link : graph.links) {
    if (link.from == graph.devices[3]) link.to = other;
    if (link.to == graph.devices[3] && link.from == hub) link.from = other;
  }
  EXPECT_EQ(TieBreaker(graph).of(std::vector{0, 3}).off_pairs, 1) << "GPU3 is on another";
}

}  // namespace
}  // namespace busbar::topo

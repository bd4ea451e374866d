// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/partition.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/unit/topo/choice/machines.hpp"

namespace busbar::topo {
namespace {

using Blocked = std::vector<DeviceSet>;

Blocked blocks_of(const Graph& graph, int k) {
  Blocked blocks;
  for (const Choice& choice : partition(graph, k)) blocks.push_back(choice.bound.devices);
  return blocks;
}

std::string message_of(const Graph& graph, int k) {
  try {
    (void)partition(graph, k);
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::Usage);
    return error.what();
  }
  return "no error";
}

/// Calls with every way to divide what is left in blocks of k.
template <class Call>
void each_partition(const DeviceSet& left, std::size_t k, Blocked& blocks, const Call& call) {
  if (left.empty()) {
    call(blocks);
    return;
  }
  for (const DeviceSet& block : all_sets(left, k)) {
    if (block.front() != left.front()) break;
    DeviceSet rest;
    std::set_difference(left.begin(), left.end(), block.begin(), block.end(),
                        std::back_inserter(rest));
    blocks.push_back(block);
    each_partition(rest, k, blocks, call);
    blocks.pop_back();
  }
}

/// Least ring, least bound, sums of both: what a partition is judged by.
using Merit = std::tuple<long long, long long, long long, long long>;

Merit merit_of(const Graph& graph, const Blocked& blocks) {
  std::pair<long long, long long> least{1LL << 60U, 0};
  std::pair<long long, long long> sum{0, 0};
  for (const DeviceSet& block : blocks) {
    const Bound bound = bound_of(graph, block);
    const auto ring = std::llround(bound.ring_GBps * 1e4);
    const auto whole = std::llround(bound.bound_GBps * 1e4);
    least = std::min(least, {ring, whole});
    sum = {sum.first + ring, sum.second + whole};
  }
  return {least.first, least.second, sum.first, sum.second};
}

TEST(Partition, DividesACubeMeshInQuadsAndDoubleLinks) {
  const Graph graph = dgx1(dgx1v_rows(), 25);
  EXPECT_EQ(blocks_of(graph, 4), (Blocked{{0, 1, 2, 3}, {4, 5, 6, 7}}));
  const auto pairs = partition(graph, 2);
  EXPECT_EQ(blocks_of(graph, 2), (Blocked{{0, 3}, {1, 2}, {4, 7}, {5, 6}}));
  EXPECT_EQ(pairs.front().reason,
            "the least of 4 blocks has 50 GB/s, the most possible, and together they have 200 "
            "GB/s");
  EXPECT_EQ(blocks_of(graph, 8), (Blocked{prefix(8)}));
  EXPECT_EQ(blocks_of(graph, 1).size(), 8U);
}

TEST(Partition, AgreesWithAllPartitionsOfRandomMachines) {
  for (const unsigned seed : {1U, 2U, 3U, 4U}) {
    const Graph graph = random_machine(8, seed);
    for (const int k : {2, 4}) {
      Merit best{};
      Blocked blocks;
      each_partition(prefix(8), static_cast<std::size_t>(k), blocks,
                     [&](const Blocked& all) { best = std::max(best, merit_of(graph, all)); });
      EXPECT_EQ(merit_of(graph, blocks_of(graph, k)), best) << k << " seed " << seed;
    }
  }
}

TEST(Partition, SeparatesGpusThatShareASwitchWithoutPeerAccess) {
  const Graph graph = pcie_graph({.gpus = 4, .p2p = P2p::Off});
  EXPECT_EQ(blocks_of(graph, 2), (Blocked{{0, 2}, {1, 3}}));
}

TEST(Partition, KeepsNarrowPortsOfASwitchedDomainTogether) {
  Graph graph = star_graph(32, 12, 25);
  for (const std::size_t hurt : {3U, 20U}) {
    for (Link& link : graph.links) {
      if (link.from == graph.devices[hurt] || link.to == graph.devices[hurt]) link.count = 6;
    }
  }
  const auto blocks = partition(graph, 2);
  EXPECT_EQ(blocks.size(), 16U);
  for (const Choice& block : blocks) {
    const bool hurt = block.bound.devices == DeviceSet{3, 20};
    EXPECT_NEAR(block.bound.ring_GBps, hurt ? 150 : 300, 1e-6);
  }
}

TEST(Partition, TakesLargeClustersHostByHost) {
  const Graph graph = cluster_of(dgx1v_rows(), 25, 3, 12);
  const auto blocks = partition(graph, 4);
  ASSERT_EQ(blocks.size(), 6U);
  EXPECT_EQ(blocks[2].bound.devices, (DeviceSet{8, 9, 10, 11}));
  EXPECT_NE(blocks[2].reason.find("within each host"), std::string::npos);
  EXPECT_NE(message_of(graph, 6).find("too many to divide in blocks of 6"), std::string::npos);
}

TEST(Partition, RefusesWhatDoesNotDivide) {
  EXPECT_EQ(message_of(star_graph(8, 1, 25), 3),
            "--partition: blocks of 3 do not divide the 8 devices of 'star'");
  EXPECT_NE(message_of(star_graph(8, 1, 25), 0), "no error");
}

/// The best division of four devices in pairs, by what each pair is worth.
Blocked best_pairs(const std::map<DeviceSet, Worth>& worth, const Worth& others) {
  const BlockSearch search(4, 2);
  std::vector<Worth> all;
  for (const DeviceSet& pair : search.blocks()) {
    const auto known = worth.find(pair);
    all.push_back(known == worth.end() ? others : known->second);
  }
  Blocked blocks;
  for (const std::size_t block : search.best(all)) blocks.push_back(search.blocks()[block]);
  return blocks;
}

TEST(BlockSearch, PrefersTheGreatestLeastToTheGreatestSum) {
  const auto worth = [](double GBps) { return worth_of({GBps, GBps}, {}); };
  EXPECT_EQ(best_pairs({{{0, 1}, worth(100)}, {{2, 3}, worth(1)}, {{1, 2}, worth(11)}}, worth(10)),
            (Blocked{{0, 3}, {1, 2}}));
}

TEST(BlockSearch, PrefersNearerCardsWhereNodesAreEqual) {
  const auto worth = [](int steps) {
    return worth_of({10, 10}, {.numa_nodes = 1, .nic_steps = steps});
  };
  EXPECT_EQ(best_pairs({{{1, 3}, worth(4)}}, worth(5)), (Blocked{{0, 2}, {1, 3}}));
}

TEST(BlockSearch, PrefersFewerNumaNodesThenTheFirst) {
  const auto worth = [](int nodes) { return worth_of({10, 10}, {.numa_nodes = nodes}); };
  EXPECT_EQ(best_pairs({}, worth(2)), (Blocked{{0, 1}, {2, 3}}));
  EXPECT_EQ(best_pairs({{{0, 2}, worth(1)}}, worth(2)), (Blocked{{0, 2}, {1, 3}}));
}

}  // namespace
}  // namespace busbar::topo

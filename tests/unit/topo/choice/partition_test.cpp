// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/partition.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/unit/support/failure.hpp"
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
  return test::refusal_of([&] { (void)partition(graph, k); });
}

/// Calls with every way to divide n devices in blocks of k, of which some are there.
template <class Call>
void each_partition(std::size_t n, std::size_t k, Blocked& blocks, const Call& call) {
  if (blocks.size() * k == n) call(blocks);
  std::set<int> taken;
  for (const DeviceSet& block : blocks) taken.insert(block.begin(), block.end());
  int lowest = 0;
  while (taken.contains(lowest)) ++lowest;
  for (const DeviceSet& block : all_sets(n, k)) {
    const bool fits =
        block.front() == lowest && std::none_of(block.begin(), block.end(),
                                                [&](int device) { return taken.contains(device); });
    if (!fits) continue;
    blocks.push_back(block);
    each_partition(n, k, blocks, call);
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
      each_partition(8, to_size(k), blocks,
                     [&](const Blocked& all) { best = std::max(best, merit_of(graph, all)); });
      EXPECT_EQ(merit_of(graph, blocks_of(graph, k)), best) << k << " seed " << seed;
    }
  }
}

TEST(Partition, SeparatesGpusThatShareASwitchWithoutPeerAccess) {
  const Graph graph = pcie_graph({.gpus = 4, .p2p = P2p::Off});
  EXPECT_EQ(blocks_of(graph, 2), (Blocked{{0, 2}, {1, 3}}));
}

TEST(Partition, KeepsTheGpusOfANumaNodeOfASwitchedDomainTogether) {
  Graph graph = star_graph(32, 12, 25);
  for (int i = 0; i < 32; ++i) gpu(graph, i).numa = i % 16;
  const Blocked blocks = blocks_of(graph, 2);
  EXPECT_EQ(blocks.size(), 16U);
  for (const DeviceSet& block : blocks) EXPECT_EQ(block[1], block[0] + 16);
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
  const auto pairs = all_sets(4, 2);
  std::vector<Worth> all;
  for (const DeviceSet& pair : pairs) {
    all.push_back(worth.contains(pair) ? worth.at(pair) : others);
  }
  Blocked blocks;
  for (const std::size_t block : best_blocks(4, pairs, all)) blocks.push_back(pairs[block]);
  return blocks;
}

TEST(BestBlocks, PreferTheGreatestLeastToTheGreatestSum) {
  const auto worth = [](double GBps) { return worth_of({GBps, GBps}, {}); };
  EXPECT_EQ(best_pairs({{{0, 1}, worth(100)}, {{2, 3}, worth(1)}, {{1, 2}, worth(11)}}, worth(10)),
            (Blocked{{0, 3}, {1, 2}}));
}

TEST(BestBlocks, PreferNearerCardsWhereNodesAreEqual) {
  const auto worth = [](int steps) {
    return worth_of({10, 10}, {.numa_nodes = 1, .nic_steps = steps});
  };
  EXPECT_EQ(best_pairs({{{1, 3}, worth(4)}}, worth(5)), (Blocked{{0, 2}, {1, 3}}));
}

TEST(BestBlocks, PreferFewerNumaNodesThenTheFirst) {
  const auto worth = [](int nodes) { return worth_of({10, 10}, {.numa_nodes = nodes}); };
  EXPECT_EQ(best_pairs({}, worth(2)), (Blocked{{0, 1}, {2, 3}}));
  EXPECT_EQ(best_pairs({{{0, 2}, worth(1)}}, worth(2)), (Blocked{{0, 2}, {1, 3}}));
  EXPECT_GT(worth_of({10, 10}, {.numa_nodes = 1, .nic_steps = 3}), worth(2)) << "of nearer cards";
}

}  // namespace
}  // namespace busbar::topo

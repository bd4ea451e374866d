// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/ranking.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/unit/topo/choice/machines.hpp"

namespace busbar::topo {
namespace {

std::uint64_t total_of(const std::vector<Candidate>& candidates) {
  std::uint64_t total = 0;
  for (const Candidate& candidate : candidates) total = add_counts(total, candidate.count);
  return total;
}

TEST(CandidatesOf, AreAllSetsWhereThoseAreFew) {
  const Graph graph = pcie_graph({});
  const auto candidates =
      candidates_of(prefix(8), 4, Rater(graph, prefix(8), {}), TieBreaker(graph));
  EXPECT_EQ(candidates.size(), 70U);
  EXPECT_EQ(total_of(candidates), 70U);
}

TEST(CandidatesOf, StandForEverySetWhereThoseAreMany) {
  const Graph graph = pcie_graph({.gpus = 24, .per_switch = 6, .switches_per_package = 2});
  const auto candidates =
      candidates_of(prefix(24), 8, Rater(graph, prefix(24), {}), TieBreaker(graph));
  EXPECT_EQ(candidates.size(), 149U);  // ways to write 8 as a sum of four numbers up to 6
  EXPECT_EQ(total_of(candidates), count_sets(24, 8));
  for (const Candidate& candidate : candidates) EXPECT_EQ(candidate.set.size(), 8U);
}

TEST(CandidatesOf, KeepNumaNodesAndCardsApart) {
  Graph graph = pcie_graph({.gpus = 24, .per_switch = 24});
  for (int i = 0; i < 24; ++i) gpu(graph, i).numa = i % 2;
  const auto candidates =
      candidates_of(prefix(24), 8, Rater(graph, prefix(24), {}), TieBreaker(graph));
  EXPECT_EQ(candidates.size(), 9U);
  EXPECT_EQ(total_of(candidates), count_sets(24, 8));
}

TEST(CandidatesOf, AreRefusedWhereEvenTheirClassesAreMany) {
  const Graph graph = random_machine(24, 2);
  EXPECT_THROW((void)candidates_of(prefix(24), 8, Rater(graph, prefix(24), {}), TieBreaker(graph)),
               Error);
}

TEST(RankBest, TakesTheSetThatRankingAllTakes) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    for (Graph graph : {random_machine(9, seed), pcie_graph({.p2p = P2p::Off})}) {
      set_two_numa_nodes(graph);
      const std::vector<int> pool = prefix(static_cast<int>(device_count(graph)));
      const Rater rater(graph, pool, {});
      for (const std::size_t k : {2U, 3U, 5U}) {
        const auto candidates = candidates_of(pool, k, rater, TieBreaker(graph));
        ScoreCache cache(rater, sets_of(candidates));
        EXPECT_EQ(rank_best(candidates, cache).set, rank_all(candidates, cache, Policy::Best).set)
            << k << " seed " << seed;
      }
    }
  }
}

TEST(RankBest, LooksOnWhereFiguresDifferByRoundingOnly) {
  // Three pairs, each a hair's breadth behind the one before: one class, of which 0,1 come first.
  Graph graph = nvlink_graph(std::vector<std::string>(6, "000000"), 25);
  for (const auto& [first, GBps] : {std::pair{2U, 25.00002}, {4U, 25.00001}, {0U, 25.0}}) {
    const int medium = add_medium(graph, {.name = fmt::format("{}", GBps), .nominal_GBps = GBps});
    add_cable(graph, graph.devices[first], graph.devices[first + 1], medium);
  }
  const Rater rater(graph, prefix(6), {});
  const auto candidates = candidates_of(prefix(6), 2, rater, TieBreaker(graph));
  ScoreCache cache(rater, sets_of(candidates));
  EXPECT_EQ(rank_best(candidates, cache).set, (DeviceSet{0, 1}));
  EXPECT_EQ(choose(graph, 2, Policy::Best).bound.devices, (DeviceSet{0, 1}));
}

TEST(RankBest, ComparesFallbacksWhereNoRingCloses) {
  Graph graph = nvlink_graph({"0100", "1000", "0001", "0010"}, 25);
  add_pcie(graph, {.gpus = 4, .p2p = P2p::Off});
  const Rater rater(graph, prefix(4), {});
  const auto candidates = candidates_of(prefix(4), 3, rater, TieBreaker(graph));
  ScoreCache cache(rater, sets_of(candidates));
  const Ranked best = rank_best(candidates, cache);
  EXPECT_EQ(best.set, rank_all(candidates, cache, Policy::Best).set);
  EXPECT_EQ(best.own.ring_GBps, 0);
  EXPECT_GT(best.own.bound_GBps, 0);
}

}  // namespace
}  // namespace busbar::topo

// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/scores.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "tests/unit/topo/choice/machines.hpp"

namespace busbar::topo {
namespace {

void expect_as_bound_of(const Graph& graph) {
  const int n = static_cast<int>(device_count(graph));
  const Rater rater(graph, prefix(n), {});
  for (std::size_t k = 1; k <= static_cast<std::size_t>(n); ++k) {
    const auto sets = all_sets(prefix(n), k);
    ScoreCache cache(rater, sets);
    for (std::size_t i = 0; i < sets.size(); ++i) {
      EXPECT_GE(cache.upper(i), (Scores{bound_of(graph, sets[i]).ring_GBps - 1e-6}));
    }
    const std::vector<Scores> scores = cache.solve_all();
    for (std::size_t i = 0; i < sets.size(); ++i) {
      const Bound bound = bound_of(graph, sets[i]);
      EXPECT_NEAR(scores[i].ring_GBps, bound.ring_GBps, 1e-6) << describe_set(sets[i]);
      EXPECT_NEAR(scores[i].bound_GBps, bound.bound_GBps, 1e-6) << describe_set(sets[i]);
    }
  }
}

TEST(ScoreCache, AgreesWithTheBoundOfEverySetOfACubeMesh) {
  expect_as_bound_of(dgx1(dgx1v_rows(), 25));
}

TEST(ScoreCache, AgreesWithTheBoundOfEverySetOfRandomMachines) {
  for (const unsigned seed : {1U, 2U}) expect_as_bound_of(random_machine(6, seed));
}

TEST(ScoreCache, TakesASlowRingOverNvlinkForARing) {
  Graph graph = nvlink_graph({"011", "101", "110"}, 0.4);
  add_pcie(graph, {.gpus = 3});
  expect_as_bound_of(graph);
}

TEST(ScoreCache, AgreesWithTheBoundOfEverySetWithoutPeerAccess) {
  expect_as_bound_of(pcie_graph({.gpus = 6, .p2p = P2p::Off}));
}

TEST(ScoreCache, AgreesWithTheBoundOfEverySetOfTwoHosts) {
  expect_as_bound_of(power_graph(2, 2, 3));
}

TEST(ScoreCache, AgreesWithTheBoundOfEverySetAtASwitch) {
  expect_as_bound_of(star_graph(5, 12, 25));
}

TEST(RingRater, GivesNothingBelowWhatWasAskedFor) {
  const Graph graph = dgx1(dgx1v_rows(), 25);
  const RingRater rater(graph, prefix(8), Level::NvLink, {});
  const std::vector<int> six = prefix(6);
  EXPECT_FALSE(rater.rate_from_GBps(six, 60));
  EXPECT_NEAR(rater.rate_from_GBps(six, 50 - 1e-3).value_or(0), 50, 1e-6);
}

TEST(JoinClasses, MakesNearScoresOne) {
  std::vector<Scores> scores{{.ring_GBps = 50, .bound_GBps = 50},
                             {.ring_GBps = 50 + 1e-9, .bound_GBps = 50 - 1e-9},
                             {.ring_GBps = 49.9, .bound_GBps = 49.9}};
  join_classes(scores);
  ASSERT_EQ(scores.size(), 3U);
  EXPECT_EQ(scores[0], scores.at(1));
  EXPECT_EQ(scores[0].ring_GBps, 50 + 1e-9);
  EXPECT_EQ(scores.at(2).ring_GBps, 49.9);
}

TEST(JoinClasses, FollowsAChainOfNearScores) {
  // Neighbours differ by 0.8 millionths, the ends by 2.4.
  std::vector<Scores> scores;
  for (const int step : {2, 0, 3, 1}) {
    const double value = 100 * (1 + 0.8e-6 * step);
    scores.push_back({.ring_GBps = value, .bound_GBps = value});
  }
  join_classes(scores);
  for (const Scores& one : scores) EXPECT_EQ(one.ring_GBps, 100 * (1 + 0.8e-6 * 3));
}

TEST(SameScore, IsAMillionthPartWide) {
  EXPECT_TRUE(same_score(100, 100.00009));
  EXPECT_FALSE(same_score(100, 100.001));
  EXPECT_TRUE(same_score(0, 0));
  EXPECT_FALSE(same_score(0, 1e-9));
  EXPECT_TRUE(same_score(INFINITY, INFINITY));
}

}  // namespace
}  // namespace busbar::topo

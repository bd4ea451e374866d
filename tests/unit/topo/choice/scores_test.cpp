// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/scores.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "tests/unit/topo/choice/machines.hpp"
#include "topo/choice/choose.hpp"

namespace busbar::topo {
namespace {

TEST(Rater, AgreesWithTheBoundOfEverySet) {
  Graph slow = nvlink_graph({"011", "101", "110"}, 0.4);  // a slow ring over NVLink is a ring
  add_pcie(slow, {.gpus = 3});
  for (const Graph& graph :
       {dgx1(dgx1v_rows(), 25), random_machine(6, 1), random_machine(6, 2), slow,
        pcie_graph({.gpus = 6, .p2p = P2p::Off}), power_graph(2, 2, 3), star_graph(5, 12, 25)}) {
    const Rater rater(graph, {});
    const RingRater first(graph, first_level(graph), {});
    for (std::size_t k = 1; k <= device_count(graph); ++k) {
      const auto sets = all_sets(device_count(graph), k);
      const std::vector<Scores> scores = rater.rate(sets, rater.groups(sets));
      for (std::size_t i = 0; i < sets.size(); ++i) {
        SCOPED_TRACE(graph.name + describe_set(sets[i]));
        const Bound bound = bound_of(graph, sets[i]);
        EXPECT_NEAR(scores[i].ring_GBps, bound.ring_GBps, 1e-6);
        EXPECT_NEAR(scores[i].bound_GBps, bound.bound_GBps, 1e-6);
        EXPECT_GE(first.upper_GBps(sets[i]), bound.ring_GBps - 1e-6);
      }
    }
  }
}

/// The best of all sets of k by rating all and without, the first of equal ones.
void expect_best(const Graph& graph, std::size_t k) {
  const Rater rater(graph, {});
  const auto sets = all_sets(device_count(graph), k);
  const auto groups = rater.groups(sets);
  const auto scores = rater.rate(sets, groups);
  const auto all = std::max_element(scores.begin(), scores.end());
  const BestSet best = rater.best(sets, groups, std::less<>());
  EXPECT_EQ(best.set, static_cast<std::size_t>(all - scores.begin()));
  EXPECT_NEAR(best.scores.ring_GBps, all->ring_GBps, 1e-4);
  EXPECT_NEAR(best.scores.bound_GBps, all->bound_GBps, 1e-4);
}

TEST(Rater, FindsTheBestWithoutRatingAll) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    for (const std::size_t k : {2U, 3U, 5U}) expect_best(random_machine(9, seed), k);
  }
  for (const std::size_t k : {2U, 3U, 5U}) expect_best(pcie_graph({.p2p = P2p::Off}), k);
  Graph open = nvlink_graph({"0100", "1000", "0001", "0010"}, 25);  // no three have a ring
  add_pcie(open, {.gpus = 4, .p2p = P2p::Off});
  expect_best(open, 3);
}

TEST(Rater, LooksOnWhereFiguresDifferByRoundingOnly) {
  // Three pairs, each a hair's breadth behind the one before: one class, of which 0,1 come first.
  Graph graph = nvlink_graph(std::vector<std::string>(6, "000000"), 25);
  for (const auto& [first, GBps] : {std::pair{2U, 25.00002}, {4U, 25.00001}, {0U, 25.0}}) {
    const int medium = add_medium(graph, {.name = std::to_string(GBps), .nominal_GBps = GBps});
    add_cable(graph, graph.devices[first], graph.devices[first + 1], medium);
  }
  expect_best(graph, 2);
  EXPECT_EQ(choose(graph, 2, Policy::Best).bound.devices, (DeviceSet{0, 1}));
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
  EXPECT_FALSE(same_score(INFINITY, 5));
}

}  // namespace
}  // namespace busbar::topo

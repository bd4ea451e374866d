// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/likeness.hpp"

#include <set>

#include <gtest/gtest.h>

#include "tests/unit/topo/choice/machines.hpp"
#include "topo/choice/rater.hpp"
#include "topo/choice/sets.hpp"

namespace busbar::topo {
namespace {

RingProblem problem_of_graph(const Graph& graph) {
  return RingRater(graph, prefix(static_cast<int>(device_count(graph))), first_level(graph), {})
      .problem();
}

TEST(GroupAlike, FindsThePairsOfACubeMesh) {
  const auto sets = all_sets(prefix(8), 2);
  const auto groups = group_alike(problem_of_graph(nvlink_graph(dgx1v_rows(), 25)), sets);
  std::multiset<std::size_t> sizes;
  for (const auto& group : groups) sizes.insert(group.size());
  EXPECT_EQ(sizes, (std::multiset<std::size_t>{8, 8, 12}));
}

TEST(GroupAlike, PutsEverySetIntoOneGroupAndTheFirstMembersInOrder) {
  const auto sets = all_sets(prefix(8), 4);
  const auto groups = group_alike(problem_of_graph(random_machine(8, 3)), sets);
  std::set<std::size_t> seen;
  std::size_t last = 0;
  for (const auto& group : groups) {
    EXPECT_GE(group.front(), last);
    last = group.front();
    seen.insert(group.begin(), group.end());
  }
  EXPECT_EQ(seen.size(), sets.size());
}

TEST(GroupAlike, NeverJoinsSetsOfDifferentBounds) {
  for (const unsigned seed : {1U, 2U, 3U}) {
    const Graph graph = random_machine(7, seed);
    for (const Level level : {Level::NvLink, Level::All}) {
      const RingRater rater(graph, prefix(7), level, {});
      const auto sets = all_sets(prefix(7), 4);
      for (const auto& group : rater.groups(sets)) {
        for (const std::size_t member : group) {
          EXPECT_NEAR(rater.rate_GBps(sets[member]), rater.rate_GBps(sets[group.front()]),
                      kTinyError * 100)
              << describe_set(sets[member]) << " seed " << seed;
        }
      }
    }
  }
}

TEST(Induced, TellsSharedLinksFromOwnOnes) {
  // Two hops at 10 each, over one link of 10 or over one each: the same to every hop alone.
  RingProblem apart{.n = 2, .capacity = {10, 10}, .hops = std::vector<Hop>(4)};
  apart.hops[1] = std::vector<Use>{{.resource = 0}};
  apart.hops[2] = std::vector<Use>{{.resource = 1}};
  RingProblem shared{.n = 2, .capacity = {10}, .hops = std::vector<Hop>(4)};
  shared.hops[1] = std::vector<Use>{{.resource = 0}};
  shared.hops[2] = std::vector<Use>{{.resource = 0}};
  const std::vector<int> both{0, 1};
  EXPECT_FALSE(Induced(apart, both).like(Induced(shared, both)));
  EXPECT_TRUE(Induced(apart, both).like(Induced(apart, both)));
}

// Six GPUs with three neighbours each: a prism, whose triangles no colour shows, and K3,3, which
// has none. Counting neighbours' neighbours tells them apart as little as the hashes do.
TEST(Induced, TellsAPrismFromSixThatAreNeighboursOfTheOtherThree) {
  const RingProblem prism = problem_of_graph(
      nvlink_graph({"011100", "101010", "110001", "100011", "010101", "001110"}, 25));
  const RingProblem crossed = problem_of_graph(
      nvlink_graph({"000111", "000111", "000111", "111000", "111000", "111000"}, 25));
  const std::vector<int> all = prefix(6);
  EXPECT_FALSE(Induced(prism, all).like(Induced(crossed, all)));
  EXPECT_EQ(Induced(prism, all).signature(), Induced(crossed, all).signature());
}

TEST(Induced, SeesOneMissingHop) {
  const RingProblem whole = problem_of_graph(nvlink_graph({"0111", "1011", "1101", "1110"}, 25));
  RingProblem less = whole;
  less.hops[1].reset();
  const std::vector<int> all = prefix(4);
  EXPECT_FALSE(Induced(whole, all).like(Induced(less, all)));
}

TEST(Induced, IsLikeItselfInAnyOrder) {
  const RingProblem problem = problem_of_graph(nvlink_graph(dgx1v_rows(), 25));
  const std::vector<int> other{5, 2, 7, 0, 4, 1, 6, 3};
  EXPECT_TRUE(Induced(problem, prefix(8)).like(Induced(problem, other)));
}

TEST(Exchange, KnowsTheTwoGpusUnderASwitch) {
  const Exchange exchange(problem_of_graph(pcie_graph({})));
  EXPECT_TRUE(exchange.unchanged_by(0, 1));
  EXPECT_TRUE(exchange.unchanged_by(6, 7));
  EXPECT_FALSE(exchange.unchanged_by(1, 2));
}

}  // namespace
}  // namespace busbar::topo

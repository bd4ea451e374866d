// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/isomorphism.hpp"

#include <set>

#include <gtest/gtest.h>

#include "tests/unit/topo/bounds/ring_cases.hpp"
#include "tests/unit/topo/choice/machines.hpp"
#include "topo/choice/scores.hpp"

namespace busbar::topo {
namespace {

RingProblem problem_of_graph(const Graph& graph) {
  return RingRater(graph, first_level(graph), {}).problem();
}

/// GPUs that are joined as the digits of each row say, all of them.
InducedSubgraph mesh(const std::vector<std::string>& rows) {
  return {problem_of_graph(nvlink_graph(rows, 25)), prefix(static_cast<int>(rows.size()))};
}

TEST(GroupIsomorphic, FindsThePairsOfACubeMesh) {
  const auto sets = all_sets(8, 2);
  const auto groups = group_isomorphic(problem_of_graph(nvlink_graph(dgx1v_rows(), 25)), sets);
  std::multiset<std::size_t> sizes;
  for (const auto& group : groups) sizes.insert(group.size());
  EXPECT_EQ(sizes, (std::multiset<std::size_t>{8, 8, 12}));
}

TEST(GroupIsomorphic, PutsEverySetIntoOneGroupAndTheFirstMembersInOrder) {
  const auto groups = group_isomorphic(problem_of_graph(random_machine(8, 3)), all_sets(8, 4));
  std::set<std::size_t> seen;
  std::size_t last = 0;
  for (const auto& group : groups) {
    EXPECT_GE(group.front(), last);
    last = group.front();
    seen.insert(group.begin(), group.end());
  }
  EXPECT_EQ(seen.size(), 70U);
}

TEST(InducedSubgraph, TellsSharedLinksFromOwnOnes) {
  // Two hops at 10 each, over one link of 10 or over one each: the same to every hop alone.
  RingProblem apart{.n = 2, .capacity = {10, 10}, .hops = {{}, taking({0}), taking({1}), {}}};
  RingProblem shared{.n = 2, .capacity = {10}, .hops = {{}, taking({0}), taking({0}), {}}};
  const std::vector<int> both{0, 1};
  EXPECT_FALSE(InducedSubgraph(apart, both).isomorphic_to(InducedSubgraph(shared, both)));
  EXPECT_TRUE(InducedSubgraph(apart, both).isomorphic_to(InducedSubgraph(apart, both)));
}

// Six GPUs with three neighbours each: a prism, whose triangles no colour shows, and K3,3, which
// has none. Counting neighbours' neighbours tells them apart as little as the hashes do.
TEST(InducedSubgraph, TellsAPrismFromSixThatAreNeighboursOfTheOtherThree) {
  const InducedSubgraph prism = mesh({"011100", "101010", "110001", "100011", "010101", "001110"});
  const InducedSubgraph crossed =
      mesh({"000111", "000111", "000111", "111000", "111000", "111000"});
  EXPECT_FALSE(prism.isomorphic_to(crossed));
  EXPECT_EQ(prism.signature(), crossed.signature());
}

TEST(InducedSubgraph, SeesOneMissingHopWhateverTheHopsTake) {
  RingProblem free{.n = 3, .hops = std::vector<Hop>(9, std::vector<Use>{})};
  for (const RingProblem& whole :
       {problem_of_graph(nvlink_graph({"011", "101", "110"}, 25)), free}) {
    RingProblem less = whole;
    less.hops[1].reset();
    const std::vector<int> all = prefix(3);
    EXPECT_FALSE(InducedSubgraph(whole, all).isomorphic_to(InducedSubgraph(less, all)));
  }
}

TEST(InducedSubgraph, IsLikeItselfInAnyOrder) {
  const RingProblem problem = problem_of_graph(nvlink_graph(dgx1v_rows(), 25));
  const std::vector<int> other{5, 2, 7, 0, 4, 1, 6, 3};
  EXPECT_TRUE(InducedSubgraph(problem, prefix(8)).isomorphic_to(InducedSubgraph(problem, other)));
}

TEST(InducedSubgraph, IsUnchangedBySwappingTheTwoGpusUnderASwitch) {
  const InducedSubgraph all(problem_of_graph(pcie_graph({})), prefix(8));
  EXPECT_TRUE(all.unchanged_by_swap(0, 1));
  EXPECT_TRUE(all.unchanged_by_swap(6, 7));
  EXPECT_FALSE(all.unchanged_by_swap(1, 2));
}

}  // namespace
}  // namespace busbar::topo

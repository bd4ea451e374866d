// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/candidates.hpp"

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

}  // namespace
}  // namespace busbar::topo

// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/ranking.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/unit/topo/choice/machines.hpp"

namespace busbar::topo {
namespace {

/// How many candidates sets of k have; they stand for all sets.
std::size_t candidates(const Graph& graph, std::size_t k) {
  std::uint64_t total = 0;
  const auto candidates = candidates_of(k, Rater(graph, {}), TieBreaker(graph));
  for (const Candidate& candidate : candidates) {
    EXPECT_EQ(candidate.set.size(), k);
    EXPECT_TRUE(std::is_sorted(candidate.set.begin(), candidate.set.end()));
    total = add_counts(total, candidate.count);
  }
  EXPECT_EQ(total, count_sets(device_count(graph), k));
  return candidates.size();
}

TEST(CandidatesOf, AreAllSetsWhereThoseAreFewAndElseClassesOfThem) {
  EXPECT_EQ(candidates(pcie_graph({}), 4), 70U);
  // Ways to write 8 as a sum of four numbers up to 6.
  EXPECT_EQ(candidates(pcie_graph({.gpus = 24, .per_switch = 6}), 8), 149U);
  Graph mixed = pcie_graph({.gpus = 24, .per_switch = 24});
  for (int i = 0; i < 24; ++i) gpu(mixed, i).numa = i % 2;
  EXPECT_EQ(candidates(mixed, 8), 9U) << "NUMA nodes stay apart";
  Graph near = star_graph(24, 12, 25);
  add_nic_at(near, {near.devices.begin(), near.devices.begin() + 12});
  EXPECT_EQ(candidates(near, 8), 9U) << "so do devices with a card";
  EXPECT_THROW((void)candidates(random_machine(24, 2), 8), Error) << "too many";
}

TEST(EqualPorts, AreThoseOfOneSwitchOnly) {
  EXPECT_EQ(equal_ports_GBps(star_graph(8, 12, 25), {}), 300);
  EXPECT_FALSE(equal_ports_GBps(nvlink_graph(dgx1v_rows(), 25), {}));
  EXPECT_FALSE(equal_ports_GBps(pcie_graph({}), {}));
  EXPECT_FALSE(equal_ports_GBps(star_graph(1, 12, 25), {}));
  Graph hurt = star_graph(8, 12, 25);
  set_links(hurt, 7, 10);
  EXPECT_FALSE(equal_ports_GBps(hurt, {}));
}

TEST(PickByTies, AgreesWithTryingAllSets) {
  Graph graph = star_graph(9, 12, 25);
  for (int i = 0; i < 9; ++i) gpu(graph, i).numa = (i * 2) % 3;
  add_nic_at(graph, {graph.devices[2], graph.devices[5], graph.devices[6], graph.devices[7]});
  const TieBreaker ties(graph);
  for (std::size_t k = 2; k <= 9; ++k) {
    const auto sets = all_sets(9, k);
    const auto before = [&](const DeviceSet& one, const DeviceSet& other) {
      return ties.of(one) < ties.of(other);
    };
    const auto after = [&](const DeviceSet& one, const DeviceSet& other) {
      return ties.of(one) > ties.of(other);
    };
    EXPECT_EQ(pick_by_ties(k, ties, false), *std::min_element(sets.begin(), sets.end(), before));
    EXPECT_EQ(pick_by_ties(k, ties, true), *std::min_element(sets.begin(), sets.end(), after));
  }
}

TEST(ReasonOf, SavesTheCountAndTheWorstWhereHundredsOfProblemsDiffer) {
  // 1287 sets of 13 devices, of which hardly two are alike.
  const Ranked best = rank(random_machine(13, 4), 5, Policy::Best, {});
  EXPECT_EQ(best.sets, 1287U);
  EXPECT_EQ(best.equal, 0U);
  EXPECT_FALSE(best.worst);
  EXPECT_EQ(rank(random_machine(13, 4), 5, Policy::Median, {}).best, best.own);
}

}  // namespace
}  // namespace busbar::topo

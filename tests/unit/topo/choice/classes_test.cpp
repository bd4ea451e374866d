// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/unit/topo/choice/machines.hpp"
#include "topo/choice/choose.hpp"
#include "topo/choice/sets.hpp"

namespace busbar::topo {
namespace {

/// Falling figures and their counts, rounded to whole GB/s.
using Counts = std::vector<std::pair<long, std::uint64_t>>;

Counts counts(const std::vector<SetClass>& classes) {
  Counts counts;
  for (const SetClass& one : classes) {
    counts.emplace_back(std::lround(one.bound.ring_GBps), one.count);
  }
  return counts;
}

TEST(ClassesOf, AreThoseOfTheSecondCubeMesh) {
  const Graph graph = dgx1(dgx1v_rows(), 25);
  EXPECT_EQ(counts(classes_of(graph, 1)), (Counts{{0, 8}}));
  EXPECT_EQ(counts(classes_of(graph, 2)), (Counts{{50, 8}, {25, 8}, {0, 12}}));
  EXPECT_EQ(counts(classes_of(graph, 3)), (Counts{{50, 8}, {0, 48}}));
  EXPECT_EQ(counts(classes_of(graph, 4)), (Counts{{100, 2}, {50, 6}, {0, 62}}));
  EXPECT_EQ(counts(classes_of(graph, 5)), (Counts{{50, 24}, {0, 32}}));
  EXPECT_EQ(counts(classes_of(graph, 6)), (Counts{{100, 4}, {50, 24}}));
  EXPECT_EQ(counts(classes_of(graph, 7)), (Counts{{100, 8}}));
  EXPECT_EQ(counts(classes_of(graph, 8)), (Counts{{150, 1}}));
}

TEST(ClassesOf, AreThoseOfTheFirstCubeMesh) {
  const Graph graph = dgx1(dgx1p_rows(), 20);
  EXPECT_EQ(counts(classes_of(graph, 2)), (Counts{{20, 16}, {0, 12}}));
  EXPECT_EQ(counts(classes_of(graph, 3)), (Counts{{40, 8}, {0, 48}}));
  EXPECT_EQ(counts(classes_of(graph, 4)), (Counts{{60, 2}, {40, 6}, {0, 62}}));
  EXPECT_EQ(counts(classes_of(graph, 5)), (Counts{{40, 24}, {0, 32}}));
  EXPECT_EQ(counts(classes_of(graph, 6)), (Counts{{60, 4}, {40, 24}}));
  EXPECT_EQ(counts(classes_of(graph, 7)), (Counts{{60, 8}}));
  EXPECT_EQ(counts(classes_of(graph, 8)), (Counts{{80, 1}}));
}

TEST(ClassesOf, SplitTheSetsWithoutARingByWhatTheyFallBackOn) {
  const Graph graph = dgx1(dgx1v_rows(), 25);
  const auto classes = classes_of(graph, 4, {.constants = ConstantSet::Nccl});
  EXPECT_TRUE(classes.front().fallback.empty());
  const auto& fallback = classes.back().fallback;
  std::uint64_t sum = 0;
  double last = INFINITY;
  for (const SetClass& one : fallback) {
    EXPECT_EQ(one.ring_GBps, 0);
    EXPECT_LT(one.bound.bound_GBps, last);
    EXPECT_EQ(one.bound.devices, one.example);
    last = one.bound.bound_GBps;
    sum += one.count;
  }
  EXPECT_GE(fallback.size(), 2U);
  EXPECT_EQ(sum, classes.back().count);
}

TEST(ClassesOf, HaveNoFallbackWhereNothingJoinsTheDevices) {
  const auto pairs = classes_of(nvlink_graph({"010", "100", "000"}, 25), 2);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_EQ(pairs.back().count, 2U);
  EXPECT_TRUE(pairs.back().fallback.empty());
}

TEST(ClassesOf, AddUpToAllSetsAndShowTheLowest) {
  for (const unsigned seed : {1U, 2U}) {
    const Graph graph = random_machine(7, seed);
    for (const int k : {2, 3, 4}) {
      std::map<long, std::pair<std::uint64_t, DeviceSet>> wanted;
      for (const DeviceSet& set : all_sets(prefix(7), static_cast<std::size_t>(k))) {
        auto& [count, example] = wanted[std::lround(bound_of(graph, set).ring_GBps * 1e4)];
        if (count++ == 0) example = set;
      }
      const auto classes = classes_of(graph, k);
      EXPECT_EQ(classes.size(), wanted.size());
      for (const SetClass& one : classes) {
        const auto& [count, example] = wanted[std::lround(one.ring_GBps * 1e4)];
        EXPECT_EQ(one.count, count);
        EXPECT_EQ(one.example, example);
      }
    }
  }
}

TEST(ClassesOf, CountASwitchedDomainWithoutTrying) {
  Graph graph = star_graph(72, 18, 50);
  for (Link& link : graph.links) {
    if (link.from == graph.devices[0] || link.to == graph.devices[0]) link.count = 9;
  }
  const auto pairs = classes_of(graph, 2);
  EXPECT_EQ(counts(pairs), (Counts{{900, 2485}, {450, 71}}));
  EXPECT_EQ(pairs.front().example, (DeviceSet{1, 2}));
  EXPECT_EQ(pairs.back().example, (DeviceSet{0, 1}));
  EXPECT_EQ(classes_of(graph, 36).front().count, kManySets);
  EXPECT_EQ(counts(classes_of(graph, 72)), (Counts{{450, 1}}));
}

TEST(ClassesOf, ShowTheLowestSetOfEachClassOfASwitch) {
  Graph graph = star_graph(4, 6, 25);
  for (Link& link : graph.links) {  // GPU1 has half of the links
    if (link.from == graph.devices[1] || link.to == graph.devices[1]) link.count = 3;
  }
  const std::vector<SetClass> pairs = classes_of(graph, 2);
  ASSERT_EQ(pairs.size(), 2U);
  EXPECT_NEAR(pairs[0].ring_GBps, 150, 1e-9);
  EXPECT_EQ(pairs[0].example, (DeviceSet{0, 2}));
  EXPECT_EQ(pairs[0].count, 3U);
  EXPECT_NEAR(pairs[1].ring_GBps, 75, 1e-9);
  EXPECT_EQ(pairs[1].example, (DeviceSet{0, 1}));
  EXPECT_EQ(pairs[1].count, 3U);
}

TEST(ClassesOf, AreTheSameInAnyOrderOfDevices) {
  const Graph graph = random_machine(8, 9);
  const Graph other = permuted(graph, {3, 1, 4, 0, 5, 7, 2, 6});
  for (const int k : {2, 4}) EXPECT_EQ(counts(classes_of(graph, k)), counts(classes_of(other, k)));
}

TEST(ClassesOf, RefuseMoreThanThereAre) {
  EXPECT_THROW((void)classes_of(star_graph(4, 1, 25), 5), Error);
  EXPECT_THROW((void)classes_of(star_graph(4, 1, 25), 0), Error);
}

}  // namespace
}  // namespace busbar::topo

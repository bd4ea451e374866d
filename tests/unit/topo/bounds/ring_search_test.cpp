// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/ring_search.hpp"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "tests/unit/topo/bounds/ring_cases.hpp"

namespace busbar::topo {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

std::vector<double> random_costs(int n, double density, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> part(0, 1);
  std::vector<double> cost(static_cast<std::size_t>(n * n));
  for (double& one : cost) one = part(engine) < density ? part(engine) : kNever;
  return cost;
}

double cost_of(const std::vector<double>& cost, const std::vector<int>& order) {
  double sum = 0;
  for (std::size_t k = 0; k < order.size(); ++k) {
    sum += cost[static_cast<std::size_t>(order[k]) * order.size() +
                static_cast<std::size_t>(order[(k + 1) % order.size()])];
  }
  return sum;
}

double brute_force(const std::vector<double>& cost, int n) {
  double least = kNever;
  for (const auto& order : all_rings(n)) least = std::min(least, cost_of(cost, order));
  return least;
}

TEST(HeldKarp, FindsTheCheapestOfAllRings) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const int n = 2 + static_cast<int>(seed % 7);
    const auto cost = random_costs(n, 0.6, seed);
    HeldKarp search(n);
    const auto& rings = search.cheapest(cost);
    const double least = brute_force(cost, n);
    ASSERT_EQ(rings.empty(), std::isinf(least)) << seed;
    if (rings.empty()) continue;
    EXPECT_NEAR(rings.front().cost, least, 1e-12) << seed;
  }
}

TEST(HeldKarp, ReturnsRingsThatCostWhatTheySay) {
  for (const int n : {3, 8, 9, 10, 12}) {
    const auto cost = random_costs(n, 0.7, static_cast<unsigned>(n));
    HeldKarp search(n);
    double before = 0;
    for (const PricedRing& ring : search.cheapest(cost)) {
      EXPECT_EQ(ring.order.front(), 0);
      auto sorted = ring.order;
      std::sort(sorted.begin(), sorted.end());
      for (int k = 0; k < n; ++k) EXPECT_EQ(sorted[static_cast<std::size_t>(k)], k);
      EXPECT_NEAR(ring.cost, cost_of(cost, ring.order), 1e-12);
      EXPECT_GE(ring.cost, before);
      before = ring.cost;
    }
    EXPECT_GT(before, 0);
  }
}

TEST(HeldKarp, ForgetsTheSearchBefore) {
  HeldKarp search(6);
  const auto cheap = random_costs(6, 1, 1);
  const auto broken = std::vector<double>(36, kNever);
  const double first = search.cheapest(cheap).front().cost;
  EXPECT_TRUE(search.cheapest(broken).empty());
  EXPECT_EQ(search.cheapest(cheap).front().cost, first);
}

TEST(HeldKarp, KnowsTheRingOfSixteen) {
  std::vector<double> cost(256, 1);
  for (std::size_t k = 0; k < 16; ++k) cost[k * 16 + (k + 5) % 16] = 0.5;  // 5 and 16 are coprime
  HeldKarp search(16);
  EXPECT_DOUBLE_EQ(search.cheapest(cost).front().cost, 8);
  EXPECT_EQ(search.cheapest(cost).front().order[1], 5);
}

TEST(SearchRings, ComesNearTheCheapest) {
  int hits = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> part(0, 1);
    std::vector<double> cost(100);
    for (double& one : cost) one = part(engine) < 0.9 ? part(engine) : kNever;
    HeldKarp proof(10);
    const double least = proof.cheapest(cost).front().cost;
    const auto rings = search_rings(cost, 10, 10);
    ASSERT_FALSE(rings.empty());
    EXPECT_GE(rings.front().cost, least - 1e-12);
    hits += rings.front().cost < least * 1.1 ? 1 : 0;
  }
  EXPECT_GE(hits, 10);
}

TEST(SearchRings, LeavesAbsentHopsOut) {
  std::vector<double> cost(36, kNever);
  for (std::size_t k = 0; k < 6; ++k) cost[k * 6 + (k + 1) % 6] = 1;
  const auto rings = search_rings(cost, 6, 6);
  ASSERT_EQ(rings.size(), 1U);
  EXPECT_EQ(rings.front().order, (std::vector<int>{0, 1, 2, 3, 4, 5}));
  cost[1] = kNever;
  EXPECT_TRUE(search_rings(cost, 6, 6).empty());
}

TEST(SearchRings, TakesNoAbsentHopThoughAllOthersAreFree) {
  std::vector<double> cost(9, kNever);
  cost[1] = 0;      // 0 to 1
  cost[3 + 2] = 0;  // 1 to 2, and no way back
  EXPECT_TRUE(search_rings(cost, 3, 3).empty());
}

TEST(SearchRings, FollowsTheCheapestHopFromWhereItIs) {
  std::vector<double> cost(31 * 31, 1);
  for (std::size_t k = 0; k < 31; ++k) cost[k * 31 + (k + 3) % 31] = 0.1;  // one ring: 31 is prime
  EXPECT_NEAR(search_rings(cost, 31, 1).front().cost, 3.1, 1e-9);
}

TEST(SearchRings, KeepsClustersTogether) {
  // Eight hosts of four: hops between hosts cost, so a good ring has eight of them.
  std::vector<double> cost(32 * 32);
  for (std::size_t i = 0; i < 32; ++i) {
    for (std::size_t j = 0; j < 32; ++j) cost[i * 32 + j] = i / 4 == j / 4 ? 0.01 : 1;
  }
  EXPECT_NEAR(search_rings(cost, 32, 4).front().cost, 8 + 24 * 0.01, 1e-9);
}

}  // namespace
}  // namespace busbar::topo

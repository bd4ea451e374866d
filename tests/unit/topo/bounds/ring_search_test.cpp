// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/ring_search.hpp"

#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace busbar::topo {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

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

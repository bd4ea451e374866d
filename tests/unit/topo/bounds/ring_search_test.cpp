// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/ring_search.hpp"

#include "tests/unit/topo/bounds/ring_cases.hpp"

namespace busbar::topo {
namespace {

/// Costs of n x n hops.
template <class Cost>
std::vector<double> costs(std::size_t n, const Cost& of_hop) {
  std::vector<double> costs;
  for (std::size_t k = 0; k < n * n; ++k) costs.push_back(of_hop(k / n, k % n));
  return costs;
}

/// Hops `step` further, which make one ring where n and step are coprime, cost less than others.
std::vector<double> one_ring(std::size_t n, std::size_t step, double own, double other) {
  return costs(
      n, [&](std::size_t from, std::size_t to) { return to == (from + step) % n ? own : other; });
}

// What it finds for fewer, packing_test compares with all rings.
TEST(HeldKarp, KnowsTheRingOfSixteen) {
  HeldKarp search(16);
  const PricedRing ring = search.cheapest(one_ring(16, 5, 0.5, 1)).front();
  EXPECT_DOUBLE_EQ(ring.cost, 8);
  EXPECT_EQ(ring.order[1], 5);
}

TEST(SearchRings, ComesNearTheCheapest) {
  int hits = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 engine(seed);
    std::uniform_real_distribution<double> part(0, 1);
    const auto cost = costs(10, [&](std::size_t, std::size_t) {
      return part(engine) < 0.9 ? part(engine) : kInfinity;
    });
    HeldKarp proof(10);
    const double least = proof.cheapest(cost).front().cost;
    const auto rings = search_rings(cost, 10, 10);
    ASSERT_FALSE(rings.empty());
    EXPECT_GE(rings.front().cost, least - 1e-12);
    hits += rings.front().cost < least * 1.1 ? 1 : 0;
  }
  EXPECT_GE(hits, 10);
}

TEST(SearchRings, FollowsTheCheapestHopAndKeepsClustersTogether) {
  EXPECT_NEAR(search_rings(one_ring(31, 3, 0.1, 1), 31, 1).front().cost, 3.1, 1e-9);
  // Eight hosts of four: hops between hosts cost, so a good ring has eight of them.
  const auto hosts =
      costs(32, [](std::size_t i, std::size_t j) { return i / 4 == j / 4 ? 0.01 : 1; });
  EXPECT_NEAR(search_rings(hosts, 32, 4).front().cost, 8 + 24 * 0.01, 1e-9);
}

TEST(QuickUpper, IsNeverBelowThePacking) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const int n = 2 + static_cast<int>(seed % 6);
    const RingProblem problem = random_problem(n, static_cast<int>(seed % 4), 0.8, seed);
    EXPECT_GE(quick_upper(problem) * (1 + 1e-9), pack_rings(problem).value) << seed;
  }
}

void expect_upper(const DeviceUpper& upper, double GBps, const std::vector<int>& resources) {
  EXPECT_DOUBLE_EQ(upper.value, GBps);
  EXPECT_EQ(upper.resources, resources);
}

TEST(QuickUpper, IsTheLeastOfAllThatLeavesAndReaches) {
  // What reaches 2 is 7 + 8; nothing else is as narrow.
  EXPECT_DOUBLE_EQ(quick_upper(complete(3, {50, 7, 50, 8, 50, 50})), 15);
}

TEST(QuickUpper, CountsAWidePortAsItsHopsCanUseIt) {
  // A port of 100 leads to hops of 10 and 20, the second of which takes 40 twice.
  RingProblem problem{.n = 3, .capacity = {100, 10, 40, 500}};
  problem.hops = {{},          taking({0, 1}), taking({0, 2}), taking({3}), {},
                  taking({3}), taking({3}),    taking({3}),    {}};
  problem.hops[2]->back().times = 2;
  expect_upper(device_upper(problem, 0, true), 30, {1, 2});
}

TEST(QuickUpper, NamesTheLinkAtTheDeviceOfEquallyNarrowOnes) {
  RingProblem problem{.n = 3, .capacity = {10, 10, 90}};
  problem.hops = {{}, taking({2}), taking({0, 1}), taking({2}), {}, {}, taking({1, 0}), {}, {}};
  for (const bool leaving : {false, true}) expect_upper(device_upper(problem, 2, leaving), 10, {1});
}

}  // namespace
}  // namespace busbar::topo

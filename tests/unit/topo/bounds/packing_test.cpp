// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/packing.hpp"

#include <cmath>

#include "tests/unit/topo/bounds/ring_cases.hpp"

namespace busbar::topo {
namespace {

constexpr double kRelative = 1e-8;

/// Rates within capacities, prices that no ring undercuts, and the same sum: an optimum by duality,
/// whoever found it.
void expect_certificate(const RingProblem& problem, const RingPacking& packing) {
  ASSERT_TRUE(packing.exact);
  EXPECT_DOUBLE_EQ(packing.upper, packing.value);
  std::vector<double> load(problem.capacity.size(), 0);
  double rates = 0;
  for (const PackedRing& ring : packing.rings) {
    EXPECT_GT(ring.rate, 0);
    EXPECT_EQ(ring.order.front(), 0);
    const auto times = takings(problem, ring.order);
    ASSERT_EQ(times.size(), load.size());
    for (std::size_t k = 0; k < load.size(); ++k) load[k] += ring.rate * times[k];
    rates += ring.rate;
  }
  EXPECT_NEAR(rates, packing.value, kRelative * packing.value);
  double worth = 0;
  ASSERT_EQ(packing.dual.size(), load.size());
  for (std::size_t k = 0; k < load.size(); ++k) {
    EXPECT_LE(load[k], problem.capacity[k] * (1 + kRelative));
    EXPECT_GE(packing.dual[k], 0);
    worth += packing.dual[k] * problem.capacity[k];
  }
  EXPECT_NEAR(worth, packing.value, kRelative * packing.value);
  if (packing.value == 0) return;
  for (const auto& order : all_rings(problem.n)) {
    const auto times = takings(problem, order);
    if (times.empty()) continue;
    double price = 0;
    for (std::size_t k = 0; k < times.size(); ++k) price += times[k] * packing.dual[k];
    EXPECT_GE(price, 1 - kRelative);
  }
}

TEST(PackRings, ProvesItsOptimum) {
  int positive = 0;
  for (unsigned seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(seed);
    const int n = 2 + static_cast<int>(seed % 6);
    const RingProblem problem = random_problem(n, static_cast<int>(seed % 4), 0.75, seed);
    const RingPacking packing = pack_rings(problem);
    expect_certificate(problem, packing);
    positive += packing.value > 0 ? 1 : 0;
  }
  EXPECT_GT(positive, 50) << "graphs without rings prove little";
}

TEST(PackRings, SplitsLinksWhereWholeRingsCannot) {
  // Tillson: four devices have no two plus one edge-disjoint rings, yet fractions use every link.
  for (const int n : {3, 4, 5, 6, 7, 8, 9, 16}) {  // of up to 16 devices the bound is exact
    const RingPacking packing = pack_rings(complete(n, 20));
    EXPECT_NEAR(packing.value, 20 * (n - 1), 1e-9) << n;
    EXPECT_TRUE(packing.exact);
  }
}

TEST(PackRings, GivesZeroWhereNoRingClosesAlsoBeyondSixteen) {
  RingProblem chain = complete(4, 10);
  for (const std::size_t hop : {3U, 7U, 12U, 13U}) chain.hops[hop].reset();  // 3 has only 2
  RingProblem broken = complete(18, 10);
  for (std::size_t k = 0; k < 18; ++k) broken.hops[5 * 18 + k].reset();  // no way out of 5
  for (const RingProblem& problem : {chain, broken}) {
    const RingPacking packing = pack_rings(problem);
    EXPECT_EQ(packing.value, 0);
    EXPECT_EQ(packing.upper, 0);
    EXPECT_TRUE(packing.exact);
    EXPECT_TRUE(packing.rings.empty());
  }
}

TEST(PackRings, IsInfiniteWhereNothingLimits) {
  for (const int n : {2, 3}) {
    RingProblem free = complete(n, 1);
    for (Hop& hop : free.hops) {
      if (hop) hop->clear();
    }
    EXPECT_TRUE(std::isinf(pack_rings(free).value)) << n;
  }
}

TEST(PackRings, IsExactBeyondSixteenWhereThePortOfADeviceIsUsedUp) {
  RingProblem narrow = complete(20, 10);
  for (std::size_t k = 0; k < 20; ++k) {  // all that leaves 3 shares a port
    if (narrow.hops[3 * 20 + k]) narrow.hops[3 * 20 + k] = taking({0});
  }
  const RingPacking met = pack_rings(narrow);
  EXPECT_TRUE(met.exact);
  EXPECT_NEAR(met.value, 10, 1e-9);
}

TEST(PackRings, GivesAnIntervalBeyondSixteenUnlessTheCallerKnowsABound) {
  RingProblem halves = complete(20, 10);  // all from one half to the other shares a cable
  const int cable = static_cast<int>(halves.capacity.size());
  halves.capacity.push_back(12.5);
  for (int k = 0; k < 400; ++k) {
    if (k / 20 < 10 && k % 20 >= 10) halves.hops[to_size(k)] = taking({cable});
  }
  const RingPacking alone = pack_rings(halves);
  EXPECT_FALSE(alone.exact);
  EXPECT_NEAR(alone.value, 12.5, 1e-9);
  EXPECT_GT(alone.upper, 12.5);
  const RingPacking told = pack_rings(halves, 12.5);
  EXPECT_TRUE(told.exact);
  EXPECT_NEAR(told.value, 12.5, 1e-9);
}

}  // namespace
}  // namespace busbar::topo

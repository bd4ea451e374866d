// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/ring_problem.hpp"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "tests/unit/topo/bounds/ring_cases.hpp"
#include "topo/bounds/packing.hpp"

namespace busbar::topo {
namespace {

TEST(QuickUpper, IsNeverBelowThePacking) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const int n = 2 + static_cast<int>(seed % 6);
    const RingProblem problem = random_problem(n, static_cast<int>(seed % 4), 0.8, seed);
    EXPECT_GE(quick_upper(problem) * (1 + 1e-9), pack_rings(problem).value) << seed;
  }
}

TEST(QuickUpper, SeesADeviceWithoutAWayOut) {
  RingProblem problem = random_problem(5, 0, 1, 1);
  EXPECT_GT(quick_upper(problem), 0);
  for (std::size_t to = 0; to < 5; ++to) problem.hops[2 * 5 + to].reset();
  EXPECT_EQ(quick_upper(problem), 0);
  EXPECT_EQ(leaving_upper(problem, 2).value, 0);
  EXPECT_GT(reaching_upper(problem, 2).value, 0);
}

TEST(QuickUpper, CountsASharedPortOnce) {
  RingProblem problem{.n = 3, .capacity = {10, 100, 100, 100, 100}};
  problem.hops = {{}, taking({0, 1}), taking({0, 2}), taking({3, 1}),
                  {}, taking({3, 2}), taking({4, 1}), taking({4, 2}),
                  {}};
  EXPECT_DOUBLE_EQ(leaving_upper(problem, 0).value, 10);
  EXPECT_DOUBLE_EQ(leaving_upper(problem, 1).value, 100);
  EXPECT_EQ(leaving_upper(problem, 0).resources, (std::vector<int>{0, 0})) << "one for each hop";
  EXPECT_DOUBLE_EQ(quick_upper(problem), 10);
}

TEST(QuickUpper, IsTheLeastOfAllThatLeavesAndReaches) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    const RingProblem problem = random_problem(5, 2, 1, seed);
    double least = INFINITY;
    for (int device = 0; device < 5; ++device) {
      least = std::min(
          {least, leaving_upper(problem, device).value, reaching_upper(problem, device).value});
    }
    EXPECT_DOUBLE_EQ(quick_upper(problem), least) << seed;
  }
  // What reaches 2 is 7 + 8; nothing else is as narrow.
  RingProblem problem{.n = 3, .capacity = {50, 7, 50, 8, 50, 50}};
  problem.hops = {{},          taking({0}), taking({1}), taking({2}), {},
                  taking({3}), taking({4}), taking({5}), {}};
  EXPECT_DOUBLE_EQ(quick_upper(problem), 15);
}

TEST(QuickUpper, CountsAWidePortAsItsHopsCanUseIt) {
  // A port of 100 leads to hops of 10 and 20, the second of which takes 40 twice.
  RingProblem problem{.n = 3, .capacity = {100, 10, 40, 500}};
  problem.hops = {{},          taking({0, 1}), taking({0, 2}), taking({3}), {},
                  taking({3}), taking({3}),    taking({3}),    {}};
  problem.hops[2]->back().times = 2;
  const DeviceUpper upper = leaving_upper(problem, 0);
  EXPECT_DOUBLE_EQ(upper.value, 30);
  EXPECT_EQ(upper.resources, (std::vector<int>{1, 2}));
}

TEST(QuickUpper, NamesTheLinkAtTheDeviceOfEquallyNarrowOnes) {
  RingProblem problem{.n = 3, .capacity = {10, 10, 90}};
  problem.hops = {{}, taking({2}), taking({0, 1}), taking({2}), {}, {}, taking({1, 0}), {}, {}};
  EXPECT_EQ(reaching_upper(problem, 2).resources, std::vector<int>{1});
  EXPECT_EQ(leaving_upper(problem, 2).resources, std::vector<int>{1});
}

TEST(QuickUpper, IsInfiniteWithoutLimits) {
  RingProblem problem{.n = 2, .hops = {{}, std::vector<Use>{}, std::vector<Use>{}, {}}};
  EXPECT_TRUE(std::isinf(quick_upper(problem)));
  EXPECT_EQ(quick_upper({.n = 1, .hops = {{}}}), 0);
}

}  // namespace
}  // namespace busbar::topo

// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/quick_upper.hpp"

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

TEST(QuickUpper, IsInfiniteWithoutLimits) {
  RingProblem problem{.n = 2, .hops = {{}, std::vector<Use>{}, std::vector<Use>{}, {}}};
  EXPECT_TRUE(std::isinf(quick_upper(problem)));
  EXPECT_EQ(quick_upper({.n = 1, .hops = {{}}}), 0);
}

}  // namespace
}  // namespace busbar::topo

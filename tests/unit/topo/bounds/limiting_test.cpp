// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/limiting.hpp"

#include <gtest/gtest.h>

#include "tests/unit/topo/bounds/ring_cases.hpp"

namespace busbar::topo {
namespace {

RingProblem three_with(const std::vector<double>& capacity) {
  RingProblem problem{.n = 3, .capacity = capacity};
  for (int k = 0; k < 9; ++k) {
    problem.hops.push_back(k % 4 == 0 ? Hop{}
                                      : taking({k < 3   ? k - 1
                                                : k < 6 ? (k - 3) / 2 + 2
                                                        : k - 2}));
  }
  return problem;
}

TEST(Limiting, NamesEachResourceThatAloneProves) {
  RingProblem problem = three_with({50, 50, 50, 50, 50, 50, 10, 10});
  for (const std::size_t hop : {1U, 2U}) problem.hops[hop]->push_back({.resource = 6});  // out of 0
  for (const std::size_t hop : {3U, 6U}) problem.hops[hop]->push_back({.resource = 7});  // into 0
  const Limiting limit = limiting(problem, pack_rings(problem));
  EXPECT_EQ(limit.resources, (std::vector<int>{6, 7}));
  EXPECT_TRUE(limit.devices.empty());
}

TEST(Limiting, CountsHowOftenEveryRingTakesAResource) {
  RingProblem problem = three_with({50, 50, 50, 50, 50, 50, 30});
  for (std::size_t hop = 1; hop < 8; ++hop) {
    if (hop != 4) problem.hops[hop]->push_back({.resource = 6});  // thrice in each ring
  }
  const RingPacking packing = pack_rings(problem);
  EXPECT_NEAR(packing.value, 10, 1e-9);
  EXPECT_EQ(limiting(problem, packing).resources, std::vector<int>{6});
}

TEST(Limiting, CountsWhatReachesADeviceWhereMoreReachesThanLeaves) {
  // 6 and 7 are taken twice by what reaches 0 and once by 1 to 2. Each ring takes them at least
  // twice, since one hop reaches 0; of what leaves only 1 needs them, once. The ring 0, 1, 2 takes
  // them three times and 0, 2, 1 twice, so half of 30 is the bound, and each alone proves it.
  RingProblem problem = three_with({50, 50, 50, 50, 50, 50, 30, 30});
  for (const int resource : {6, 7}) {
    for (const std::size_t hop : {3U, 6U}) {
      problem.hops[hop]->push_back({.resource = resource, .times = 2});
    }
    problem.hops[5]->push_back({.resource = resource});
  }
  RingProblem turned = problem;  // the same with every hop the other way
  for (std::size_t k = 0; k < 9; ++k) turned.hops[k] = problem.hops[k % 3 * 3 + k / 3];
  for (const RingProblem& one : {problem, turned}) {
    const RingPacking packing = pack_rings(one);
    EXPECT_NEAR(packing.value, 15, 1e-9);
    EXPECT_EQ(limiting(one, packing).resources, (std::vector<int>{6, 7}));
  }
}

TEST(Limiting, NamesDevicesWhoseHopsProveTogether) {
  const RingProblem problem = three_with({10, 10, 30, 30, 30, 30});  // 0 sends 20, all else 60
  const Limiting limit = limiting(problem, pack_rings(problem));
  EXPECT_EQ(limit.devices, std::vector<int>{0});
  EXPECT_EQ(limit.resources, (std::vector<int>{0, 1}));
}

TEST(Limiting, IsAProofInEveryRandomCase) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    const RingProblem problem = random_problem(5, 2, 0.9, seed);
    const RingPacking packing = pack_rings(problem);
    const Limiting limit = limiting(problem, packing);
    ASSERT_FALSE(limit.resources.empty()) << seed;
    // Widening all that is named must widen the packing: else something else limits it.
    RingProblem wider = problem;
    for (const int resource : limit.resources) {
      wider.capacity[static_cast<std::size_t>(resource)] *= 2;
    }
    RingProblem narrower = problem;
    for (const int resource : limit.resources) {
      narrower.capacity[static_cast<std::size_t>(resource)] *= 0.9;
    }
    EXPECT_LT(pack_rings(narrower).value, packing.value * (1 - 1e-6)) << seed;
    EXPECT_GE(pack_rings(wider).value, packing.value * (1 - 1e-9)) << seed;
  }
}

}  // namespace
}  // namespace busbar::topo

// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include "tests/unit/support/recorded_launches.hpp"

namespace busbar::test {
namespace {

constexpr std::size_t kPairs = 60;
constexpr double kThreshold = study::kThresholdPercent / 100;

class SameCommandTwice : public testing::TestWithParam<std::size_t> {};

TEST_P(SameCommandTwice, IsCalledFasterOrSlowerInFivePercentOfRowsAtMost) {
  const Launches launches = recorded_launches();
  ASSERT_EQ(launches.size(), 48U);
  for (const Grouping groups_of : {drawn_at_random, in_turns}) {
    const VerdictRates rates =
        verdict_rates(launches, GetParam(), kPairs, groups_of, 1, kThreshold);
    EXPECT_LE(rates.faster + rates.slower, 0.05);
  }
}
INSTANTIATE_TEST_SUITE_P(Launches, SameCommandTwice, testing::Values(1, 2, 4, 8));

TEST(FivePercentSlower, IsFoundInFourOfFiveRowsWhereLaunchesDifferByOnePercent) {
  const VerdictRates rates = verdict_rates(with_noise(recorded_launches(), 0.01), 8, kPairs,
                                           drawn_at_random, 1.05, kThreshold);
  EXPECT_GE(rates.slower, 0.8);
  EXPECT_EQ(rates.faster, 0);
}

}  // namespace
}  // namespace busbar::test

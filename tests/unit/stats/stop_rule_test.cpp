// SPDX-License-Identifier: BSD-3-Clause
#include "stats/stop_rule.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/stats/series.hpp"

namespace busbar::stats {
namespace {

std::vector<double> spread(std::size_t count, double by) {
  std::mt19937_64 random = test::fixed_random(1);
  return test::series(random, count, 1, by);
}

TEST(StopReason, IsSpelledAsInTheCsv) {
  EXPECT_EQ(name(StopReason::None), "");
  EXPECT_EQ(name(StopReason::CiWidth), "ci-width");
  EXPECT_EQ(name(StopReason::MaxSamples), "max-samples");
  EXPECT_EQ(name(StopReason::TimeBudget), "time-budget");
  EXPECT_EQ(name(StopReason::Count), "count");
  EXPECT_EQ(name(StopReason::Visits), "visits");
}

TEST(ShareOf, DividesSamplesAndTimeAndWidensWhatAllVisitsTogetherNarrow) {
  const StopLimits share = share_of({.ci_width = 0.02, .time_budget_s = 3}, 6);
  EXPECT_EQ(share.min_samples, 17U);  // of 2 * 50
  EXPECT_EQ(share.max_samples, 84U);  // of 500
  EXPECT_DOUBLE_EQ(share.time_budget_s, 0.5);
  EXPECT_NEAR(share.ci_width, 0.04899, 1e-5);
  EXPECT_EQ(share_of({}, 5).min_samples, 20U);
  EXPECT_EQ(share_of({}, 9).min_samples, 12U);
}

TEST(DecideVisits, EndsARowThatIsNarrowAfterThreeQuartersOrHasSpentItsBudgetOrAllVisits) {
  const auto decide = [](std::size_t visits, double by, double spent_s) {
    const std::vector<std::vector<double>> taken(visits, spread(20, by));
    return decide_visits(taken, 8, {.ci_width = 0.02, .time_budget_s = 3}, spent_s);
  };
  EXPECT_EQ(decide(5, 0.001, 0), StopReason::None);
  EXPECT_EQ(decide(6, 0.001, 0), StopReason::CiWidth);
  EXPECT_EQ(decide(7, 2, 2.9), StopReason::None);
  EXPECT_EQ(decide(8, 2, 0), StopReason::Visits);
  EXPECT_EQ(decide(1, 2, 3), StopReason::TimeBudget);
  EXPECT_EQ(decide(3, 2, 3), StopReason::None);  // an interval needs 4
  EXPECT_EQ(decide(4, 2, 3), StopReason::TimeBudget);
  EXPECT_EQ(decide(0, 2, 3), StopReason::None);
}

// Equal samples are independent and their interval has no width: ten of them are the fewest.
TEST(StopRule, StopsAtExactlyItsWidthAndItsFewestIndependentSamples) {
  StopRule rule(StopLimits{.ci_width = 0, .min_samples = 9});
  EXPECT_EQ(rule.decide(std::vector<double>(9, 7.0), 0), StopReason::None);
  StopRule next(StopLimits{.ci_width = 0, .min_samples = 10});
  EXPECT_EQ(next.decide(std::vector<double>(10, 7.0), 0), StopReason::CiWidth);
}

}  // namespace
}  // namespace busbar::stats

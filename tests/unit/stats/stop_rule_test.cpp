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
std::vector<double> wide(std::size_t count) { return spread(count, 2.0); }
std::vector<double> quiet(std::size_t count) { return spread(count, 0.001); }

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

TEST(StopRule, StopsAQuietSeriesAtTheFirstLookUnlessItsWidthIsTooLarge) {
  StopRule rule(StopLimits{});
  EXPECT_EQ(rule.decide(quiet(49), 0), StopReason::None);
  EXPECT_EQ(rule.decide(quiet(50), 0), StopReason::CiWidth);
  EXPECT_EQ(StopRule(StopLimits{}).decide(quiet(50), 99), StopReason::CiWidth);  // not the budget
  EXPECT_EQ(StopRule(StopLimits{.ci_width = 0.0001}).decide(quiet(50), 0), StopReason::None);
}

TEST(StopRule, LooksOnlyOnAGeometricSchedule) {
  StopRule rule(StopLimits{});
  EXPECT_EQ(rule.decide(wide(50), 0), StopReason::None);
  EXPECT_EQ(rule.decide(quiet(74), 0), StopReason::None);
  EXPECT_EQ(rule.decide(quiet(75), 0), StopReason::CiWidth);
}

TEST(StopRule, CountsTheSamplesUntilTheNextLook) {
  StopRule rule(StopLimits{});
  EXPECT_EQ(rule.until_next_look(0), 50U);
  EXPECT_EQ(rule.until_next_look(49), 1U);
  std::vector<std::size_t> looks;
  for (std::size_t count = 50; count < 500; count += rule.until_next_look(count)) {
    ASSERT_EQ(rule.decide(wide(count), 0), StopReason::None);
    looks.push_back(count);
  }
  EXPECT_EQ(looks, (std::vector<std::size_t>{50, 75, 113, 170, 255, 383}));
}

TEST(StopRule, CountsTheScheduleFromTheSamplesOfTheLastLook) {
  StopRule rule(StopLimits{});
  EXPECT_EQ(rule.decide(wide(60), 0), StopReason::None);
  EXPECT_EQ(rule.until_next_look(60), 30U);
  EXPECT_EQ(rule.until_next_look(100), 1U);
}

TEST(StopRule, MindsTheTimeBudgetBetweenLooks) {
  StopRule rule(StopLimits{.time_budget_s = 3.0});
  EXPECT_EQ(rule.decide(wide(3), 2.9), StopReason::None);
  EXPECT_EQ(rule.decide(wide(4), 3.0), StopReason::TimeBudget);
}

// Equal samples are independent and their interval has no width: ten of them are the fewest.
TEST(StopRule, StopsAtExactlyItsWidthAndItsFewestIndependentSamples) {
  StopRule rule(StopLimits{.ci_width = 0, .min_samples = 9});
  EXPECT_EQ(rule.decide(std::vector<double>(9, 7.0), 0), StopReason::None);
  StopRule next(StopLimits{.ci_width = 0, .min_samples = 10});
  EXPECT_EQ(next.decide(std::vector<double>(10, 7.0), 0), StopReason::CiWidth);
}

TEST(StopRule, WantsTenIndependentSamples) {
  std::mt19937_64 random = test::fixed_random(1);
  const std::vector<double> samples = test::series(random, 100, 19, 0.0001);
  StopRule rule(StopLimits{});
  EXPECT_EQ(rule.decide(samples, 0), StopReason::None);
}

}  // namespace
}  // namespace busbar::stats

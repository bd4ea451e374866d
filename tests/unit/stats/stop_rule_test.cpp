// SPDX-License-Identifier: BSD-3-Clause
#include "stats/stop_rule.hpp"

#include <numeric>

#include "stats/autocorrelation.hpp"
#include "tests/unit/stats/series.hpp"

namespace busbar::stats {
namespace {

std::vector<double> spread(std::size_t count, double by) {
  std::mt19937_64 random = test::fixed_random(1);
  return test::series(random, count, 1, by);
}

TEST(StopReason, IsSpelledAsInTheCsv) {
  EXPECT_EQ(join_each(all_values<StopReason>(), " ", [](StopReason each) { return name(each); }),
            " ci-width max-samples time-budget count visits duration interrupted");
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
  for (const std::size_t fewest : {9U, 10U}) {
    StopRule rule(StopLimits{.ci_width = 0, .min_samples = fewest});
    const StopReason reason = rule.decide(std::vector<double>(fewest, 7.0), 0);
    EXPECT_EQ(reason, fewest == 10 ? StopReason::CiWidth : StopReason::None);
  }
}

using Window = std::vector<double>;

/// Share of `repetitions` series flagged; they rise by `drift` in total, at a spread of 5 %.
double flagged(std::size_t count, double iact, double drift, int repetitions = 400) {
  std::mt19937_64 random = test::fixed_random(1);
  int hits = 0;
  for (int i = 0; i < repetitions; ++i) {
    Window samples = test::series(random, count, iact, 0.05);
    for (std::size_t k = 0; k < count; ++k) {
      samples[k] += drift * static_cast<double>(k) / static_cast<double>(count);
    }
    if (is_drifting(samples)) ++hits;
  }
  return static_cast<double>(hits) / repetitions;
}

// references_test.cpp has other windows.
TEST(SteadyState, IsNotReachedAtExactlyItsToleranceNorWithoutSamples) {
  EXPECT_FALSE(is_steady(Window{100}, Window{150}, 0.5));
  EXPECT_TRUE(is_steady(Window{100}, Window{149}, 0.5));
  EXPECT_FALSE(is_steady(Window{}, Window{}));
  EXPECT_FALSE(is_steady(Window{1}, Window{}));
  EXPECT_FALSE(is_steady(Window{}, Window{1}));
}

TEST(Drift, IsSeenInASeriesOfTenSamplesThatOnlyRisesOrOnlyFalls) {
  for (const std::size_t count : {50U, 10U, 9U}) {
    Window samples(count);
    std::iota(samples.begin(), samples.end(), 1.0);
    EXPECT_EQ(is_drifting(samples), count >= 10) << count;
    std::reverse(samples.begin(), samples.end());
    EXPECT_EQ(is_drifting(samples), count >= 10) << count;
  }
  EXPECT_FALSE(is_drifting(Window(50, 1.0)));
}

/// Spearman's formula for distinct values, 1 - 6 sum d^2 / (n (n^2 - 1)), by Fisher's
/// transformation in standard deviations; what the ranks are beside their line gives the number of
/// independent ones.
double score(const Window& samples) {
  const auto n = static_cast<double>(samples.size());
  std::vector<double> ranks;
  for (const double sample : samples) {
    ranks.push_back(static_cast<double>(std::count_if(
        samples.begin(), samples.end(), [&](double other) { return other < sample; })));
  }
  double squares = 0;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    squares += std::pow(ranks[i] - static_cast<double>(i), 2);
  }
  const double correlation = 1 - 6 * squares / (n * (n * n - 1));
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    ranks[i] -= (n - 1) / 2 + correlation * (static_cast<double>(i) - (n - 1) / 2);
  }
  const double independent = n / integrated_autocorrelation_time(ranks);
  return std::atanh(std::abs(correlation)) * std::sqrt(std::max(independent - 3, 0.0));
}

TEST(Drift, IsWhereTheScoreOfTheTrendIsAboveFour) {
  std::mt19937_64 random = test::fixed_random(7);
  std::normal_distribution<double> noise(0, 1);
  int near = 0;
  for (int series = 0; series < 20000; ++series) {
    Window samples(10 + static_cast<std::size_t>(series % 3));
    for (std::size_t i = 0; i < samples.size(); ++i) {
      samples[i] = static_cast<double>(i) + noise(random);
    }
    const double expected = score(samples);
    if (!(std::abs(expected - 4) > 1e-6)) continue;
    EXPECT_EQ(is_drifting(samples), expected > 4) << expected;
    if (std::abs(expected - 4) < 0.1) ++near;
  }
  EXPECT_GT(near, 100);
}

TEST(Drift, OfTwiceTheSpreadIsSeenButRarelyWhereThereIsOnlyCorrelation) {
  EXPECT_GT(flagged(500, 1, 0.1), 0.99);
  EXPECT_GT(flagged(500, 1, -0.1), 0.99);
  EXPECT_GT(flagged(500, 3, 0.1), 0.98);
  EXPECT_LT(flagged(50, 1, 0), 0.005);
  EXPECT_LT(flagged(500, 1, 0), 0.005);
  EXPECT_LT(flagged(500, 19, 0), 0.01);
  EXPECT_LT(flagged(500, 66, 0), 0.02);
  EXPECT_LT(flagged(50, 66, 0), 0.1);
}

}  // namespace
}  // namespace busbar::stats

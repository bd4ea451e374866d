// SPDX-License-Identifier: BSD-3-Clause
#include "stats/timeline.hpp"

#include "stats/histogram.hpp"
#include "stats/time_histogram.hpp"
#include "tests/unit/stats/series.hpp"

namespace busbar::stats {
namespace {

TEST(Timeline, MergesNeighboursWhereARunIsLong) {
  Timeline timeline;
  for (int i = 1; i <= 4096; ++i) {
    const std::array rates{1.0 * i, 3.0 * i};
    timeline.add({.at_s = 1.0 * i, .median_us = 10.0 * i, .p99_us = 20.0 * i}, rates);
  }
  EXPECT_EQ(timeline.points().size(), 2048U);
  EXPECT_EQ(timeline.points()[0].at_s, 2);
  EXPECT_EQ(timeline.points()[0].median_us, 15);
  EXPECT_EQ(timeline.points()[0].p99_us, 40);
  timeline.add({.at_s = 4097, .median_us = 1, .p99_us = 1}, {});
  EXPECT_EQ(timeline.points().size(), 2048U);
  timeline.add({.at_s = 4098, .median_us = 3, .p99_us = 1}, {});
  EXPECT_EQ(timeline.points().back().median_us, 2);
  EXPECT_EQ(timeline.rates().size(), 8192U);
  EXPECT_EQ(timeline.part_s(), 0.1);
}

TEST(Timeline, HasABoundedNumberOfRates) {
  Timeline timeline;
  timeline.add({}, std::vector<double>(Timeline::kMostRates, 5));
  EXPECT_EQ(timeline.rates().size(), Timeline::kMostRates / 2);
  EXPECT_EQ(timeline.part_s(), 0.2);
}

TEST(ErrorRates, AreBelowThreeByTheNumberThatWasChecked) {
  EXPECT_DOUBLE_EQ(highest_error_rate(1), 0.95);
  EXPECT_NEAR(highest_error_rate(2), 0.7763932, 1e-7);
  EXPECT_NEAR(highest_error_rate(2.1e12), 1.426539e-12, 1e-18);
  EXPECT_EQ(highest_error_rate(0), 1);
}

TimeHistogram histogram_of_times(std::initializer_list<double> times) {
  TimeHistogram histogram;
  for (const double time : times) histogram.add(time);
  return histogram;
}

TEST(TimeHistogram, KnowsCountMeanAndExtremesExactly) {
  EXPECT_FALSE(TimeHistogram{}.summary());
  const auto summary = histogram_of_times({10.3, 2.5, 700.125, 10.2}).summary();
  EXPECT_EQ(summary->count, 4U);
  EXPECT_DOUBLE_EQ(summary->mean, 180.78125);
  EXPECT_EQ(std::pair(summary->min, summary->max), std::pair(2.5, 700.125));
}

// Between 8 and 16 a bin is 8 / 256 = 0.03125 wide.
TEST(TimeHistogram, AnswersWithTheMiddleOfABinWithinTheExtremes) {
  const auto histogram = histogram_of_times({10.0, 10.01, 10.04, 10.05, 11.0});
  EXPECT_DOUBLE_EQ(histogram.quantile(0.4), 10.015625);
  EXPECT_DOUBLE_EQ(histogram.quantile(0.8), 10.046875);
  EXPECT_EQ(histogram.quantile(1), 11);
  EXPECT_EQ(histogram_of_times({10.01}).quantile(0.5), 10.01);
}

TEST(TimeHistogram, HasQuantilesWithinItsErrorFromNanosecondsToHours) {
  std::mt19937_64 random = test::fixed_random(1);
  for (const double typical : {0.01, 3.0, 250.0, 8e5, 3e9}) {
    std::vector<double> times = test::series(random, 20000, 1, 0.5);
    TimeHistogram histogram;
    for (double& time : times) histogram.add(time *= typical);
    std::ranges::sort(times);
    for (const std::size_t percent : {1U, 25U, 50U, 90U, 99U}) {
      const double exact = times[percent * times.size() / 100 - 1];
      EXPECT_NEAR(histogram.quantile(static_cast<double>(percent) / 100) / exact, 1,
                  TimeHistogram::kRelativeError);
    }
  }
}

TEST(TimeHistogram, PutsWhatIsOutsideItsRangeIntoTheOutermostBins) {
  const auto histogram = histogram_of_times({0.0, 1e-7, 5.0, 1e12});
  EXPECT_EQ(histogram.count(), 4U);
  EXPECT_EQ(histogram.quantile(0), 0.0009784698486328125);
  EXPECT_EQ(histogram.quantile(1), 17163091968.0);
  EXPECT_EQ(histogram.summary()->max, 1e12);
}

TEST(TimeHistogram, MergesAndForgets) {
  TimeHistogram first;
  TimeHistogram second;
  for (int i = 0; i < 100; ++i) (i < 40 ? first : second).add(1 + i);
  first.merge(second);
  EXPECT_EQ(first.count(), 100U);
  EXPECT_EQ(first.sum(), 5050);
  EXPECT_NEAR(first.quantile(0.5), 50, 50 * TimeHistogram::kRelativeError);
  EXPECT_EQ(first.summary()->max, 100);
  first.clear();
  EXPECT_EQ(first.count(), 0U);
  first.add(3);
  EXPECT_EQ(first.summary()->max, 3);
}

TEST(TimeHistogram, BoundsAQuantileOnlyWhereThereAreEnough) {
  TimeHistogram histogram;
  for (int i = 1; i <= 3687; ++i) histogram.add(i);
  EXPECT_FALSE(histogram.quantile_interval(0.999));
  histogram.add(3688);
  const auto interval = histogram.quantile_interval(0.999);
  EXPECT_NEAR(interval->low, 3680, 8);
  EXPECT_EQ(interval->high, 3688);
}

// log 4 is exactly twice log 2: the slowest of 101 values takes half of the axis, and no more. At
// 3.9 it takes less than half, though more than half of what is above 1.1.
TEST(Histogram, ShowsTheSlowestHundredthThatTakesJustHalfOfTheAxis) {
  std::vector<double> values(50, 1.0);
  values.insert(values.end(), 49, 1.1);
  values.insert(values.end(), {2, 4});
  EXPECT_EQ(log_histogram(values).beyond, 0U);
  values.back() = 3.9;
  EXPECT_EQ(log_histogram(values).beyond, 0U);
  values.back() = 4.1;
  EXPECT_EQ(log_histogram(values).beyond, 1U);
}

TEST(Histogram, HasABoundedNumberOfBins) {
  std::vector<double> values(60, 5.0);
  for (int i = 1; i <= 40; ++i) values.push_back(5.0 + i);
  EXPECT_EQ(log_histogram(values).share.size(), 100U);  // the shortest half is 0 wide
}

TEST(Histogram, IsOneBinOfEqualValuesAndNothingOfImpossibleOnes) {
  const Histogram equal = log_histogram(std::vector<double>(40, 7.0));
  EXPECT_EQ(equal.share, std::vector<double>{1});
  EXPECT_LT(equal.edges.front(), 7);
  EXPECT_GT(equal.edges.back(), 7);
  EXPECT_NEAR(equal.edges.front() + equal.edges.back(), 14, 1e-12);  // 7 is in the middle
  EXPECT_TRUE(log_histogram({}).edges.empty());
  EXPECT_TRUE(log_histogram(std::vector<double>{1, 0}).edges.empty());
  EXPECT_TRUE(
      log_histogram(std::vector<double>{1, std::numeric_limits<double>::infinity()}).edges.empty());
}

}  // namespace
}  // namespace busbar::stats

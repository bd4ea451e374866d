// SPDX-License-Identifier: BSD-3-Clause
#include "stats/time_histogram.hpp"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/stats/series.hpp"

namespace busbar::stats {
namespace {

TEST(TimeHistogram, KnowsCountMeanAndExtremesExactly) {
  TimeHistogram histogram;
  EXPECT_FALSE(histogram.summary());
  for (const double time : {10.3, 2.5, 700.125, 10.2}) histogram.add(time);
  const auto summary = histogram.summary();
  EXPECT_EQ(summary->count, 4U);
  EXPECT_DOUBLE_EQ(summary->mean, 180.78125);
  EXPECT_EQ(summary->min, 2.5);
  EXPECT_EQ(summary->max, 700.125);
}

// Between 8 and 16 a bin is 8 / 256 = 0.03125 wide.
TEST(TimeHistogram, AnswersWithTheMiddleOfABinWithinTheExtremes) {
  TimeHistogram histogram;
  for (const double time : {10.0, 10.01, 10.04, 10.05, 11.0}) histogram.add(time);
  EXPECT_DOUBLE_EQ(histogram.quantile(0.4), 10.015625);
  EXPECT_DOUBLE_EQ(histogram.quantile(0.8), 10.046875);
  EXPECT_EQ(histogram.quantile(1), 11);
  TimeHistogram one;
  one.add(10.01);
  EXPECT_EQ(one.quantile(0.5), 10.01);
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
  TimeHistogram histogram;
  for (const double time : {0.0, 1e-7, 5.0, 1e12}) histogram.add(time);
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
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->low, 3680, 8);
  EXPECT_EQ(interval->high, 3688);
}

}  // namespace
}  // namespace busbar::stats

// SPDX-License-Identifier: BSD-3-Clause
#include "stats/summary.hpp"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace busbar::stats {
namespace {

constexpr std::array<double, 10> kTen{7, 1, 10, 4, 2, 9, 5, 3, 8, 6};

TEST(Median, IsTheMiddleSampleOrTheMeanOfTheTwoMiddleOnes) {
  EXPECT_EQ(median(std::vector<double>{9, 1, 5}), 5);
  EXPECT_EQ(median(kTen), 5.5);
  EXPECT_EQ(median(std::vector<double>{3}), 3);
}

TEST(Percentile, TakesTheNearestRankNotRaisedByRounding) {
  EXPECT_EQ(percentile(kTen, 90), 9);
  EXPECT_EQ(percentile(kTen, 91), 10);
  EXPECT_EQ(percentile(kTen, 99), 10);
  EXPECT_EQ(percentile(kTen, 25), 3);
  EXPECT_EQ(percentile(kTen, 0), 1);
  EXPECT_EQ(percentile(kTen, 100), 10);
  std::vector<double> samples(1000);
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = static_cast<double>(i + 1);
  EXPECT_EQ(percentile(samples, 99), 990);
  EXPECT_EQ(percentile(samples, 7), 70);
  EXPECT_EQ(percentile(samples, 99.9), 999);
}

TEST(Summary, HoldsEveryStatisticAndIsNoneOfNoSamples) {
  EXPECT_FALSE(summarize(std::vector<double>{}).has_value());
  const auto summary = summarize(std::vector<double>{4, 1, 2, 100});
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->count, 4U);
  EXPECT_DOUBLE_EQ(summary->mean, 26.75);
  EXPECT_EQ(summary->min, 1);
  EXPECT_EQ(summary->median, 3);
  EXPECT_EQ(summary->p90, 100);
  EXPECT_EQ(summary->p99, 100);
  EXPECT_EQ(summary->max, 100);
}

TEST(Summary, HasTheDeviationOfItsSamplesAsAWholePopulation) {
  const auto deviation = [](const std::vector<double>& of) { return summarize(of)->deviation; };
  EXPECT_DOUBLE_EQ(deviation({2, 4, 4, 4, 5, 5, 7, 9}), 2);  // a sample's would be 2.138
  EXPECT_EQ(deviation({3}), 0);
  EXPECT_EQ(deviation(std::vector<double>(100, 0.5)), 0);
}

}  // namespace
}  // namespace busbar::stats

// SPDX-License-Identifier: BSD-3-Clause
#include "stats/median_interval.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace busbar::stats {
namespace {

using Pair = std::pair<std::size_t, std::size_t>;

Pair ranks_of(std::size_t count, double iact = 1, double stretch = 1) {
  const auto ranks = median_ranks(count, iact, stretch);
  return ranks ? Pair{ranks->low, ranks->high} : Pair{};
}

// The 95 % ranks of P(x_(j) <= M <= x_(k)) = sum over i = j .. k-1 of C(n, i) / 2^n.
TEST(MedianRanks, AreTheExactBinomialRanksForIndependentSamples) {
  for (const auto& [count, low, high] : {std::array<std::size_t, 3>{6, 1, 6},
                                         {8, 1, 8},
                                         {10, 2, 9},
                                         {15, 4, 12},
                                         {20, 6, 15},
                                         {30, 10, 21},
                                         {50, 18, 33},
                                         {100, 40, 61},
                                         {200, 86, 115},
                                         {500, 228, 273},
                                         {1000, 469, 532},
                                         {1000000, 499020, 500981}}) {
    EXPECT_EQ(ranks_of(count), (Pair{low, high})) << count;
  }
  for (std::size_t count = 0; count <= 5; ++count) EXPECT_FALSE(median_ranks(count)) << count;
  EXPECT_EQ(ranks_of(50, 0.5), (Pair{18, 33}));  // a time below one is one
}

TEST(MedianRanks, SpreadWithTheAutocorrelationTimeAndTheStretchUpToTheExtremes) {
  // 500 samples of time 5 are worth 100, whose ranks lie 10.5 from the middle; 250.5 -+ 52.5.
  EXPECT_EQ(ranks_of(500, 5), (Pair{198, 303}));
  EXPECT_EQ(ranks_of(600, 100), (Pair{51, 550}));
  EXPECT_EQ(ranks_of(100, 1, 2), (Pair{30, 71}));
  EXPECT_EQ(ranks_of(100, 1, 100), (Pair{1, 100}));
}

/// 1, n, 2, n - 1, ...: it alternates about its middle, and so has autocorrelation time 1.
std::vector<double> alternating(std::size_t count) {
  std::vector<double> samples;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t step = i / 2;
    samples.push_back(static_cast<double>(i % 2 == 0 ? step + 1 : count - step));
  }
  return samples;
}

void expect_interval(const std::vector<double>& samples, double low, double high) {
  const auto interval = median_interval(samples);
  ASSERT_TRUE(interval);
  EXPECT_EQ(interval->low, low);
  EXPECT_EQ(interval->high, high);
  EXPECT_EQ(interval->iact, 1);
}

// Student with n / 2 degrees of freedom, not the normal: n = 20, t = 2.228, 4.5 ranks become 5.1;
// n = 50, t = 2.060, 7.5 become 7.9 and the nearest ranks are still the textbook's.
TEST(MedianInterval, IsWiderThanTheTextbookOnlyWhereTheSamplesAreFew) {
  expect_interval(alternating(6), 1, 6);
  expect_interval(alternating(20), 5, 16);
  expect_interval(alternating(50), 18, 33);
  EXPECT_DOUBLE_EQ(median_interval(alternating(50))->half_width, 7.5 / 25.5);
}

// 40 blocks of 500 samples that differ little. SciPy 1.10: with rankdata for the ranks and
// correlate for their correlations the time is 1179.3702, of 16 independent samples binom.cdf gives
// rank 4, and t.ppf(0.975, 8.4791) / norm.ppf(0.975) = 1.16508 stretches 8.5 - 4 of them: from
// 10000.5 to rank 3446.9. By three terms of the expansion it is 1.16492, and the rank 3447.8.
TEST(MedianInterval, IsStretchedAsStudentsQuantileIsOverTheNormalOne) {
  std::vector<double> samples;
  for (int i = 0; i < 20000; ++i) samples.push_back(i / 500 * 7 % 40 + i * 7919 % 500 / 1000.0);
  const auto interval = median_interval(samples);
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->iact, 1179.3702, 1e-3);
  const auto below = std::count_if(samples.begin(), samples.end(),
                                   [&](double sample) { return sample <= interval->low; });
  EXPECT_EQ(below, 3448);
}

TEST(MedianInterval, HasNoAnswerForFiveSamplesOrASeriesThatOnlyRises) {
  EXPECT_FALSE(median_interval(alternating(5)));
  EXPECT_FALSE(median_interval(std::vector<double>{}));
  std::vector<double> samples(500);
  std::iota(samples.begin(), samples.end(), 1.0);
  EXPECT_FALSE(median_interval(samples));
}

TEST(MedianInterval, HasAHalfWidthRelativeToTheSizeOfTheMedian) {
  std::vector<double> negative = alternating(50);
  std::vector<double> about_zero = negative;
  for (double& sample : negative) sample = -sample;
  for (double& sample : about_zero) sample -= 25.5;
  EXPECT_DOUBLE_EQ(median_interval(negative)->half_width, 7.5 / 25.5);
  EXPECT_EQ(median_interval(about_zero)->half_width, std::numeric_limits<double>::infinity());
  EXPECT_EQ(median_interval(std::vector<double>(50, 0.0))->half_width, 0);
}

/// Visits that alternate by 1 about these levels.
std::vector<std::vector<double>> visits_at(const std::vector<double>& levels) {
  std::vector<std::vector<double>> visits;
  for (const double level : levels) {
    visits.push_back({level - 0.5, level + 0.5, level - 0.5, level + 0.5});
  }
  return visits;
}

// Medians 96, 100, 100, 104 about 100: deviation 3.266, t(3) = 3.182, so 5.196 on each side; the
// expansion of t is 0.7 % short. Of the samples' own 16 the interval is from 95.5 at the most.
TEST(RunInterval, IsTheWiderOfThatOfAllSamplesAndStudentsOfTheVisitsMedians) {
  const auto interval = run_interval(visits_at({96, 100, 100, 104}));
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->high, 105.196, 0.04);
  EXPECT_EQ(interval->low, 95.5);  // no sample is lower
  EXPECT_NEAR(interval->half_width, (105.196 - 95.5) / 200, 2e-4);

  std::vector<std::vector<double>> equal(4, alternating(24));
  const auto pooled = median_interval(all_samples(equal));
  const auto wide = run_interval(equal);
  ASSERT_TRUE(pooled && wide);
  EXPECT_EQ(wide->low, pooled->low);
  EXPECT_EQ(wide->high, pooled->high);
  EXPECT_EQ(wide->half_width, pooled->half_width);
}

TEST(RunInterval, NeedsFourVisitsOfWhichOneSampleEachIsEnough) {
  EXPECT_FALSE(run_interval(visits_at({96, 100, 104})));
  const auto interval = run_interval(std::vector<std::vector<double>>{{96}, {100}, {104}, {100}});
  ASSERT_TRUE(interval);
  EXPECT_NEAR(interval->high, 105.196, 0.04);
  EXPECT_EQ(interval->low, 96);
}

}  // namespace
}  // namespace busbar::stats

// SPDX-License-Identifier: BSD-3-Clause
#include "stats/median_interval.hpp"

#include "stats/autocorrelation.hpp"
#include "stats/summary.hpp"
#include "tests/unit/stats/series.hpp"

namespace busbar::stats {
namespace {

/// 1, n, 2, n - 1, ...: it alternates about its middle, and so has autocorrelation time 1.
std::vector<double> alternating(std::size_t count) {
  std::vector<double> samples;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t step = i / 2;
    samples.push_back(static_cast<double>(i % 2 == 0 ? step + 1 : count - step));
  }
  return samples;
}

// 40 blocks of 500 samples that differ little. SciPy 1.10: with rankdata for the ranks and
// correlate for their correlations the time is 1179.3702, of 16 independent samples binom.cdf gives
// rank 4, and t.ppf(0.975, 8.4791) / norm.ppf(0.975) = 1.16508 stretches 8.5 - 4 of them: from
// 10000.5 to rank 3446.9. By three terms of the expansion it is 1.16492, and the rank 3447.8.
TEST(MedianInterval, IsStretchedAsStudentsQuantileIsOverTheNormalOne) {
  std::vector<double> samples;
  for (int i = 0; i < 20000; ++i) samples.push_back(i / 500 * 7 % 40 + i * 7919 % 500 / 1000.0);
  const auto interval = median_interval(samples);
  EXPECT_NEAR(interval->iact, 1179.3702, 1e-3);
  const auto below = std::count_if(samples.begin(), samples.end(),
                                   [&](double sample) { return sample <= interval->low; });
  EXPECT_EQ(below, 3448);
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
  EXPECT_NEAR(interval->high, 105.196, 0.04);
  EXPECT_EQ(interval->low, 95.5);  // no sample is lower
  EXPECT_NEAR(interval->half_width, (105.196 - 95.5) / 200, 2e-4);

  const std::vector<std::vector<double>> equal(4, alternating(24));
  const auto pooled = *median_interval(all_samples(equal));
  const auto wide = *run_interval(equal);
  EXPECT_EQ(std::tuple(wide.low, wide.high, wide.half_width),
            std::tuple(pooled.low, pooled.high, pooled.half_width));
}

TEST(RunInterval, NeedsFourVisitsOfWhichOneSampleEachIsEnough) {
  EXPECT_FALSE(run_interval(visits_at({96, 100, 104})));
  const auto interval = run_interval(std::vector<std::vector<double>>{{96}, {100}, {104}, {100}});
  EXPECT_NEAR(interval->high, 105.196, 0.04);
  EXPECT_EQ(interval->low, 96);
}

TEST(QuantileRanks, AreTheExactBinomialOnes) {
  EXPECT_EQ(quantile_ranks(6, 0.5), (RankPair{.low = 1, .high = 6}));
  EXPECT_EQ(quantile_ranks(100, 0.5), (RankPair{.low = 40, .high = 61}));
  EXPECT_EQ(quantile_ranks(100, 0.9), (RankPair{.low = 84, .high = 96}));
  EXPECT_EQ(quantile_ranks(3688, 0.999), (RankPair{.low = 3680, .high = 3688}));
  EXPECT_EQ(quantile_ranks(1000000, 0.999), (RankPair{.low = 998938, .high = 999062}));
  EXPECT_FALSE(quantile_ranks(0, 0.5));
  EXPECT_FALSE(quantile_ranks(5, 0.5));
  EXPECT_FALSE(quantile_ranks(3687, 0.999));
}

// Of samples, references_test.cpp compares every statistic.
TEST(Summary, IsNoneOfNoSamples) { EXPECT_FALSE(summarize(std::vector<double>{}).has_value()); }

TEST(AutocorrelationTime, SeesCorrelationThatSkipsANeighbour) {
  std::mt19937_64 random = test::fixed_random(5);
  const std::vector<double> odd = test::series(random, 10000, 19, 0.05);
  const std::vector<double> even = test::series(random, 10000, 19, 0.05);
  std::vector<double> interleaved;
  for (std::size_t i = 0; i < odd.size(); ++i) {
    interleaved.insert(interleaved.end(), {odd[i], even[i]});
  }
  EXPECT_NEAR(integrated_autocorrelation_time(interleaved), 19, 4);
}

}  // namespace
}  // namespace busbar::stats

// SPDX-License-Identifier: BSD-3-Clause
//
// Does the 95 % interval contain the true median in 95 % of the rows? Simulated with the real stop
// rule on log-normal AR(1) series; an interval that is withheld is neither a hit nor a miss, but
// counted.
#include <algorithm>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "stats/median_interval.hpp"
#include "stats/stop_rule.hpp"
#include "tests/unit/stats/series.hpp"

namespace busbar::stats {
namespace {

constexpr double kTrueMedian = 1;

struct Case {
  double iact = 1;
  double spread = 0.05;
  double noise = 0;
  StopLimits limits = {};
  int rows = 2000;
};

struct Outcome {
  double coverage = 0;  ///< of the rows with an interval
  double mean_samples = 0;
  double withheld = 0;       ///< share of rows without an interval
  double stopped_early = 0;  ///< share of rows that reached the target width
  double naive = 0;          ///< coverage of the same samples' interval with iact forced to 1
};

std::vector<double> measure_row(std::mt19937_64& random, const Case& c, StopReason& reason) {
  test::Series source(random, c.iact, c.spread, c.noise);
  StopRule rule(c.limits);
  std::vector<double> samples;
  do {
    source.extend(samples, samples.size() + rule.until_next_look(samples.size()));
    reason = rule.decide(samples, 0);
  } while (reason == StopReason::None);
  return samples;
}

bool naive_covers(std::vector<double> samples) {
  const RankPair ranks = median_ranks(samples.size()).value_or(RankPair{1, samples.size()});
  std::sort(samples.begin(), samples.end());
  return samples[ranks.low - 1] <= kTrueMedian && kTrueMedian <= samples[ranks.high - 1];
}

Outcome simulate(const Case& c) {
  std::mt19937_64 random = test::fixed_random(20240711);
  double hits = 0;
  double answers = 0;
  Outcome sums;
  for (int row = 0; row < c.rows; ++row) {
    StopReason reason = StopReason::None;
    const std::vector<double> samples = measure_row(random, c, reason);
    sums.mean_samples += static_cast<double>(samples.size());
    sums.stopped_early += reason == StopReason::CiWidth ? 1 : 0;
    sums.naive += naive_covers(samples) ? 1 : 0;
    if (const auto interval = median_interval(samples)) {
      answers += 1;
      hits += interval->low <= kTrueMedian && kTrueMedian <= interval->high ? 1 : 0;
    }
  }
  const double rows = c.rows;
  return {.coverage = hits / answers,
          .mean_samples = sums.mean_samples / rows,
          .withheld = 1 - answers / rows,
          .stopped_early = sums.stopped_early / rows,
          .naive = sums.naive / rows};
}

Outcome show(const char* regime, const Case& c) {
  const Outcome outcome = simulate(c);
  std::printf(
      "%-22s time %3.0f: coverage %.3f, n %7.1f, withheld %.3f, width met %.3f, naive %.3f\n",
      regime, c.iact, outcome.coverage, outcome.mean_samples, outcome.withheld,
      outcome.stopped_early, outcome.naive);
  return outcome;
}

class Coverage : public testing::TestWithParam<double> {};

TEST_P(Coverage, IsAtLeast93PercentAtOnePercentWidth) {
  const int rows = GetParam() > 10 ? 300 : 1000;
  const Outcome outcome =
      show("1 %", {.iact = GetParam(),
                   .limits = {.ci_width = 0.01, .min_samples = 50, .max_samples = 1000000},
                   .rows = rows});
  EXPECT_GE(outcome.coverage, 0.93);
  EXPECT_EQ(outcome.withheld, 0);
}

TEST_P(Coverage, IsAtLeast93PercentAtTwoPercentWidthOr500Samples) {
  const Outcome outcome = show("2 % or 500 samples", {.iact = GetParam(), .rows = 2000});
  EXPECT_GE(outcome.coverage, 0.93);
  EXPECT_LE(outcome.withheld, GetParam() > 50 ? 0.35 : 0.01);
}

// A spread so small that the first interval is narrow enough: all rests on the estimated time.
TEST_P(Coverage, IsAtLeast93PercentForAQuietSeriesThatStopsAtItsFirstInterval) {
  const Outcome outcome = show("quiet", {.iact = GetParam(), .spread = 0.001, .rows = 2000});
  EXPECT_GE(outcome.coverage, 0.93);
}

INSTANTIATE_TEST_SUITE_P(AutocorrelationTime, Coverage, testing::Values(1, 3, 19, 66),
                         [](const testing::TestParamInfo<double>& time) {
                           return std::to_string(static_cast<int>(time.param));
                         });

/// The rule of every other tool: stop when the interval of independent samples is narrow.
double coverage_of_the_naive_rule(double iact) {
  std::mt19937_64 random = test::fixed_random(20240711);
  constexpr int kRows = 2000;
  int hits = 0;
  for (int row = 0; row < kRows; ++row) {
    test::Series source(random, iact, 0.05);
    std::vector<double> samples;
    for (std::size_t count = 50;; count += count / 2) {
      source.extend(samples, count);
      std::vector<double> sorted = samples;
      std::sort(sorted.begin(), sorted.end());
      const RankPair ranks = median_ranks(count).value_or(RankPair{1, count});
      const double low = sorted[ranks.low - 1];
      const double high = sorted[ranks.high - 1];
      if ((high - low) / 2 > 0.01) continue;
      hits += low <= kTrueMedian && kTrueMedian <= high ? 1 : 0;
      break;
    }
  }
  return static_cast<double>(hits) / kRows;
}

TEST(NaiveRule, CoversOnlyIndependentSamples) {
  EXPECT_GE(coverage_of_the_naive_rule(1), 0.93);
  EXPECT_LT(coverage_of_the_naive_rule(3), 0.88);
  EXPECT_LT(coverage_of_the_naive_rule(19), 0.5);
  EXPECT_LT(coverage_of_the_naive_rule(66), 0.3);
}

// The known limit: slow waves under as much white noise. Lag 1 says little, 50 samples see no wave.
TEST(CoverageLimit, SlowWavesUnderWhiteNoiseAreCoveredInPartOnly) {
  const Outcome outcome = show("2 %, half noise", {.iact = 19, .noise = 0.5, .rows = 2000});
  EXPECT_GE(outcome.coverage, 0.85);
  EXPECT_LT(outcome.coverage, 0.95) << "the estimate has become better: state it in the docs";
}

}  // namespace
}  // namespace busbar::stats

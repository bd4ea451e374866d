// SPDX-License-Identifier: BSD-3-Clause
//
// Does the 95 % interval contain the true median in 95 % of the rows? Simulated with the real stop
// rule on log-normal AR(1) series; an interval that is withheld is neither a hit nor a miss, but
// counted.
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
    if (const auto interval = median_interval(samples)) {
      answers += 1;
      hits += interval->low <= kTrueMedian && kTrueMedian <= interval->high ? 1 : 0;
    }
  }
  const double rows = c.rows;
  return {.coverage = hits / answers,
          .mean_samples = sums.mean_samples / rows,
          .withheld = 1 - answers / rows,
          .stopped_early = sums.stopped_early / rows};
}

Outcome show(const char* regime, const Case& c) {
  const Outcome outcome = simulate(c);
  std::printf("%-22s time %3.0f: coverage %.3f, n %7.1f, withheld %.3f, width met %.3f\n", regime,
              c.iact, outcome.coverage, outcome.mean_samples, outcome.withheld,
              outcome.stopped_early);
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

// The known limit: slow waves under as much white noise. Lag 1 says little, 50 samples see no wave.
TEST(CoverageLimit, SlowWavesUnderWhiteNoiseAreCoveredInPartOnly) {
  const Outcome outcome = show("2 %, half noise", {.iact = 19, .noise = 0.5, .rows = 2000});
  EXPECT_GE(outcome.coverage, 0.85);
  EXPECT_LT(outcome.coverage, 0.95) << "the estimate has become better: state it in the docs";
}

}  // namespace
}  // namespace busbar::stats

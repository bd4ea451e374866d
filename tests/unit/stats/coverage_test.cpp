// SPDX-License-Identifier: BSD-3-Clause
//
// Does the 95 % interval contain the true median in 95 % of the rows? Simulated with the real stop
// rule on log-normal AR(1) series; an interval that is withheld is neither a hit nor a miss, but
// counted.
#include <numbers>

#include "tests/unit/stats/series.hpp"
#include "tests/unit/support/captures.hpp"
#include "tests/unit/support/recorded_series.hpp"

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
  double withheld = 0;  ///< share of rows without an interval
};

std::vector<double> measure_row(std::mt19937_64& random, const Case& c) {
  test::Series source(random, c.iact, c.spread, c.noise);
  StopRule rule(c.limits);
  std::vector<double> samples;
  do {
    source.extend(samples, samples.size() + rule.until_next_look(samples.size()));
  } while (rule.decide(samples, 0) == StopReason::None);
  return samples;
}

Outcome simulate(const Case& c) {
  std::mt19937_64 random = test::fixed_random(20240711);
  double hits = 0;
  double answers = 0;
  for (int row = 0; row < c.rows; ++row) {
    if (const auto interval = median_interval(measure_row(random, c))) {
      answers += 1;
      hits += interval->low <= kTrueMedian && kTrueMedian <= interval->high ? 1 : 0;
    }
  }
  return {.coverage = hits / answers, .withheld = 1 - answers / c.rows};
}

class LongCoverage : public testing::TestWithParam<double> {};

TEST_P(LongCoverage, IsAtLeast93PercentAtOnePercentWidth) {
  const Outcome outcome =
      simulate({.iact = GetParam(),
                .limits = {.ci_width = 0.01, .min_samples = 50, .max_samples = 1000000},
                .rows = GetParam() > 10 ? 300 : 1000});
  EXPECT_GE(outcome.coverage, 0.93);
  EXPECT_EQ(outcome.withheld, 0);
}

TEST_P(LongCoverage, IsAtLeast93PercentAtTwoPercentWidthOr500Samples) {
  const Outcome outcome = simulate({.iact = GetParam()});
  EXPECT_GE(outcome.coverage, 0.93);
  EXPECT_LE(outcome.withheld, GetParam() > 50 ? 0.35 : 0.01);
}

// A spread so small that the first interval is narrow enough: all rests on the estimated time.
TEST_P(LongCoverage, IsAtLeast93PercentForAQuietSeriesThatStopsAtItsFirstInterval) {
  EXPECT_GE(simulate({.iact = GetParam(), .spread = 0.001}).coverage, 0.93);
}

INSTANTIATE_TEST_SUITE_P(AutocorrelationTime, LongCoverage, testing::Values(1, 3, 19, 66),
                         [](const testing::TestParamInfo<double>& time) {
                           return std::to_string(static_cast<int>(time.param));
                         });

// The known limit: slow waves under as much white noise. Lag 1 says little, 50 samples see no wave.
TEST(CoverageLimit, SlowWavesUnderWhiteNoiseAreCoveredInPartOnly) {
  const double coverage = simulate({.iact = 19, .noise = 0.5}).coverage;
  EXPECT_GE(coverage, 0.85);
  EXPECT_LT(coverage, 0.95) << "the estimate has become better: state it in the docs";
}

//
// Does the interval of a run's visits contain the median of the whole run? On series that wander as
// real machines do, and on recorded ones.
constexpr std::size_t kLength = 5000;
constexpr double kSpread = 0.02;  // of neighbouring samples

using Level = double (*)(std::mt19937_64& random, std::size_t place, double& state);

double uniform(std::mt19937_64& random) { return std::uniform_real_distribution<double>{}(random); }

/// Part of the way through the series, 0 to 1.
double part(std::size_t place) { return static_cast<double>(place) / kLength; }

double wave(std::size_t place, double period, double phase) {
  return std::sin(2 * std::numbers::pi * (static_cast<double>(place) / period + phase));
}

/// The logarithm of a series' level at each place; `state` is 0 at first and the level's own.
struct Kind {
  const char* name;
  Level level;
};

constexpr Kind kKinds[] = {
    {"SlowDrift", [](auto&, std::size_t place, double&) { return 0.1 * part(place); }},
    {"LevelShifts",
     [](auto& random, std::size_t, double& state) {
       if (uniform(random) < 0.001) state = 0.1 * uniform(random);
       return state;
     }},
    {"LongPeriod",
     [](auto& random, std::size_t place, double& state) {
       if (place == 0) state = uniform(random);
       return 0.05 * wave(place, 2200, state);
     }},
    {"ShortPeriod",
     [](auto& random, std::size_t place, double& state) {
       if (place == 0) state = uniform(random);
       return 0.05 * wave(place, 60, state);
     }},
};

/// Noise of all time scales alike: a sum of AR(1) series whose times are powers of four.
std::vector<double> long_memory(std::mt19937_64& random) {
  std::vector<double> sum(kLength, 1);
  for (double time = 1; time < kLength; time *= 4) {
    const std::vector<double> one = test::series(random, kLength, time, kSpread);
    std::transform(sum.begin(), sum.end(), one.begin(), sum.begin(), std::multiplies<>{});
  }
  return sum;
}

std::vector<double> series_of(std::mt19937_64& random, const Kind& kind) {
  std::vector<double> series = test::series(random, kLength, 3, kSpread);
  double state = 0;
  for (std::size_t i = 0; i < series.size(); ++i) {
    series[i] *= std::exp(kind.level(random, i, state));
  }
  return series;
}

/// Rows of many series by the rules of a run.
template <class MakeSeries>
busbar::test::RowRates rates_of(std::size_t visits, int rows, const MakeSeries& make) {
  std::mt19937_64 random = test::fixed_random(20261125);
  busbar::test::RowRates rates;
  for (int row = 0; row < rows; ++row) {
    const std::vector<double> series = make(random);
    rates.add(busbar::test::take_visits(series, {.visits = visits}, random), median(series));
  }
  return rates;
}

void expect_coverage(const std::string& name, const busbar::test::RowRates& run, double least) {
  EXPECT_GE(run.coverage(), least) << name;
  EXPECT_EQ(run.withheld(), 0) << name;
}

class LongRunCoverage : public testing::TestWithParam<std::size_t> {};

TEST_P(LongRunCoverage, IsAtLeast94PercentOnSeriesThatWander) {
  for (const Kind& kind : kKinds) {
    const auto make = [&kind](auto& random) { return series_of(random, kind); };
    expect_coverage(kind.name, rates_of(GetParam(), 400, make), 0.94);
  }
  expect_coverage("LongMemory", rates_of(GetParam(), 400, long_memory), 0.94);
}

TEST_P(LongRunCoverage, IsAtLeast94PercentOnRecordedSeries) {
  const std::filesystem::path archive = busbar::test::kSharedData / "pico.tar.xz";
  if (!std::filesystem::exists(archive)) GTEST_SKIP() << "no " << archive << ": 120 series";
  const busbar::test::TemporaryFolder folder;
  const std::string unpack = "tar -xf " + archive.string() + " -C " + folder.path();
  ASSERT_EQ(std::system(unpack.c_str()), 0);
  const auto all = busbar::test::recorded_series(folder.path());
  std::mt19937_64 random = test::fixed_random(20261125);
  busbar::test::RowRates rates;
  for (const auto& series : all) {
    const double whole = median(series.times);
    for (int row = 0; row < 20; ++row) {
      rates.add(busbar::test::take_visits(series.times, {.visits = GetParam()}, random), whole);
    }
  }
  EXPECT_EQ(rates.rows(), 2400U);
  expect_coverage("Recorded", rates, 0.94);
}

INSTANTIATE_TEST_SUITE_P(Visits, LongRunCoverage, testing::Values(4, 6, 12),
                         testing::PrintToStringParamName());

// What one stretch of a hundred samples cannot know.
TEST(LongMomentCoverage, IsFarFrom95PercentWhereTheSeriesDrifts) {
  const auto make = [](auto& random) { return series_of(random, kKinds[0]); };
  EXPECT_LT(rates_of(1, 200, make).coverage(), 0.5);
}

}  // namespace
}  // namespace busbar::stats

// SPDX-License-Identifier: BSD-3-Clause
//
// Does the interval of a run's visits contain the median of the whole run? On series that wander as
// real machines do, and on recorded ones.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/stats/series.hpp"
#include "tests/unit/support/captures.hpp"
#include "tests/unit/support/recorded_series.hpp"
#include "tests/unit/support/temporary_folder.hpp"

namespace busbar::stats {
namespace {

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
  std::printf("%-12s coverage %.3f, half width %.4f, withheld %.3f\n", name.c_str(), run.coverage(),
              run.half_width(50), run.withheld());
  EXPECT_GE(run.coverage(), least) << name;
  EXPECT_EQ(run.withheld(), 0) << name;
}

class RunCoverage : public testing::TestWithParam<std::size_t> {};

TEST_P(RunCoverage, IsAtLeast94PercentOnSeriesThatWander) {
  for (const Kind& kind : kKinds) {
    const auto make = [&kind](auto& random) { return series_of(random, kind); };
    expect_coverage(kind.name, rates_of(GetParam(), 400, make), 0.94);
  }
  expect_coverage("LongMemory", rates_of(GetParam(), 400, long_memory), 0.94);
}

TEST_P(RunCoverage, IsAtLeast94PercentOnRecordedSeries) {
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

INSTANTIATE_TEST_SUITE_P(Visits, RunCoverage, testing::Values(4, 6, 12),
                         testing::PrintToStringParamName());

// What one stretch of a hundred samples cannot know.
TEST(MomentCoverage, IsFarFrom95PercentWhereTheSeriesDrifts) {
  const auto make = [](auto& random) { return series_of(random, kKinds[0]); };
  EXPECT_LT(rates_of(1, 200, make).coverage(), 0.5);
}

}  // namespace
}  // namespace busbar::stats

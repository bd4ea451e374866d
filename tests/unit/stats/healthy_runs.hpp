// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstddef>
#include <random>
#include <vector>

#include "base/lists.hpp"
#include "stats/timeline.hpp"
#include "tests/unit/stats/series.hpp"
#include "tests/unit/support/recorded_series.hpp"

namespace busbar::stats::test {

/// A run's intervals.
struct RunOfIntervals {
  std::vector<double> medians{};
  std::vector<double> p99s{};

  void add(double median, double p99) {
    medians.push_back(median);
    p99s.push_back(p99);
  }
};

/// How many runs have an event of each kind.
struct EventCounts {
  std::size_t runs = 0;
  std::size_t level = 0;
  std::size_t tail = 0;
  std::size_t drift = 0;
  std::size_t dip = 0;

  /// Dips are looked for in the medians, too.
  void add(const RunOfIntervals& run) {
    ++runs;
    level += find_level_changes(run.medians).changes.empty() ? 0U : 1U;
    tail += find_tail_changes(run.p99s).changes.empty() ? 0U : 1U;
    drift += find_drift(run.medians).found ? 1U : 0U;
    const auto rates = mapped(run.medians, [](double time) { return 1 / time; });
    const auto slow = find_slowdowns(rates).slowdowns;
    dip += count_of(slow, &Slowdown::is_dip) > 0 ? 1U : 0U;
  }
};

/// Events of generated runs in which nothing happens: medians are AR(1) with times of 1, 5 and 20
/// intervals and spreads of 0.3, 1 and 2 %; 99th percentiles wander five times as much above them.
[[nodiscard]] inline EventCounts count_healthy(std::size_t runs, std::size_t intervals) {
  constexpr std::array kTimes{1.0, 5.0, 20.0};
  constexpr std::array kSpreads{0.003, 0.01, 0.02};
  constexpr double kTailSpread = 5;
  std::mt19937_64 random = fixed_random(1);
  EventCounts counts;
  for (std::size_t i = 0; i < runs; ++i) {
    const double time = kTimes.at(i % 3);
    const double spread = kSpreads.at(i / 3 % 3);
    RunOfIntervals run;
    run.medians = series(random, intervals, time, spread);
    for (const double excess : series(random, intervals, time, kTailSpread * spread)) {
      run.p99s.push_back(1.5 * excess * run.medians[run.p99s.size()]);
    }
    counts.add(run);
  }
  return counts;
}

/// Medians and maxima of blocks of a series are its intervals; fewer than 200 are too few.
[[nodiscard]] inline std::vector<RunOfIntervals> intervals_of(
    const std::vector<busbar::test::RecordedSeries>& all_series) {
  constexpr std::size_t kFewest = 200;
  std::vector<RunOfIntervals> runs;
  for (const busbar::test::RecordedSeries& series : all_series) {
    for (const std::size_t block : {10U, 50U}) {
      if (series.times.size() / block < kFewest) continue;
      RunOfIntervals& run = runs.emplace_back();
      for (std::size_t i = 0; i + block <= series.times.size(); i += block) {
        const auto times = std::span(series.times).subspan(i, block);
        run.add(median(times), percentile(times, 99));
      }
    }
  }
  return runs;
}

}  // namespace busbar::stats::test

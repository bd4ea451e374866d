// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "stats/timeline.hpp"
#include "tests/unit/stats/series.hpp"
#include "tests/unit/support/recorded_series.hpp"

namespace busbar::stats::test {

/// How many runs have an event of each kind.
struct EventCounts {
  std::size_t runs = 0;
  std::size_t level = 0;
  std::size_t drift = 0;
  std::size_t dip = 0;

  /// Of the medians of a run's intervals, in which dips are looked for, too.
  void add(const std::vector<double>& medians) {
    ++runs;
    level += find_level_changes(medians).changes.empty() ? 0U : 1U;
    drift += find_drift(medians).found ? 1U : 0U;
    const auto rates = mapped(medians, [](double time) { return 1 / time; });
    const auto slow = find_slowdowns(rates).slowdowns;
    dip += count_of(slow, &Slowdown::is_dip) > 0 ? 1U : 0U;
  }
};

/// Events of generated runs in which nothing happens: medians are AR(1) with times of 1, 5 and 20
/// intervals and spreads of 0.3, 1 and 2 %.
[[nodiscard]] inline EventCounts count_healthy(std::size_t runs, std::size_t intervals) {
  constexpr std::array kTimes{1.0, 5.0, 20.0};
  constexpr std::array kSpreads{0.003, 0.01, 0.02};
  std::mt19937_64 random = fixed_random(1);
  EventCounts counts;
  for (std::size_t i = 0; i < runs; ++i) {
    const double time = kTimes.at(i % 3);
    const double spread = kSpreads.at(i / 3 % 3);
    counts.add(series(random, intervals, time, spread));
  }
  return counts;
}

/// The medians of blocks of a series, its intervals; fewer than 200 are too few.
[[nodiscard]] inline std::vector<std::vector<double>> intervals_of(
    const std::vector<busbar::test::RecordedSeries>& all_series) {
  constexpr std::size_t kFewest = 200;
  std::vector<std::vector<double>> runs;
  for (const busbar::test::RecordedSeries& series : all_series) {
    for (const std::size_t block : {10U, 50U}) {
      if (series.times.size() / block < kFewest) continue;
      std::vector<double>& run = runs.emplace_back();
      for (std::size_t i = 0; i + block <= series.times.size(); i += block) {
        run.push_back(median(std::span(series.times).subspan(i, block)));
      }
    }
  }
  return runs;
}

}  // namespace busbar::stats::test

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>

#include "stats/stop_rule.hpp"
#include "stats/summary.hpp"

namespace busbar::test {

/// Consecutive times of one collective on one machine.
struct RecordedSeries {
  std::string system;
  double bytes = 0;  ///< of an operation; 0: the manifest does not have it
  std::vector<double> times;
};

/// The series of a folder: MANIFEST.csv, whose columns are a file, a system and as the eleventh the
/// bytes of an operation, and a time a line in each file. Throws a usage error where they cannot be
/// read.
[[nodiscard]] inline std::vector<RecordedSeries> recorded_series(
    const std::filesystem::path& folder) {
  std::ifstream manifest(folder / "MANIFEST.csv");
  if (!manifest) throw usage_error(folder.string() + " has no MANIFEST.csv");
  std::vector<RecordedSeries> all;
  std::string line;
  std::getline(manifest, line);  // the columns' names
  while (std::getline(manifest, line)) {
    constexpr std::size_t kBytes = 10;
    std::vector<std::string> cells = split(line, ',');
    cells.resize(std::max(cells.size(), kBytes + 1));
    const std::string& file = cells[0];
    RecordedSeries series{
        .system = cells[1], .bytes = to_number<double>(cells[kBytes]).value_or(0), .times = {}};
    std::ifstream times(folder / file);
    for (double time = 0; times >> time;) series.times.push_back(time);
    if (series.times.size() < 2) throw usage_error((folder / file).string() + " has no series");
    all.push_back(std::move(series));
  }
  return all;
}

/// How a row is taken from a series: in visits, or in one stretch; of so many samples in all, or of
/// as many as the rules of a run want (0).
struct Taking {
  std::size_t visits = 1;
  std::size_t samples = 0;
};

using Taken = std::vector<std::vector<double>>;

/// A visit that begins at `place`.
inline std::vector<double> take_stretch(std::span<const double> times, std::size_t place,
                                        std::size_t samples, const stats::StopLimits& limits) {
  stats::StopRule rule(limits);
  std::size_t count = samples;
  while (samples == 0) {
    count = std::min(count + rule.until_next_look(count), times.size() - place);
    const bool enough = rule.decide(times.subspan(place, count), 0) != stats::StopReason::None;
    if (enough || place + count == times.size()) break;
  }
  const auto stretch = times.subspan(place, std::min(count, times.size() - place));
  return {stretch.begin(), stretch.end()};
}

/// Each visit is somewhere in its part of the series, since rows are visited in a new order in each
/// pass. A row that is taken by the rules of a run ends as they say.
inline Taken take_visits(std::span<const double> times, const Taking& taking,
                         std::mt19937_64& random) {
  const stats::StopLimits whole;
  const auto limits = taking.visits > 1 ? stats::share_of(whole, taking.visits) : whole;
  const std::size_t each = taking.samples / taking.visits;
  const std::size_t part = times.size() / taking.visits;
  const std::size_t room = std::min(part, each > 0 ? each : limits.max_samples);
  Taken visits;
  for (std::size_t i = 0; i < taking.visits; ++i) {
    const std::size_t place = i * part + random() % (part - room + 1);
    visits.push_back(take_stretch(times, place, each, limits));
    const bool by_rule = taking.samples == 0 && taking.visits > 1;
    if (by_rule &&
        stats::decide_visits(visits, taking.visits, whole, 0) != stats::StopReason::None) {
      break;
    }
  }
  return visits;
}

[[nodiscard]] inline std::optional<stats::MedianInterval> interval_of(const Taken& visits) {
  return visits.size() == 1 ? stats::median_interval(visits.front()) : stats::run_interval(visits);
}

/// What many rows came to.
class RowRates {
 public:
  void add(const Taken& visits, double true_median) {
    const std::vector<double> samples = stats::all_samples(visits);
    samples_.push_back(static_cast<double>(samples.size()));
    errors_.push_back(std::abs(stats::median(samples) / true_median - 1));
    const auto interval = interval_of(visits);
    if (!interval) return;
    half_widths_.push_back(interval->half_width);
    if (interval->low <= true_median && true_median <= interval->high) hits_ += 1;
  }

  [[nodiscard]] std::size_t rows() const { return errors_.size(); }
  /// Share of the rows with an interval whose interval has the median of the whole series.
  [[nodiscard]] double coverage() const {
    return half_widths_.empty() ? 0 : hits_ / static_cast<double>(half_widths_.size());
  }
  [[nodiscard]] double withheld() const {
    return 1 - static_cast<double>(half_widths_.size()) / static_cast<double>(rows());
  }
  [[nodiscard]] double error(double percent) const { return at(errors_, percent); }
  [[nodiscard]] double half_width(double percent) const { return at(half_widths_, percent); }
  /// On average.
  [[nodiscard]] double samples() const { return stats::summarize(samples_)->mean; }

 private:
  static double at(const std::vector<double>& values, double percent) {
    return values.empty() ? 0 : stats::percentile(values, percent);
  }

  std::vector<double> samples_;
  std::vector<double> errors_;
  std::vector<double> half_widths_;
  double hits_ = 0;
};

}  // namespace busbar::test

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "model/row_key.hpp"
#include "study/dataset.hpp"

namespace busbar::study {

/// A measurement in one launch: medians over its cycles, in microseconds and GB/s.
struct LaunchRow {
  double time_us = 0;
  std::optional<double> ci_low_us{};
  std::optional<double> ci_high_us{};
  std::optional<double> busbw_GBps{};
};

/// What a comparison needs of one CSV. It grows with the kinds of rows.
struct Launch {
  std::string path{};
  Facts facts{};
  std::set<std::string> backends{};
  std::set<std::string> device_sets{};
  std::set<std::string> aggregations{};
  std::set<int> ranks{};
  /// Rows with a time and right data. An interval stays only where there is one row of the
  /// measurement.
  std::map<RowKey, LaunchRow> rows{};
  std::vector<std::string> problems{};  ///< of the file, as FileProblems::lines

  /// A fact of the head, or empty.
  [[nodiscard]] std::string fact(const Fact& wanted) const { return value_of(facts, wanted); }
  /// True where a row is predicted, not measured.
  [[nodiscard]] bool simulated() const { return backends.contains("sim"); }
};

/// Rows of the same measurement: of a launch's cycles, or of several launches.
using LaunchRows = std::map<RowKey, std::vector<LaunchRow>>;

/// Medians over rows of one measurement; the interval of a single one.
[[nodiscard]] LaunchRow median_of(const std::vector<LaunchRow>& rows);

/// A launch of rows, one after the other: `next` goes to the next one; false where there is none.
/// `cut`: as CsvRows::cut, asked after the last row.
[[nodiscard]] Launch make_launch(std::string path, Facts facts,
                                 const std::function<bool(Record&)>& next,
                                 const std::function<std::string()>& cut = {});

/// Reads a CSV row by row, or a log as read_launch does. Throws Error (Usage) where it is neither.
[[nodiscard]] Launch load_launch(const std::string& path);
/// All of them, in order; the same bytes count once (distinct_files).
[[nodiscard]] std::vector<Launch> load_launches(std::span<const std::string> paths,
                                                std::vector<std::string>& notes);

/// The same measurement in all launches of a group that have it.
[[nodiscard]] LaunchRows launch_rows(std::span<const Launch> launches);

}  // namespace busbar::study

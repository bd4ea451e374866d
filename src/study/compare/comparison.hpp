// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/enum_names.hpp"
#include "format/json.hpp"
#include "model/row_key.hpp"
#include "stats/verdict.hpp"
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
  std::set<std::string> warm_ups{};  ///< "warmup=5", of logs; our own heads have them
  std::set<std::string> ranks{};
  /// Rows with a time and right data. An interval stays only where there is one row of the
  /// measurement.
  std::map<RowKey, LaunchRow> rows{};
  std::vector<std::string> problems{};  ///< of the file, as FileProblems::lines

  /// A fact of the head, or empty.
  [[nodiscard]] std::string fact(const Fact& wanted) const { return value_of(facts, wanted); }
  /// True where a row is predicted, not measured.
  [[nodiscard]] bool simulated() const { return backends.contains("sim"); }
};

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

using stats::kVerdictLevel;
using stats::Verdict;

/// An effect that matters, unless the user gives another.
inline constexpr double kThresholdPercent = 3;

/// Where an interval of a ratio is from.
enum class IntervalKind {
  None,          ///< there is none
  WithinLaunch,  ///< of the samples of one launch each: says nothing about the next launch
  OverLaunches   ///< of the medians of launches
};
constexpr auto enum_names(IntervalKind) {
  return std::array{Named{IntervalKind::None, ""},
                    Named{IntervalKind::WithinLaunch, "within one launch"},
                    Named{IntervalKind::OverLaunches, "over launch medians"}};
}

/// A measurement before and after.
struct ComparedRow {
  RowKey key{};
  std::size_t launches_before = 0;
  std::size_t launches_after = 0;
  double before_us = 0;  ///< median over launches
  double after_us = 0;
  std::optional<double> before_GBps{};  ///< bus bandwidth, median over launches
  std::optional<double> after_GBps{};
  double ratio = 1;  ///< after_us over before_us, of pairs their own: above 1 is slower
  std::optional<stats::Interval> interval{};  ///< 95 % confidence interval of the ratio
  IntervalKind kind = IntervalKind::None;
  std::optional<double> p{};  ///< of launch medians; none for one launch each
  Verdict verdict = Verdict::CannotTell;
};

/// Two groups of launches.
struct GroupComparison {
  std::vector<std::string> before{};  ///< files
  std::vector<std::string> after{};
  double threshold = 0;  ///< a fraction
  std::vector<ComparedRow> rows{};
  std::vector<RowKey> only_before{};
  std::vector<RowKey> only_after{};
  std::vector<std::string> warnings{};  ///< why the groups are hard to compare
  std::vector<std::string> problems{};  ///< of single files: cut off, rows that are left out

  [[nodiscard]] std::size_t count(Verdict verdict) const;
  /// True where a row has p < 0.03 and its whole interval is above 1 + `fraction`.
  [[nodiscard]] bool any_slower_by(double fraction) const;
  /// False where so few launches can never have p < 0.03, whatever they measure.
  [[nodiscard]] bool can_reach_verdicts() const;
};

/// How launches of two groups belong together.
enum class Pairing {
  None,     ///< not at all: Mann-Whitney
  ByLaunch  ///< the same launch measured both: signed ranks of the ratios, in the groups' order
};

/// Rows that both groups have, by launch medians, with stats::verdict_of.
[[nodiscard]] std::vector<ComparedRow> common_rows(std::span<const Launch> before,
                                                   std::span<const Launch> after, double threshold,
                                                   Pairing pairing = Pairing::None);

/// The same with what the groups lack and where they are hard to compare. Throws Error (Usage)
/// where they have no row in common.
[[nodiscard]] GroupComparison compare_launches(std::span<const Launch> before,
                                               std::span<const Launch> after, double threshold);

/// Differences of heads and rows that make two groups hard to compare, one line each.
[[nodiscard]] std::vector<std::string> head_differences(std::span<const Launch> before,
                                                        std::span<const Launch> after);

/// A table for people, to be pasted: '#' lines, a line per row, a summary.
[[nodiscard]] std::string comparison_text(const GroupComparison& comparison);

/// @name What comparisons and sweeps print alike
/// @{
/// "allreduce float sum, 16 ranks": what a block of a table is of.
[[nodiscard]] std::string title_of(const RowKey& key);
/// The members of a row's key.
[[nodiscard]] Json key_json(const RowKey& key);
/// Microseconds.
[[nodiscard]] std::string time_text(double time_us);
/// "0.973", of ratios and probabilities.
[[nodiscard]] std::string three_decimals(double value);
/// "0.970..1.020", or nothing.
[[nodiscard]] std::string interval_text(const ComparedRow& row);
[[nodiscard]] Cell interval_cell(const ComparedRow& row);
/// "3 faster, 0 slower, 1 same, 2 cannot tell".
[[nodiscard]] std::string counts_text(const std::vector<Verdict>& verdicts);

/// A table for each title, in the rows' order.
template <class Columns, class Row>
[[nodiscard]] std::string titled_tables(const Columns& columns, const std::vector<Row>& rows) {
  std::string text;
  for (auto row = rows.begin(); row != rows.end();) {
    const std::string title = title_of(row->key);
    const auto first = row;
    while (row != rows.end() && title_of(row->key) == title) ++row;
    text += fmt::format("# {}\n{}", title, plain_table(make_table(columns, std::span(first, row))));
  }
  return text;
}
/// An object for each row, which begins with the members of its key.
template <class Columns, class Row>
[[nodiscard]] Json keyed_rows(const Columns& columns, const std::vector<Row>& rows) {
  return json_array(rows, [&](const Row& row) {
    Json json = key_json(row.key);
    json.update(json_object(columns, row));
    return json;
  });
}
/// @}

/// One JSON document, two blanks of indentation and a line end; docs/compare-options.md has its
/// members.
[[nodiscard]] std::string comparison_json(const GroupComparison& comparison);

}  // namespace busbar::study

// SPDX-License-Identifier: BSD-3-Clause
#include "study/compare/comparison.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "format/csv_reader.hpp"
#include "model/flag.hpp"
#include "stats/rank_tests.hpp"
#include "stats/summary.hpp"
#include "study/import/file_rows.hpp"

namespace busbar::study {
namespace {

void insert(std::set<std::string>& values, const std::string& cell) {
  if (!cell.empty()) values.insert(cell);
}

/// Rows of the same measurement: of a launch's cycles, or of several launches.
using LaunchRows = std::map<RowKey, std::vector<LaunchRow>>;

/// The interval of a single one stays.
LaunchRow median_of(const std::vector<LaunchRow>& rows) {
  if (rows.size() == 1) return rows.front();
  std::vector<double> times;
  std::vector<double> rates;
  for (const LaunchRow& row : rows) {
    times.push_back(row.time_us);
    if (row.busbw_GBps) rates.push_back(*row.busbw_GBps);
  }
  LaunchRow median{.time_us = stats::median(times)};
  if (!rates.empty()) median.busbw_GBps = stats::median(rates);
  return median;
}

/// The same measurement in all launches of a group that have it.
LaunchRows launch_rows(std::span<const Launch> launches) {
  LaunchRows rows;
  for (const Launch& launch : launches) {
    for (const auto& [key, row] : launch.rows) rows[key].push_back(row);
  }
  return rows;
}

/// Of rows that the others lack.
std::vector<RowKey> missing_keys(std::span<const Launch> launches, std::span<const Launch> others) {
  const LaunchRows there = launch_rows(others);
  std::vector<RowKey> keys;
  for (const auto& [key, rows] : launch_rows(launches)) {
    if (!there.contains(key)) keys.push_back(key);
  }
  return keys;
}

/// Ends of one interval over ends of the other.
void compare_within(ComparedRow& row, const LaunchRow& before, const LaunchRow& after) {
  const bool both = before.ci_low_us && before.ci_high_us && after.ci_low_us && after.ci_high_us;
  if (!both || *before.ci_low_us <= 0) return;
  row.kind = IntervalKind::WithinLaunch;
  row.interval = stats::Interval{.low = *after.ci_low_us / *before.ci_high_us,
                                 .high = *after.ci_high_us / *before.ci_low_us};
}

/// In logarithms a ratio is a shift.
void compare_over(ComparedRow& row, std::vector<double> before, std::vector<double> after,
                  Pairing pairing) {
  for (double& time : before) time = std::log(time);
  for (double& time : after) time = std::log(time);
  std::optional<stats::Interval> shift;
  if (pairing == Pairing::None) {
    row.p = stats::mann_whitney_p(before, after);
    shift = stats::shift_interval(before, after);
  } else {
    for (std::size_t i = 0; i < after.size(); ++i) after[i] -= before[i];
    const stats::SignedRank test = stats::signed_rank(after);
    row.p = test.p;
    shift = test.interval;
    row.ratio = std::exp(test.shift);  // of pairs: that of the medians may be outside
  }
  if (!shift) return;
  row.kind = IntervalKind::OverLaunches;
  row.interval = stats::Interval{.low = std::exp(shift->low), .high = std::exp(shift->high)};
}

ComparedRow compare_row(const RowKey& key, const std::vector<LaunchRow>& before,
                        const std::vector<LaunchRow>& after, double threshold, Pairing pairing) {
  const LaunchRow first = median_of(before);
  const LaunchRow second = median_of(after);
  ComparedRow row{.key = key,
                  .launches_before = before.size(),
                  .launches_after = after.size(),
                  .before_us = first.time_us,
                  .after_us = second.time_us,
                  .before_GBps = first.busbw_GBps,
                  .after_GBps = second.busbw_GBps,
                  .ratio = second.time_us / first.time_us};
  if (before.size() == 1 && after.size() == 1) {
    compare_within(row, before.front(), after.front());
  } else {
    compare_over(row, mapped(before, &LaunchRow::time_us), mapped(after, &LaunchRow::time_us),
                 pairing);
  }
  // One launch each has an interval within the launch, which says nothing about the next launch.
  if (row.kind == IntervalKind::OverLaunches) {
    row.verdict = stats::verdict_of(row.ratio, *row.interval, row.p.value_or(1), threshold);
  }
  return row;
}

/// What these numbers of launches can never show.
void add_limits(GroupComparison& comparison) {
  const std::size_t before = comparison.before.size();
  const std::size_t after = comparison.after.size();
  const std::size_t needed = stats::fewest_for(kVerdictLevel);
  if (before == 1 && after == 1) {
    comparison.warnings.push_back(
        fmt::format("one launch each: ratios only, since launches differ by more than the interval "
                    "within one; give {} of each by --before and --after for verdicts",
                    needed));
  } else if (stats::least_p(before, after) >= kVerdictLevel) {
    comparison.warnings.push_back(fmt::format(
        "{} against {} launches can never reach p < {}: the least p is {:.2g}; give {} of each",
        before, after, kVerdictLevel, stats::least_p(before, after), needed));
  }
}

using FactValues = std::set<std::string>;

/// What the heads and rows of two groups should have in common.
struct Subject {
  std::string_view what;
  std::optional<Fact> fact{};  ///< of the head
  FactValues Launch::*of_rows = nullptr;
  std::string_view missing = "unknown";  ///< what it means that a group has no value
};

constexpr auto kSubjects = std::to_array<Subject>({
    {"libraries", fact::kLibrary},
    {"tools", fact::kTool},
    {"versions of busbar", fact::kBusbar},
    {"hosts", fact::kHosts},
    {"environments", fact::kLibraryEnvironment, nullptr, "none"},
    {"settings", fact::kSettings},
    {"backends", {}, &Launch::backends},
    {"device sets", {}, &Launch::device_sets},
    {"aggregations over ranks", {}, &Launch::aggregations},
    {"numbers of ranks", {}, &Launch::ranks},
    {"configurations", fact::kConfiguration, &Launch::warm_ups},  // of many words
});

FactValues values_in(std::span<const Launch> launches, const Subject& subject) {
  FactValues values;
  for (const Launch& launch : launches) {
    const std::string fact = subject.fact ? launch.fact(*subject.fact) : "";
    for (const auto& part : subject.of_rows != nullptr ? split_words(fact) : Words{fact}) {
      insert(values, part);
    }
    if (subject.of_rows != nullptr) values.merge(FactValues(launch.*subject.of_rows));
  }
  return values;
}

/// "before 2.4, 2.5": what the first has alone.
std::string values_text(std::string_view group, const FactValues& values, const FactValues& others,
                        std::string_view missing) {
  std::vector<std::string> alone;
  std::set_difference(values.begin(), values.end(), others.begin(), others.end(),
                      std::back_inserter(alone));
  if (!alone.empty()) return fmt::format("{} {}", group, join(alone, ", "));
  return fmt::format("{} in {}", values.empty() ? missing : "nothing else", group);
}

}  // namespace

Launch make_launch(std::string path, Facts facts, const std::function<bool(Record&)>& next,
                   const std::function<std::string()>& cut) {
  Launch launch{.path = std::move(path), .facts = std::move(facts)};
  FileProblems problems;
  LaunchRows cycles;
  for (Record record; next(record); record = {}) {
    insert(launch.backends, record.backend);
    insert(launch.device_sets, record.device_set);
    insert(launch.aggregations, record.aggregation);
    launch.ranks.insert(std::to_string(record.ranks));
    if (record.warmup_operations && has_flag(record, Flag::Imported)) {
      launch.warm_ups.insert(fmt::format("warmup={}", *record.warmup_operations));
    }
    problems.add(record);
    if (contradicts_itself(record)) continue;
    if (record.status != RowStatus::Ok || record.time_median_us.value_or(0) <= 0) continue;
    cycles[row_key(record)].push_back({.time_us = *record.time_median_us,
                                       .ci_low_us = record.time_ci_low_us,
                                       .ci_high_us = record.time_ci_high_us,
                                       .busbw_GBps = record.busbw_GBps});
  }
  for (const auto& [key, rows] : cycles) launch.rows.emplace(key, median_of(rows));
  launch.problems = problems.lines(launch.path, cut ? cut() : "");
  return launch;
}

Launch load_launch(const std::string& path) {
  if (is_csv(path)) {
    CsvRows rows(path);
    return make_launch(
        path, facts_of(rows.head()), [&](Record& record) { return rows.next(record); },
        [&] { return rows.cut(); });
  }
  Dataset log = read_launch(path).dataset;
  auto row = log.records.begin();
  return make_launch(path, std::move(log.facts), [&](Record& record) {
    if (row == log.records.end()) return false;
    record = std::move(*row++);
    return true;
  });
}

std::vector<Launch> load_launches(std::span<const std::string> paths,
                                  std::vector<std::string>& notes) {
  return mapped(distinct_files(paths, notes), load_launch);
}

std::size_t GroupComparison::count(Verdict verdict) const {
  return count_of(rows, [&](const ComparedRow& row) { return row.verdict == verdict; });
}

bool GroupComparison::any_slower_by(double fraction) const {
  return std::ranges::any_of(rows, [&](const ComparedRow& row) {
    return row.interval && row.p.value_or(1) < kVerdictLevel && row.interval->low > 1 + fraction;
  });
}

bool GroupComparison::can_reach_verdicts() const {
  return stats::least_p(before.size(), after.size()) < kVerdictLevel;
}

std::vector<ComparedRow> common_rows(std::span<const Launch> before, std::span<const Launch> after,
                                     double threshold, Pairing pairing) {
  LaunchRows old_rows;
  LaunchRows new_rows;
  if (pairing == Pairing::None) {
    old_rows = launch_rows(before);
    new_rows = launch_rows(after);
  } else {
    for (std::size_t i = 0; i < std::min(before.size(), after.size()); ++i) {
      for (const auto& [key, row] : before[i].rows) {
        const auto found = after[i].rows.find(key);
        if (found == after[i].rows.end()) continue;
        old_rows[key].push_back(row);
        new_rows[key].push_back(found->second);
      }
    }
  }
  std::vector<ComparedRow> rows;
  for (const auto& [key, launches] : old_rows) {
    const auto found = new_rows.find(key);
    if (found == new_rows.end()) continue;
    rows.push_back(compare_row(key, launches, found->second, threshold, pairing));
  }
  return rows;
}

GroupComparison compare_launches(std::span<const Launch> before, std::span<const Launch> after,
                                 double threshold) {
  GroupComparison comparison{.threshold = threshold};
  comparison.before = mapped(before, &Launch::path);
  comparison.after = mapped(after, &Launch::path);
  comparison.rows = common_rows(before, after, threshold);
  if (comparison.rows.empty()) {
    throw usage_error(
        "compare: no row is in both groups: the same collective, type, reduction, ranks and size");
  }
  comparison.only_before = missing_keys(before, after);
  comparison.only_after = missing_keys(after, before);
  comparison.warnings = head_differences(before, after);
  for (const auto& group : {before, after}) {
    for (const Launch& launch : group) append(comparison.problems, launch.problems);
  }
  add_limits(comparison);
  return comparison;
}

std::vector<std::string> head_differences(std::span<const Launch> before,
                                          std::span<const Launch> after) {
  std::vector<std::string> lines;
  for (const Subject& subject : kSubjects) {
    const FactValues old_values = values_in(before, subject);
    const FactValues new_values = values_in(after, subject);
    if (old_values == new_values) continue;
    lines.push_back(fmt::format("{} differ: {}, {}", subject.what,
                                values_text("before", old_values, new_values, subject.missing),
                                values_text("after", new_values, old_values, subject.missing)));
  }
  const std::size_t simulated =
      count_of(before, &Launch::simulated) + count_of(after, &Launch::simulated);
  if (simulated > 0) {
    const bool all = simulated == before.size() + after.size();
    lines.push_back(
        fmt::format("rows are simulated{}", all ? ", not measured" : " and measured, mixed"));
  }
  return lines;
}

}  // namespace busbar::study

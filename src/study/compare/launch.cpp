// SPDX-License-Identifier: BSD-3-Clause
#include "study/compare/launch.hpp"

#include <utility>

#include "format/csv_reader.hpp"
#include "stats/summary.hpp"
#include "study/import/file_rows.hpp"

namespace busbar::study {
namespace {

void insert(std::set<std::string>& values, const std::string& cell) {
  if (!cell.empty()) values.insert(cell);
}

}  // namespace

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

Launch make_launch(std::string path, Facts facts, const std::function<bool(Record&)>& next,
                   const std::function<std::string()>& cut) {
  Launch launch{.path = std::move(path), .facts = std::move(facts)};
  FileProblems problems;
  LaunchRows cycles;
  for (Record record; next(record); record = {}) {
    insert(launch.backends, record.backend);
    insert(launch.device_sets, record.device_set);
    insert(launch.aggregations, record.aggregation);
    launch.ranks.insert(record.ranks);
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
  std::vector<Launch> launches;
  for (const std::string& path : distinct_files(paths, notes))
    launches.push_back(load_launch(path));
  return launches;
}

LaunchRows launch_rows(std::span<const Launch> launches) {
  LaunchRows rows;
  for (const Launch& launch : launches) {
    for (const auto& [key, row] : launch.rows) rows[key].push_back(row);
  }
  return rows;
}

}  // namespace busbar::study

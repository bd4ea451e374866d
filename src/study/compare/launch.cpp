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

LaunchMaker::LaunchMaker(std::string path, Facts facts)
    : launch_{.path = std::move(path), .facts = std::move(facts)} {}

void LaunchMaker::add(const Record& record) {
  insert(launch_.backends, record.backend);
  insert(launch_.device_sets, record.device_set);
  insert(launch_.aggregations, record.aggregation);
  launch_.ranks.insert(record.ranks);
  problems_.add(record);
  if (contradicts_itself(record)) return;
  if (record.status != RowStatus::Ok || record.time_median_us.value_or(0) <= 0) return;
  Cycles& cycles = cycles_[row_key(record)];
  cycles.times_us.push_back(*record.time_median_us);
  if (record.busbw_GBps) cycles.rates_GBps.push_back(*record.busbw_GBps);
  cycles.ci_low_us = record.time_ci_low_us;
  cycles.ci_high_us = record.time_ci_high_us;
}

LaunchRow LaunchMaker::median_of(const Cycles& cycles) {
  LaunchRow row{.time_us = stats::median(cycles.times_us)};
  if (!cycles.rates_GBps.empty()) row.busbw_GBps = stats::median(cycles.rates_GBps);
  if (cycles.times_us.size() == 1) {
    row.ci_low_us = cycles.ci_low_us;
    row.ci_high_us = cycles.ci_high_us;
  }
  return row;
}

Launch LaunchMaker::finish(const std::string& cut) const {
  Launch launch = launch_;
  for (const auto& [key, cycles] : cycles_) launch.rows.emplace(key, median_of(cycles));
  launch.problems = problems_.lines(launch.path, cut);
  return launch;
}

Launch load_launch(const std::string& path) {
  if (!is_csv(path)) {
    FileRows rows = read_launch(path);
    LaunchMaker maker(path, std::move(rows.dataset.facts));
    for (const Record& record : rows.dataset.records) maker.add(record);
    return maker.finish();
  }
  CsvRows rows(path);
  LaunchMaker maker(path, facts_of(rows.head()));
  for (Record record; rows.next(record); record = {}) maker.add(record);
  return maker.finish(rows.cut());
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

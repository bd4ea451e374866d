// SPDX-License-Identifier: BSD-3-Clause
#include "study/compare/launch_rows.hpp"

#include "stats/summary.hpp"

namespace busbar::study {
namespace {

RowKey key_of(const Record& record) {
  return {.collective = record.collective,
          .type = record.type,
          .op = record.op,
          .root = record.root,
          .ranks = record.ranks,
          .group = record.group,
          .sender = record.sender,
          .receiver = record.receiver,
          .size = record.size,
          .in_place = record.in_place};
}

LaunchRow one_of(const std::vector<const Record*>& cycles) {
  std::vector<double> times;
  std::vector<double> rates;
  for (const Record* record : cycles) {
    times.push_back(*record->time_median_us);
    if (record->busbw_GBps) rates.push_back(*record->busbw_GBps);
  }
  LaunchRow row{.time_us = stats::median(times)};
  if (!rates.empty()) row.busbw_GBps = stats::median(rates);
  if (cycles.size() == 1) {
    row.ci_low_us = cycles.front()->time_ci_low_us;
    row.ci_high_us = cycles.front()->time_ci_high_us;
  }
  return row;
}

}  // namespace

LaunchRows launch_rows(std::span<const Dataset> launches) {
  LaunchRows rows;
  for (const Dataset& launch : launches) {
    std::map<RowKey, std::vector<const Record*>> cycles;
    for (const Record& record : launch.records) {
      const bool measured = record.status == RowStatus::Ok && record.time_median_us.value_or(0) > 0;
      if (measured) cycles[key_of(record)].push_back(&record);
    }
    for (const auto& [key, records] : cycles) rows[key].push_back(one_of(records));
  }
  return rows;
}

}  // namespace busbar::study

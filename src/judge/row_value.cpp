// SPDX-License-Identifier: BSD-3-Clause
#include "judge/row_value.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar::judge {
namespace {

struct TimeColumn {
  const char* name;
  std::optional<double> Record::*time;
};

TimeColumn column_of(Statistic statistic) {
  constexpr std::array<TimeColumn, 6> kColumns{{{"time_median_us", &Record::time_median_us},
                                                {"time_mean_us", &Record::time_mean_us},
                                                {"time_min_us", &Record::time_min_us},
                                                {"time_p90_us", &Record::time_p90_us},
                                                {"time_p99_us", &Record::time_p99_us},
                                                {"time_max_us", &Record::time_max_us}}};
  return kColumns.at(static_cast<std::size_t>(statistic));
}

RowValue judged(std::optional<double> value, std::string_view column) {
  if (!value) return {.error = fmt::format("the row has no value in column {}", column)};
  if (!std::isfinite(*value) || *value <= 0) {
    return {.error = fmt::format("{} is {:g}: not a number that can be judged", column, *value)};
  }
  return {.value = value};
}

}  // namespace

RowValue value_of(const Record& record, Metric metric, Statistic statistic) {
  const TimeColumn column = column_of(statistic);
  RowValue time = judged(record.*(column.time), column.name);
  if (metric == Metric::Time) return time;
  const bool bus = metric == Metric::BusBandwidth;
  RowValue rate =
      judged(bus ? record.busbw_GBps : record.algbw_GBps, bus ? "busbw_GBps" : "algbw_GBps");
  if (!rate.value || statistic == Statistic::Median) return rate;
  RowValue median = judged(record.time_median_us, "time_median_us");
  if (!median.value) return median;
  if (!time.value) return time;
  return {.value = *rate.value * *median.value / *time.value};
}

bool has_row_flag(const Record& record, std::string_view flag) {
  const std::vector<std::string> flags = split(record.flags, ' ');
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

}  // namespace busbar::judge

// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/log_record.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "study/import/bandwidth_check.hpp"
#include "study/import/nccl_row.hpp"

namespace busbar::study {
namespace {

/// The value that is nearest to `value` among those that print as the log has it.
double as_printed(double value, const std::optional<Printed>& printed) {
  if (!printed) return value;
  return std::clamp(value, printed->value - printed->half_unit,
                    printed->value + printed->half_unit);
}

std::string our_type(const std::string& type) {
  if (type == "char") return "int8";
  if (type == "int") return "int32";
  if (type == "bf16") return "bfloat16";
  if (type == "float16") return "half";
  if (type == "fp8_e4m3" || type == "fp8_e5m2") return "f8" + type.substr(4);
  return type;
}

/// The largest relative difference that nccl-tests of before August 2022 let pass (common.cu,
/// DeltaMaxValue).
double error_limit(const std::string& type) {
  if (type == "half" || type == "bfloat16") return 1e-2;
  if (type == "float") return 1e-5;
  return type == "double" ? 1e-12 : 0;
}

void set_check(Record& record, const LogHalf& half) {
  constexpr double kMostWrong = 1e18;
  if (half.wrong && *half.wrong < kMostWrong) {
    record.wrong = static_cast<std::uint64_t>(std::llround(*half.wrong));
    if (*record.wrong > 0) record.status = RowStatus::Wrong;
    if (*record.wrong > 0) record.reason = fmt::format("the log counts {} wrong", *record.wrong);
  }
  if (half.error && *half.error > error_limit(record.type)) {
    record.status = RowStatus::Wrong;
    record.reason =
        fmt::format("the log's error is {:g}, above {:g}", *half.error, error_limit(record.type));
  }
}

void set_time(Record& record, const LogHalf& half, const Range& rate) {
  if (half.time_us) return;
  // -C: the printed time is the processor's; wall time is only in the bandwidth.
  constexpr double kMicrosecondGB = 1e3;
  const double mean = (rate.low + rate.high) / 2;
  record.time_median_us = static_cast<double>(record.size) / (mean * kMicrosecondGB);
  record.time_mean_us = record.time_median_us;
  record.flags += " time-from-bandwidth";
}

void set_bandwidth(Record& record, const LogHalf& half, const TableMeaning& meaning) {
  const auto rate = rate_range(record.size, half);
  if (!rate) return;
  set_time(record, half, *rate);
  const double factor = meaning.collective->bus_factor(meaning.ranks);
  constexpr double kMicrosecondGB = 1e3;
  const double algbw = static_cast<double>(record.size) / (*record.time_median_us * kMicrosecondGB);
  record.algbw_GBps = meaning.old_algbw ? algbw : as_printed(algbw, half.algbw_GBps);
  if (meaning.ranks < 2) return;
  const bool fits = !half.busbw_GBps || can_be(*half.busbw_GBps, *rate, factor);
  record.busbw_GBps = fits ? as_printed(algbw * factor, half.busbw_GBps) : algbw * factor;
  if (!fits) record.flags += " bandwidth-differs";
}

}  // namespace

Bytes whole_size(const LogRow& row, const TableMeaning& meaning) {
  return meaning.part_sizes ? row.size * static_cast<Bytes>(meaning.ranks) : row.size;
}

Record record_of(const LogTable& table, const LogRow& row, const LogHalf& half,
                 const TableMeaning& meaning) {
  Record record{.collective = std::string(meaning.collective->name),
                .backend = table.backend,
                .ranks = meaning.ranks,
                .nodes = row.nodes.value_or(meaning.nodes),
                .type = our_type(row.type),
                .op = meaning.collective->reduces ? row.op : "none",
                .in_place = half.in_place,
                .size = whole_size(row, meaning),
                .count = row.count,
                .flags = "imported mean",
                .cadence = table.cadence,
                .operations = row.operations ? row.operations : table.operations,
                .warmup_operations = table.warmup,
                .aggregation = table.aggregation,
                .finished_at = row.finished_at};
  if (record.op.empty() && meaning.collective->reduces) record.op = "sum";
  if (row.root && *row.root >= 0) record.root = row.root;
  if (const Bytes element = size_of_type(row.type); record.count == 0 && element > 0) {
    record.count = row.size / element;
  }
  record.sender = row.sender;
  record.receiver = row.receiver;
  if (!table.flags.empty()) record.flags += ' ' + table.flags;
  if (meaning.old_algbw) record.flags += " old-algbw";
  if (half.time_us) record.time_median_us = record.time_mean_us = half.time_us->value;
  if (half.cpu_time_us) record.enqueue_time_us = half.cpu_time_us->value;
  record.time_min_us = half.min_us;
  record.time_max_us = half.max_us;
  record.time_p99_us = half.p99_us;
  set_check(record, half);
  set_bandwidth(record, half, meaning);
  return record;
}

}  // namespace busbar::study

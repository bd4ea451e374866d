// SPDX-License-Identifier: BSD-3-Clause
#include "report/console_table.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

/// Four words of one placement; "N/A" where it has no value.
std::string half_row(const std::optional<Record>& record) {
  if (!record || !record->time_median_us) {
    return fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", "N/A", "N/A", "N/A", "N/A");
  }
  const std::string wrong =
      record->wrong ? fmt::format("{:g}", static_cast<double>(*record->wrong)) : "N/A";
  return fmt::format("  {:>7}  {:>6.2f}  {:>6.2f}  {:>6}", console_time(*record->time_median_us),
                     record->algbw_GBps.value_or(0), record->busbw_GBps.value_or(0), wrong);
}

std::string_view what(RowStatus status) {
  if (status == RowStatus::Skipped) return "skipped";
  return status == RowStatus::Wrong ? "wrong data" : "broke off";
}

/// What the table cannot say of a row: why it was skipped, or the first wrong element.
std::string remark(const Record& record, std::string_view placement) {
  if (record.reason.empty()) return {};
  return fmt::format("# size {} type {} redop {}{}{} {}: {}\n", record.size, record.type, record.op,
                     record.root ? fmt::format(" root {}", *record.root) : "", placement,
                     what(record.status), record.reason);
}

std::string title_lines(bool timestamps) {
  std::string text = fmt::format("#\n# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}  {:^31}  {:^31}\n", "",
                                 "", "", "", "", "out-of-place", "in-place");
  text += fmt::format("# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}", "size", "count", "type", "redop",
                      "root");
  for (int half = 0; half < 2; ++half) {
    text += fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", "time", "algbw", "busbw", "#wrong");
  }
  text += timestamps ? "  timestamp\n" : " \n";
  text += fmt::format("# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}", "(B)", "(elements)", "", "", "");
  for (int half = 0; half < 2; ++half) {
    text += fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", "(us)", "(GB/s)", "(GB/s)", "");
  }
  return text + " \n";
}

}  // namespace

std::string console_time(double time_us) {
  if (time_us < 9999.995) return fmt::format("{:.2f}", time_us);
  if (time_us < 99999.95) return fmt::format("{:.1f}", time_us);
  return fmt::format("{:.0f}", time_us);
}

ConsoleTable::ConsoleTable(std::FILE* stream, Halves halves) : stream_(stream), halves_(halves) {}

void ConsoleTable::print(const std::string& line) {
  const bool written = std::fputs(line.c_str(), stream_) >= 0 && std::fflush(stream_) == 0;
  if (!written) throw system_failure("cannot write the table to standard output", errno);
}

void ConsoleTable::begin(const RunContext& context) {
  nccl_name_ = context.nccl_name;
  timestamps_ = context.timestamps;
  std::string text = fmt::format("# Collective test starting: {}_perf\n", nccl_name_);
  text += fmt::format(
      "# nThread 1 nGpus 1 minBytes {} maxBytes {} step: {} warmup iters: {} iters: {} agg iters: "
      "{} "
      "validation: {} graph: 0 unalign: 0\n",
      context.first_size, context.last_size, context.step, context.warmup, context.operations,
      context.aggregated, context.checks);
  if (!context.blocking.empty()) text += fmt::format("# Blocking Enabled: {}\n", context.blocking);
  for (const std::string& note : context.notes) text += fmt::format("# {}\n", one_line(note));
  text += "#\n# Using devices\n";
  for (const std::string& device : context.devices) text += fmt::format("# {}\n", device);
  print(text + title_lines(timestamps_));
}

void ConsoleTable::write(const Record& record, std::span<const double> /*samples_us*/) {
  count(record);
  (record.in_place ? in_place_ : out_of_place_) = record;
  const bool complete = record.in_place ? true : !halves_.in_place;
  if (complete) print_pair(record);
}

void ConsoleTable::count(const Record& record) {
  if (!record.time_median_us) return;
  ++measured_;
  if (record.stop_reason == "time-budget") ++over_budget_;
}

void ConsoleTable::print_pair(const Record& either) {
  std::string text;
  const bool any =
      (out_of_place_ && out_of_place_->time_median_us) || (in_place_ && in_place_->time_median_us);
  if (any) {
    text = fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}{}{}", either.size, either.count,
                       either.type, either.op, either.root.value_or(-1), half_row(out_of_place_),
                       half_row(in_place_));
    if (timestamps_) text += fmt::format("  {}", either.finished_at);
    text += '\n';
  }
  const bool same = out_of_place_ && in_place_ && out_of_place_->status == RowStatus::Skipped &&
                    out_of_place_->reason == in_place_->reason;
  if (!same && out_of_place_) text += remark(*out_of_place_, " out of place");
  if (in_place_) text += remark(*in_place_, same ? "" : " in place");
  print(text);
  out_of_place_.reset();
  in_place_.reset();
}

void ConsoleTable::end(const RunSummary& summary) {
  std::string text;
  if (over_budget_ > 0) {
    text += fmt::format(
        "# {} of {} measurements ended with their time budget before the interval was "
        "narrow enough; --time-budget gives them longer\n",
        over_budget_, measured_);
  }
  text += fmt::format("# Out of bounds values : {} {}\n", summary.wrong_rows,
                      summary.wrong_rows == 0 ? "OK" : "FAILED");
  text += fmt::format("# Avg bus bandwidth    : {:g} \n#\n", summary.mean_busbw_GBps);
  print(text + fmt::format("# Collective test concluded: {}_perf\n#\n", nccl_name_));
}

}  // namespace busbar

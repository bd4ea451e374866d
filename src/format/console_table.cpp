// SPDX-License-Identifier: BSD-3-Clause
#include "format/console_table.hpp"

#include "base/text.hpp"
#include "format/csv_reader.hpp"
#include "format/table.hpp"
#include "stats/summary.hpp"

namespace busbar {

void LateCount::add(const Record& record) {
  if (record.time_median_us) ++measured_;
  if (record.last_host.empty()) return;
  const std::string who = record.last_rank
                              ? fmt::format("rank {} on {}", *record.last_rank, record.last_host)
                              : record.last_host;
  Late& late = late_[who];
  ++late.measurements;
  late.most_us = std::max(late.most_us, record.late_by_us.value_or(0));
}

std::string LateCount::text() const {
  if (late_.empty()) return {};
  return "last to arrive: " + join_each(late_, "; ", [&](const auto& each) {
           const auto& [who, late] = each;
           return fmt::format("{} in {} of {} measurements, late by up to {:.{}f} us", who,
                              late.measurements, measured_, late.most_us,
                              late.most_us < 100 ? 1 : 0);
         });
}

namespace {

/// By the numbers of -z.
constexpr std::array kBlocking{"", "wait and barrier after each operation, both timed",
                               "wait after each operation",
                               "barrier before each operation, not timed"};

std::string count_text(const std::optional<std::uint64_t>& count) {
  return count ? fmt::format("{}", *count) : "auto";
}

std::string step_text(const Sweep& sweep) {
  return sweep.factor > 1 ? fmt::format("{}(factor)", sweep.factor)
                          : fmt::format("{}(bytes)", sweep.step);
}

/// A line of nccl-tests' head for each rank; a simulation leaves out those of a long list's middle.
std::string device_lines(const std::vector<RankDevice>& devices) {
  std::string text;
  int next = 0;
  for (const RankDevice& one : devices) {
    if (one.rank > next) text += fmt::format("#  ... {} ranks more\n", one.rank - next);
    next = one.rank + 1;
    text += fmt::format("#  Rank {:>2} Group {:>2} Pid {:>6} on {:>10} device {:>2} [{}] {}\n",
                        one.rank, one.group, one.pid, one.host, one.device, one.address, one.name);
  }
  return text;
}

using Number = std::optional<double>;

std::string time_text(const Number& time_us) { return time_us ? figure_text(*time_us) : ""; }

/// "1.97 [1.90, 2.04]"; "-" of what came to a halt.
std::string factor_text(const Number& factor, const Number& low, const Number& high) {
  if (!factor) return "-";
  const std::string interval = low ? fmt::format(" [{:.2f}, {:.2f}]", *low, *high) : "";
  return fmt::format("{:.2f}{}", *factor, interval);
}

/// Nothing is said of what an interval around 1 leaves open.
std::string finding(const Number& low, const Number& high) {
  if (low && *low > 1) return "slower";
  return high && *high < 1 ? "quicker" : "no difference shown";
}

std::vector<std::string> cells(const Record& r, bool with_load) {
  std::vector<std::string> cells{
      r.mix,
      r.collective,
      format_bytes(r.size) + (r.in_place ? " in place" : ""),
      time_text(r.alone_time_us),
      time_text(r.time_mean_us),
      factor_text(r.slowdown, r.slowdown_low, r.slowdown_high),
      finding(r.slowdown_low, r.slowdown_high),
      time_text(r.alone_p99_us),
      time_text(r.time_p99_us),
      factor_text(r.slowdown_p99, r.slowdown_p99_low, r.slowdown_p99_high),
      finding(r.slowdown_p99_low, r.slowdown_p99_high)};
  if (with_load) {
    cells.push_back(factor_text(r.load_slowdown, r.load_slowdown_low, r.load_slowdown_high));
  }
  return cells;
}

/// Rates of pairs of ranks as a square: who sends is a line, who receives a column.
std::string pair_matrix(Bytes size, const std::map<std::pair<int, int>, double>& rates) {
  if (rates.empty()) return {};
  int last = 0;
  for (const auto& [pair, rate] : rates) last = std::max({last, pair.first, pair.second});
  std::string text = fmt::format(
      "#\n# GB/s one way at {}, from the line's rank to the column's\n#     ", format_bytes(size));
  for (int to = 0; to <= last; ++to) text += fmt::format(" {:>7}", to);
  for (int from = 0; from <= last; ++from) {
    text += fmt::format("\n# {:>4}", from);
    for (int to = 0; to <= last; ++to) {
      const auto known = rates.find({from, to});
      text += known == rates.end() ? fmt::format(" {:>7}", "-")
                                   : fmt::format(" {:>7.2f}", known->second);
    }
  }
  return text + "\n#\n";
}

/// What rows and what ran beside them did to each other: a line for each.
std::string together_table(const std::vector<Record>& rows) {
  if (rows.empty()) return {};
  const bool with_load = any_has(rows, "beside load", &Record::mix);
  Table table{.columns = {with_load ? "beside" : "group", "operation", "size", "alone us",
                          "together us", "slowdown", "mean", "alone p99 us", "together p99 us",
                          "slowdown", "p99"}};
  if (with_load) table.columns.push_back("slowdown of the load");
  for (const Record& row : rows) table.rows.push_back(cells(row, with_load));
  return "#\n" + as_comments("# ", plain_table(table)) + "#\n";
}

std::string_view what(RowStatus status) {
  if (status == RowStatus::Skipped) return "skipped";
  return status == RowStatus::Wrong ? "wrong data" : "broke off";
}

}  // namespace

std::string console_time(double time_us) {
  if (time_us < 9999.995) return fmt::format("{:.2f}", time_us);
  if (time_us < 99999.95) return fmt::format("{:.1f}", time_us);
  return fmt::format("{:.0f}", time_us);
}

ConsoleTable::ConsoleTable(std::FILE* stream, HalfJoiner::Halves halves)
    : stream_(stream), halves_(halves) {}

/// Four words of one placement; "N/A" where it has no value. -I adds four.
std::string ConsoleTable::half_row(const std::optional<Row>& half) const {
  const std::string extra = per_operation(half ? half->samples_us : std::span<const double>{});
  if (!half || !half->record.time_median_us) {
    return fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}{}", "N/A", "N/A", "N/A", "N/A", extra);
  }
  const Record& record = half->record;
  const double time_us =
      (context_.enqueue_times ? record.enqueue_time_us : record.time_median_us).value_or(0);
  const std::string wrong =
      record.wrong ? fmt::format("{:g}", static_cast<double>(*record.wrong)) : "N/A";
  return fmt::format("  {:>7}  {:>6.2f}  {:>6.2f}  {:>6}{}", console_time(time_us),
                     record.algbw_GBps.value_or(0), record.busbw_GBps.value_or(0), wrong, extra);
}

/// -I: shortest, longest, 99th percentile and variation of the samples after the first -K.
std::string ConsoleTable::per_operation(std::span<const double> samples_us) const {
  if (!context_.skipped) return {};
  const auto left = samples_us.subspan(std::min<std::size_t>(*context_.skipped, samples_us.size()));
  const auto summary = stats::summarize(left);
  if (!summary) return fmt::format("  {:>7}  {:>7}  {:>7}  {:>6}", "N/A", "N/A", "N/A", "N/A");
  return fmt::format("  {:>7}  {:>7}  {:>7}  {:>6.2f}", console_time(summary->min),
                     console_time(summary->max), console_time(summary->p99),
                     100 * summary->deviation / summary->mean);
}

std::string ConsoleTable::title_lines() const {
  const bool extra = context_.skipped.has_value();
  const int width = extra ? 66 : 31;
  const std::string more = extra ? " (+ per-iteration)" : "";
  std::string names =
      fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", "time", "algbw", "busbw", "#wrong");
  std::string units = fmt::format("  {:>7}  {:>6}  {:>6}  {:>6}", "(us)", "(GB/s)", "(GB/s)", "");
  if (extra) {
    names += fmt::format("  {:>7}  {:>7}  {:>7}  {:>6}", "i_min", "i_max", "i_p99", "i_cv%");
    units += fmt::format("  {:>7}  {:>7}  {:>7}  {:>6}", "(us)", "(us)", "(us)", "(%)");
  }
  constexpr const char* kLine = "# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}{}{}{}\n";
  const auto title = [&](const std::string& half) {
    return fmt::format("  {:^{}}", half + more, width);
  };
  return "#\n" +
         fmt::format(kLine, "", "", "", "", "", title("out-of-place"), title("in-place"), "") +
         fmt::format(kLine, "size", "count", "type", "redop", "root", names, names,
                     context_.timestamps ? "  timestamp" : " ") +
         fmt::format(kLine, "(B)", "(elements)", "", "", "", units, units, " ");
}

void ConsoleTable::print(const std::string& line) {
  const bool written = std::fputs(line.c_str(), stream_) >= 0 && std::fflush(stream_) == 0;
  if (!written) throw system_failure("cannot write the table to standard output", errno);
}

void ConsoleTable::begin(const RunContext& context) {
  context_ = context;
  std::string text = fmt::format("# Collective test starting: {}_perf\n", context_.nccl_name);
  text += fmt::format(
      "# nThread 1 nGpus 1 minBytes {} maxBytes {} step: {} warmup iters: {} iters: {} agg iters: "
      "{} validation: {} graph: {} unalign: {}\n",
      context.sweep.first, context.sweep.last, step_text(context.sweep), count_text(context.warmup),
      count_text(context.operations), context.aggregated, context.checks, context.graph,
      context.unalign);
  const char* blocking = kBlocking.at(static_cast<std::size_t>(context.blocking));
  if (context.blocking != 0) text += fmt::format("# Blocking Enabled: {}\n", blocking);
  for (const std::string& note : context.notes) text += fmt::format("# {}\n", one_line(note));
  print(text + "#\n# Using devices\n" + device_lines(context.devices) + title_lines());
}

void ConsoleTable::write(const Row& row) {
  const Record& record = row.record;
  note(record);
  const auto line = halves_.add(row);
  if (!line) return;
  print_line(*line);
  for (const auto& half : {line->out_of_place, line->in_place}) {
    if (!half) continue;
    for (const std::string& finding : half->findings) {
      print(fmt::format("# {}\n", one_line(finding)));
    }
  }
}

void ConsoleTable::note(const Record& record) {
  late_.add(record);
  if (record.sender && record.receiver && record.busbw_GBps && record.size >= pair_size_) {
    if (record.size > pair_size_) rates_.clear();
    pair_size_ = record.size;
    rates_[{*record.sender, *record.receiver}] = *record.busbw_GBps;
  }
  if (record.slowdown) together_.push_back(record);
  if (!record.time_median_us) return;
  ++measured_;
  if (record.stop_reason == "time-budget") ++over_budget_;
  if (context_.observes_choice && record.algorithm.empty()) ++without_choice_;
}

/// What the table cannot say of a row: why it was skipped, unless an earlier row said the same, or
/// the first wrong element.
std::string ConsoleTable::remark(const Record& record, std::string_view placement) {
  if (record.reason.empty()) return {};
  const bool skipped = record.status == RowStatus::Skipped;
  if (skipped && !told_.insert(record.reason).second) return {};
  return fmt::format("# size {} type {} redop {}{}{} {}: {}\n", record.size, record.type, record.op,
                     record.root ? fmt::format(" root {}", *record.root) : "", placement,
                     what(record.status), record.reason);
}

void ConsoleTable::print_line(const RowHalves& line) {
  const auto& [out_of_place, in_place] = line;
  const Record& either = line.either();
  const std::string scope = row_scope(either, context_.has_rounds());
  std::string text = scope.empty() ? "" : fmt::format("# {}\n", scope);
  const bool any = (out_of_place && out_of_place->record.time_median_us) ||
                   (in_place && in_place->record.time_median_us);
  if (any) {
    text += fmt::format("{:>12}  {:>12}  {:>8}  {:>6}  {:>6}{}{}", either.size, either.count,
                        either.type, either.op, either.root.value_or(-1), half_row(out_of_place),
                        half_row(in_place));
    if (context_.timestamps) text += fmt::format("  {}", either.finished_at);
    text += '\n';
  }
  const bool same = out_of_place && in_place && out_of_place->record.status == RowStatus::Skipped &&
                    out_of_place->record.reason == in_place->record.reason;
  if (!same && out_of_place) text += remark(out_of_place->record, " out of place");
  if (in_place) text += remark(in_place->record, same ? "" : " in place");
  print(text);
}

void ConsoleTable::end(const RunSummary& summary) {
  std::string text;
  if (over_budget_ > 0) {
    text += fmt::format(
        "# {} of {} measurements ended with their time budget before the interval was narrow "
        "enough; --time-budget gives them longer\n",
        over_budget_, measured_);
  }
  if (without_choice_ > 0) {
    text += fmt::format(
        "# NCCL's log names no algorithm for {} of {} measurements: it has none for one rank, nor "
        "for sends and receives\n",
        without_choice_, measured_);
  }
  const std::string late = late_.text();
  if (!late.empty()) text += fmt::format("# {}\n", late);
  text += pair_matrix(pair_size_, rates_) + together_table(together_);
  if (!summary.memory_use.empty()) {
    text += fmt::format("# GPU memory usage : {}\n", summary.memory_use);
  }
  text += fmt::format("# Out of bounds values : {} {}\n", summary.wrong_rows,
                      summary.wrong_rows == 0 ? "OK" : "FAILED");
  text += fmt::format("# Avg bus bandwidth    : {:g} \n#\n", summary.mean_busbw_GBps);
  print(text + fmt::format("# Collective test concluded: {}_perf\n#\n", context_.nccl_name));
}

}  // namespace busbar

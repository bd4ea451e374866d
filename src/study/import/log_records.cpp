// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "model/fact.hpp"
#include "study/import/log_reader.hpp"

namespace busbar::study {
namespace {

constexpr double kMicrosecondGB = 1e3;  // bytes in a microsecond at 1 GB/s

/// What all rows of a table have in common once the log and the user were asked.
struct TableMeaning {
  const Collective* collective = nullptr;
  int ranks = 0;
  int nodes = 0;            ///< 0: unknown
  bool part_sizes = false;  ///< its sizes are of one rank's part
};

/// The value that is nearest to `value` among those that print as the log has it.
double as_printed(double value, const std::optional<Printed>& printed) {
  if (!printed) return value;
  return std::clamp(value, printed->value - printed->half_unit,
                    printed->value + printed->half_unit);
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
  const double limit = error_limit(record.type);
  if (half.wrong) {
    record.wrong = static_cast<std::uint64_t>(std::llround(std::min(*half.wrong, kMostWrong)));
  }
  if (record.wrong > 0U) record.reason = fmt::format("the log counts {} wrong", *record.wrong);
  if (half.error > limit) {
    record.reason = fmt::format("the log's error is {:g}, above {:g}", *half.error, limit);
  }
  if (!record.reason.empty()) record.status = RowStatus::Wrong;
}

void set_bandwidth(Record& record, const LogHalf& half, const TableMeaning& meaning) {
  const auto rate = rate_range(record.size, half);
  if (!rate) return;
  if (!half.time_us) {
    // -C: the printed time is the processor's; wall time is only in the bandwidth.
    const double mean = (rate->low + rate->high) / 2;
    record.time_median_us = static_cast<double>(record.size) / (mean * kMicrosecondGB);
    record.time_mean_us = record.time_median_us;
    add_flag(record, Flag::TimeFromBandwidth);
  }
  const double factor = meaning.collective->bus_factor(meaning.ranks);
  const double algbw = static_cast<double>(record.size) / (*record.time_median_us * kMicrosecondGB);
  // Until June 2020 all-gather and reduce-scatter had the bus factor in it.
  const bool is_rate = !half.algbw_GBps || can_be(*half.algbw_GBps, *rate, 1);
  record.algbw_GBps = is_rate ? as_printed(algbw, half.algbw_GBps) : algbw;
  if (factor <= 0) return;
  const bool fits = !half.busbw_GBps || can_be(*half.busbw_GBps, *rate, factor);
  record.busbw_GBps = fits ? as_printed(algbw * factor, half.busbw_GBps) : algbw * factor;
  if (!fits) add_flag(record, Flag::BandwidthDiffers);
}

/// Half a row as a record of ours; its size is nccl-tests' own.
Record record_of(const LogTable& table, const LogRow& row, const LogHalf& half,
                 const TableMeaning& meaning) {
  Record record{.collective = std::string(meaning.collective->name),
                .backend = table.backend,
                .ranks = meaning.ranks,
                .nodes = row.nodes.value_or(meaning.nodes),
                .type = std::string(our_type(row.type)),
                .op = meaning.collective->reduces ? row.op : "none",
                .in_place = half.in_place,
                .size = row.size * static_cast<Bytes>(meaning.part_sizes ? meaning.ranks : 1),
                .count = row.count,
                .cadence = table.cadence,
                .operations = row.operations ? row.operations : table.operations,
                .time_min_us = half.min_us,
                .time_p99_us = half.p99_us,
                .time_max_us = half.max_us,
                .warmup_operations = table.warmup,
                .aggregation = table.aggregation,
                .finished_at = row.finished_at,
                .sender = row.sender,
                .receiver = row.receiver,
                .algorithm = row.choice.algorithm,
                .protocol = row.choice.protocol,
                .channels = row.choice.channels};
  if (record.op.empty() && meaning.collective->reduces) record.op = "sum";
  if (row.root && *row.root >= 0) record.root = row.root;
  if (const Bytes element = size_of_type(row.type); record.count == 0 && element > 0) {
    record.count = row.size / element;
  }
  add_flag(record, Flag::Imported);
  if (!table.medians) add_flag(record, Flag::Mean);
  for (const Flag flag : table.flags) add_flag(record, flag);
  if (half.time_us) record.time_median_us = half.time_us->value;
  if (!table.medians) record.time_mean_us = record.time_median_us;
  if (half.cpu_time_us) record.enqueue_time_us = half.cpu_time_us->value;
  set_check(record, half);
  set_bandwidth(record, half, meaning);
  return record;
}

std::string devices_of(const LogTable& table) {
  std::map<std::string, int> names;
  for (const LogDevice& device : table.devices) ++names[device.name];
  names.erase("");
  return join_each(names, ", ",
                   [](const auto& one) { return fmt::format("{} x {}", one.second, one.first); });
}

std::string hosts_of(const LogTable& table) {
  Words hosts;
  for (const LogDevice& device : table.devices) add_new(hosts, device.host);
  return join(hosts, " ");
}

std::string settings_of(const LogTable& table) {
  return join_each(table.settings, " ",
                   [](const auto& one) { return one.first + '=' + one.second; });
}

/// The facts in logs: where they are from, tool, library, devices, hosts, command, settings; "a; b"
/// where several differ.
HeaderFacts facts_of(std::span<const LogFile> logs) {
  using Get = std::string (*)(const LogTable& table);
  const std::array<std::pair<Fact, Get>, 7> of_tables{
      {{fact::kTool, [](const LogTable& table) { return table.tool; }},
       {fact::kLibrary, [](const LogTable& table) { return table.library; }},
       {fact::kDevices, devices_of},
       {fact::kHosts, hosts_of},
       {fact::kCommand, [](const LogTable& table) { return table.command; }},
       {fact::kSettings, settings_of},
       {fact::kMatrix, [](const LogTable& table) { return table.matrix; }}}};
  Words paths;
  for (const LogFile& log : logs) add_new(paths, log.path);
  HeaderFacts facts;
  if (!paths.empty()) facts.emplace_back(key(fact::kImportedFrom), join(paths, "; "));
  for (const auto& [fact, get] : of_tables) {
    Words values;
    for (const LogFile& log : logs) {
      for (const LogTable& table : log.tables) add_new(values, get(table));
    }
    if (!values.empty()) facts.emplace_back(key(fact), join(values, "; "));
  }
  return facts;
}

constexpr Bytes kMostBytes = Bytes{1} << 53U;

class LogConverter {
 public:
  LogConverter(const LogFile& log, const LogReading& reading, ImportedRows& rows)
      : log_(log), reading_(reading), rows_(rows) {}

  void convert(const LogTable& table) {
    const Collective& collective = find_collective_of(table);
    std::map<int, std::vector<LogRow>> parts;  // by the nodes that --columns may name
    for (const LogRow& row : table.rows) parts[row.nodes.value_or(0)].push_back(row);
    for (const auto& [nodes, rows] : parts) convert(table, collective, rows);
    check_mean(table);
    check_devices(table);
  }

 private:
  [[nodiscard]] std::string place(std::size_t line) const {
    return fmt::format("{}:{}", log_.path, line);
  }
  template <class... Args>
  void warn(fmt::format_string<Args...> text, Args&&... args) {
    rows_.warnings.push_back(fmt::format(text, std::forward<Args>(args)...));
  }

  /// The collective, with a line for the user where the log does not name it.
  const Collective& find_collective_of(const LogTable& table) {
    const TableCollective found =
        collective_of(table, place(table.line), reading_.collective, reading_.ranks);
    if (found.inferred) {
      warn("{}: the log does not name its collective; its rows are those of {} alone: {}",
           place(table.line), found.collective->name, found.source);
    }
    if (!found.source.empty()) {
      const std::string how = found.inferred ? "its rows: " + found.source : found.source;
      rows_.facts.emplace_back(key(fact::kCollectiveFrom),
                               fmt::format("{} by {}", found.collective->name, how));
    }
    return *found.collective;
  }

  int ranks_of(const LogTable& table, const Collective& collective, std::span<const LogRow> rows) {
    if (rows.front().sender || rows.front().receiver) return table.ranks.value_or(2);
    if (reading_.ranks) {
      check_given(collective, rows);
      return *reading_.ranks;
    }
    if (const auto listed = listed_ranks(table)) {
      check_listed(*listed, collective, rows);
      return *listed;
    }
    const auto stated = stated_ranks(table);
    const bool informative = collective.bus_factor(2) != collective.bus_factor(3);
    const RanksAllowed allowed = informative ? ranks_allowed(rows, collective) : RanksAllowed{};
    const bool one = allowed.least > 0 && allowed.least == allowed.most;
    if (stated && !one) return *stated;
    const std::string said =
        stated ? fmt::format("{}: the list of devices is not whole, and ends with rank {}",
                             place(rows.front().line), *stated - 1)
               : fmt::format("{}: the log does not say how many ranks took part",
                             place(rows.front().line));
    if (allowed.least == 0) throw usage_error(said + "; give --ranks N");
    if (!one) {
      throw usage_error("{}, and its bandwidths allow {} to {}; give --ranks N", said,
                        allowed.least, allowed.most);
    }
    if (stated == allowed.least) return *stated;
    warn("{}; by its bus bandwidths over size and time {} did take part", said, allowed.least);
    return allowed.least;
  }
  /// Groups of ranks (NCCL_TESTS_SPLIT) are listed as one: their rows have the factor of fewer.
  void check_listed(int ranks, const Collective& collective, std::span<const LogRow> rows) const {
    if (!contradicts(rows, collective.bus_factor(ranks))) return;
    const RanksAllowed allowed = ranks_allowed(rows, collective);
    if (allowed.least == 0) return;
    throw usage_error(
        "{}: the log lists {}, and the bus bandwidths of its rows are those of {} of {}; give "
        "--ranks N",
        place(rows.front().line), counted(ranks, "rank"), collective.name,
        allowed.least == allowed.most ? fmt::format("{}", allowed.least)
                                      : fmt::format("{} to {}", allowed.least, allowed.most));
  }
  void check_given(const Collective& collective, std::span<const LogRow> rows) const {
    const double factor = collective.bus_factor(*reading_.ranks);
    for (const LogRow& row : rows) {
      for (const LogHalf& half : row.halves) {
        const auto rate = rate_range(row.size, half);
        if (!rate || !half.busbw_GBps || can_be(*half.busbw_GBps, *rate, factor)) continue;
        throw usage_error(
            "--ranks {}: {} has a bus bandwidth of {:g} GB/s, and {} of that many ranks would have "
            "{:.2f}",
            *reading_.ranks, place(row.line), half.busbw_GBps->value, collective.name,
            (rate->low + rate->high) / 2 * factor);
      }
    }
  }

  [[nodiscard]] int nodes_of(const LogTable& table, int ranks) const {
    if (reading_.nodes) return *reading_.nodes;
    const auto hosts = set_of(table.devices, &LogDevice::host);
    const bool complete = table.all_hosts || std::cmp_greater_equal(table.devices.size(), ranks);
    return complete ? static_cast<int>(hosts.size()) : 0;
  }

  void convert(const LogTable& table, const Collective& collective, std::span<const LogRow> rows) {
    TableMeaning meaning{.collective = &collective, .ranks = ranks_of(table, collective, rows)};
    if (meaning.ranks == 1) warn("{}: {}", place(rows.front().line), kOneRank);
    meaning.nodes = nodes_of(table, meaning.ranks);
    const bool nccl_tests = table.rows.front().halves.front().algbw_GBps.has_value();
    meaning.part_sizes = collective.others_size_part && !nccl_tests;
    std::vector<std::size_t> differing;
    for (const LogRow& row : rows) {
      if (row.size > kMostBytes / static_cast<Bytes>(meaning.ranks)) {
        throw usage_error("{}: no message has {} bytes", place(row.line), row.size);
      }
      for (const LogHalf& half : row.halves) {
        rows_.records.push_back(record_of(table, row, half, meaning));
        if (has_flag(rows_.records.back(), Flag::BandwidthDiffers)) differing.push_back(row.line);
      }
    }
    if (!differing.empty()) {
      warn(
          "{}: bus bandwidths of {} are not size over time times the factor for {}; "
          "they are recomputed and flagged bandwidth-differs",
          place(differing.front()), counted(differing.size(), "value"),
          counted(meaning.ranks, "rank"));
    }
  }

  /// The footer's mean is over all rows: another mean shows that rows are missing.
  void check_mean(const LogTable& table) {
    if (!table.mean_busbw_GBps) return;
    double sum = 0;
    double slack = 0;
    std::size_t count = 0;
    for (const LogRow& row : table.rows) {
      for (const LogHalf& half : row.halves) {
        if (!half.busbw_GBps) return;
        sum += half.busbw_GBps->value;
        slack += half.busbw_GBps->half_unit;
        ++count;
      }
    }
    const auto values = static_cast<double>(count);
    constexpr double kDigits = 1e-5;  // the footer has six
    const double mean = *table.mean_busbw_GBps;
    if (std::abs(sum / values - mean) <= slack / values + kDigits * mean) return;
    warn(
        "{}: the footer's mean bus bandwidth is {:g} GB/s, and that of the rows "
        "{:.6g}: rows are missing or were changed",
        place(table.line), mean, sum / values);
  }
  void check_devices(const LogTable& table) {
    const auto ranks =
        set_of(table.devices, [](const LogDevice& one) { return std::pair(one.group, one.rank); });
    const auto groups = set_of(table.devices, &LogDevice::group);
    if (ranks.size() < table.devices.size()) {
      warn("{}: several tests ran side by side, each for itself: was it built without MPI?",
           place(table.line));
    }
    if (groups.size() > 1) {
      warn("{}: rows are means over {} groups of ranks", place(table.line), groups.size());
    }
  }

  const LogFile& log_;
  const LogReading& reading_;
  ImportedRows& rows_;
};

}  // namespace

ImportedRows records_of(std::span<const LogFile> logs, const LogReading& reading) {
  ImportedRows rows;
  for (const LogFile& log : logs) {
    append(rows.warnings, log.warnings);
    if (!log.gpudirect.empty()) rows.facts.emplace_back(key(fact::kGpudirectRdma), log.gpudirect);
    LogConverter converter(log, reading, rows);
    for (const LogTable& table : log.tables) converter.convert(table);
  }
  HeaderFacts facts = facts_of(logs);
  for (const auto& fact : rows.facts) {
    if (std::ranges::find(facts, fact) == facts.end()) facts.push_back(fact);
  }
  rows.facts = std::move(facts);
  return rows;
}

}  // namespace busbar::study

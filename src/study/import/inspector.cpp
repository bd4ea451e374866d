// SPDX-License-Identifier: BSD-3-Clause
// What NCCL's profiler plugin "inspector" writes: a JSON object on a line for each operation of
// each rank (its source, inspector_json.cc). A rank's time is the longest of its channels. The size
// is count times element, of an all-gather and a reduce-scatter thus of one rank's part.

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "model/collective.hpp"
#include "stats/summary.hpp"
#include "study/import/json_values.hpp"
#include "study/import/log_reader.hpp"

namespace busbar::study {
namespace {

constexpr int kMostInspected = 1 << 24;  // ranks

/// One rank's record.
struct InspectedOperation {
  std::string collective{};
  int ranks = 0;
  int nodes = 0;
  Bytes size = 0;
  std::string communicator{};
  std::uint64_t number = 0;  ///< of the communicator's operations
  double time_us = 0;
  std::string host{};
};

int at_most(const Json& object, const char* key, int most) {
  const auto count = json_count(object, key);
  if (!count || *count < 1 || *count > static_cast<std::uint64_t>(most)) {
    throw usage_error("{} is no number of 1 to {}", key, most);
  }
  return static_cast<int>(*count);
}

/// Nothing of a collective that is none of ours, or of an operation between two ranks.
std::optional<InspectedOperation> operation_of(const Json& record) {
  if (!record.contains("coll_perf")) return std::nullopt;
  const Json& perf = record.at("coll_perf");
  const Json& header = record.at("header");
  std::string name = perf.at("coll").get<std::string>();
  if (name == "All2All") name = "alltoall";
  const Collective* collective = find_collective(name);
  if (collective == nullptr) return std::nullopt;
  const auto size = json_count(perf, "coll_msg_size_bytes");
  const auto time = json_count(perf, "coll_exec_time_us");
  if (!size || !time) throw usage_error("no coll_msg_size_bytes or coll_exec_time_us");
  InspectedOperation operation{.collective = std::string(collective->name),
                               .ranks = at_most(header, "n_ranks", kMostInspected),
                               .size = *size,
                               .communicator = json_word(header, "id"),
                               .number = json_count(perf, "coll_sn").value_or(0),
                               .time_us = static_cast<double>(*time),
                               .host = json_word(record.at("metadata"), "hostname")};
  operation.nodes = at_most(header, "nnodes", operation.ranks);
  if (collective->counts_parts) {
    const auto ranks = static_cast<Bytes>(operation.ranks);
    if (operation.size > std::numeric_limits<Bytes>::max() / ranks)
      throw usage_error("no message has {} bytes", *size);
    operation.size *= ranks;
  }
  return operation;
}

/// All operations of a table's shape: the slowest rank's time of each, by communicator and number.
using InspectedTimes = std::map<std::pair<std::string, std::uint64_t>, double>;
using InspectedShape = std::tuple<std::string, int, int>;  // collective, ranks, nodes

/// Rows of all records of a file.
struct Inspection {
  std::map<InspectedShape, std::map<Bytes, InspectedTimes>> shapes{};
  std::set<std::string> hosts{};
  std::size_t others = 0;  ///< records that are left out

  void add(const std::optional<InspectedOperation>& operation) {
    if (!operation || operation->time_us <= 0) {
      ++others;
      return;
    }
    const auto& one = *operation;
    double& slowest =
        shapes[{one.collective, one.ranks, one.nodes}][one.size][{one.communicator, one.number}];
    slowest = std::max(slowest, one.time_us);
    if (!one.host.empty()) hosts.insert(one.host);
  }
};

LogRow row_of(Bytes size, int nodes, const InspectedTimes& times) {
  const auto values = mapped(times, [](const auto& one) { return one.second; });
  const auto [least, most] = std::ranges::minmax(values);
  const double median = stats::median(values);
  const double rate = static_cast<double>(size) / (median * 1e3);
  return {.line = 1,
          .size = size,
          .type = "float",
          .nodes = nodes,
          .operations = values.size(),
          .halves = {{.time_us = Printed{.value = median, .half_unit = 0.5},
                      .algbw_GBps = Printed{.value = rate, .half_unit = rate * 1e-9},
                      .min_us = least,
                      .max_us = most,
                      .p99_us = stats::percentile(values, 99)}}};
}

LogFile log_of(const Inspection& inspection, LogFile log) {
  std::vector<LogDevice> devices;
  for (const std::string& host : inspection.hosts) {
    devices.push_back({.rank = static_cast<int>(devices.size()), .host = host});
  }
  for (const auto& [shape, sizes] : inspection.shapes) {
    const auto& [collective, ranks, nodes] = shape;
    LogTable table{.line = 1,
                   .collective = collective,
                   .tool = "NCCL Inspector",
                   .backend = "nccl",
                   .aggregation = "max",
                   .medians = true,
                   .ranks = ranks,
                   .ended = true};
    if (std::cmp_less_equal(devices.size(), ranks)) table.devices = devices;
    for (const auto& [size, times] : sizes) table.rows.push_back(row_of(size, nodes, times));
    log.tables.push_back(std::move(table));
  }
  log.warnings.push_back(log.path +
                         ": the records have no element type; rows are of float, as nccl-tests' "
                         "are by default");
  if (inspection.others > 0) {
    log.warnings.push_back(
        fmt::format("{}: {} of no time, between two ranks or of other collectives are left out",
                    log.path, counted(inspection.others, "record")));
  }
  return log;
}

}  // namespace

LogFile read_inspector_json(std::string_view text, const std::string& path,
                            const LogReading& reading) {
  LogFile log{.path = path};
  Inspection inspection;
  LogLine line;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    ++line.number;
    line.whole = end != std::string_view::npos;
    const std::string_view record = trim(text.substr(0, end));
    text.remove_prefix(line.whole ? end + 1 : text.size());
    if (record.empty()) continue;
    try {
      inspection.add(operation_of(Json::parse(record)));
    } catch (const std::exception& error) {
      const bool cut = text.empty() && !line.whole && line.number > 1;
      if (!cut) {
        bad_line(log, line,
                 fmt::format("not a record of NCCL Inspector: {}", one_line(error.what())),
                 reading);
        continue;
      }
      log.warnings.push_back(
          fmt::format("{}:{}: the last record is cut off; it is left out", path, line.number));
    }
  }
  return log_of(inspection, std::move(log));
}

}  // namespace busbar::study

// SPDX-License-Identifier: BSD-3-Clause
// Summaries that scripts make of nccl-tests' logs: an operation, a number of GPUs and the bus
// bandwidth at one size, which the user has to know.
#include <algorithm>
#include <array>
#include <cctype>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "study/import/known_collective.hpp"
#include "study/import/log_reader.hpp"

namespace busbar::study {
namespace {

constexpr std::size_t kColumns = 3;
constexpr Bytes kFloat = 4;

std::string lower(std::string_view text) {
  std::string result(trim(text));
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return result;
}

LogTable table_of(const LogLine& line, const std::vector<std::string>& cells, int ranks) {
  LogTable table{.line = line.number,
                 .collective = cells[0],
                 .tool = "nccl-tests, a summary",
                 .backend = "nccl",
                 .cadence = "streaming",
                 .aggregation = "mean",
                 .ranks = ranks,
                 .ended = true};
  return table;
}

/// The rate as the printed bus bandwidth says it; the time follows from it.
LogHalf half_of(const Printed& busbw, double factor) {
  return {
      .algbw_GBps = Printed{.value = busbw.value / factor, .half_unit = busbw.half_unit / factor},
      .busbw_GBps = busbw};
}

void read_row(LogFile& log, const LogLine& line, const LogReading& reading) {
  const std::vector<std::string> cells = split(line.text, ',');
  if (cells.size() != kColumns) {
    return bad_line(log, line, "not an operation, a number of GPUs and a rate", reading);
  }
  const KnownCollective* collective = find_collective(cells[0]);
  const auto ranks = whole_number(cells[1]);
  const auto busbw = printed_number(cells[2]);
  if (collective == nullptr) {
    return bad_line(log, line, fmt::format("'{}' is no collective", cells[0]), reading);
  }
  constexpr std::uint64_t kMostRanks = 1U << 24U;
  if (!ranks || *ranks < 1 || *ranks > kMostRanks) {
    return bad_line(log, line, fmt::format("'{}' is no number of GPUs", cells[1]), reading);
  }
  if (!busbw) return bad_line(log, line, fmt::format("'{}' is no rate", cells[2]), reading);
  const double factor = collective->bus_factor(static_cast<int>(*ranks));
  if (*ranks < 2 || busbw->value <= 0) {
    log.warnings.push_back(fmt::format("{}:{}: {} has no bus bandwidth on {}; the row is left out",
                                       log.path, line.number, collective->name,
                                       counted(*ranks, "GPU")));
    return;
  }
  log.tables.push_back(table_of(line, cells, static_cast<int>(*ranks)));
  log.tables.back().rows.push_back({.line = line.number,
                                    .size = *reading.size,
                                    .count = *reading.size / kFloat,
                                    .type = "float",
                                    .halves = {half_of(*busbw, factor)}});
}

}  // namespace

bool is_summary(std::span<const LogLine> lines) {
  if (lines.empty()) return false;
  const std::string names = lower(lines.front().text);
  constexpr std::array<std::string_view, 2> kNames{"op,gpu,bandwidth", "op,gpus,busbw"};
  return std::find(kNames.begin(), kNames.end(), names) != kNames.end();
}

LogFile read_summary_text(std::span<const LogLine> lines, const std::string& path,
                          const LogReading& reading) {
  if (!reading.size) {
    throw usage_error(fmt::format(
        "{}:1: a summary of rates does not say of which size they are; give --size SIZE", path));
  }
  LogFile log{.path = path};
  for (const LogLine& line : lines.subspan(1)) {
    if (!trim(line.text).empty()) read_row(log, line, reading);
  }
  return log;
}

}  // namespace busbar::study

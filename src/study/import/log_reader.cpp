// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/log_reader.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"

namespace busbar::study {
namespace {

bool any_line(std::span<const LogLine> lines, std::string_view start) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const LogLine& line) { return line.text.starts_with(start); });
}

LogFile read_any(std::string_view text, const std::string& path, const LogReading& reading) {
  if (trim(text).starts_with('{')) {
    const bool nvbandwidth = text.find("\"nvbandwidth\"") != std::string_view::npos;
    return nvbandwidth ? read_nvbandwidth_json(text, path, reading) : read_nccl_json(text, path);
  }
  const std::vector<LogLine> lines = log_lines(text);
  if (any_line(lines, "# OSU ")) return read_osu_text(lines, path, reading);
  if (any_line(lines, "# Benchmarking ")) return read_imb_text(lines, path, reading);
  if (any_line(lines, "[P2P (Peer-to-Peer) GPU Bandwidth") ||
      any_line(lines, "Unidirectional P2P=")) {
    return read_p2p_text(lines, path, reading);
  }
  if (any_line(lines, "Running device_to_device") || any_line(lines, "nvbandwidth Version")) {
    return read_nvbandwidth_text(lines, path, reading);
  }
  if (is_summary(lines)) return read_summary_text(lines, path, reading);
  return read_nccl_text(lines, path, reading);
}

/// A table of commas without blanks, as scripts write that boil logs down.
bool is_foreign_summary(std::string_view text) {
  const std::string_view first = trim(text.substr(0, text.find('\n')));
  return std::count(first.begin(), first.end(), ',') >= 2 &&
         first.find(' ') == std::string_view::npos;
}

}  // namespace

void bad_line(LogFile& log, const LogLine& line, std::string_view why, const LogReading& reading) {
  const std::string message = fmt::format("{}:{}: {}", log.path, line.number, why);
  if (!reading.skip_bad_lines) {
    throw usage_error(
        fmt::format("{}; mend the line, or go on without it by --skip-bad-lines", message));
  }
  log.warnings.push_back(message + "; the line is skipped");
}

LogFile read_log(std::string_view text, const std::string& path, const LogReading& reading) {
  LogFile log = read_any(text, path, reading);
  std::erase_if(log.tables, [](const LogTable& table) { return table.rows.empty(); });
  const bool no_matrix = log.tables.empty() || log.tables.front().matrix.empty();
  if (!reading.matrix.empty() && no_matrix) {
    throw usage_error(fmt::format("--matrix: {} has no matrix of pairs", path));
  }
  if (!log.tables.empty()) return log;
  if (is_foreign_summary(text)) {
    throw usage_error(fmt::format(
        "{}:1: a summary with neither sizes nor times of rows; import the log that it was made of",
        path));
  }
  throw usage_error(
      fmt::format("{}: no row of nccl-tests, OSU or IMB, and no matrix of pairs; where rows have "
                  "columns of their own, name them by "
                  "--columns",
                  path));
}

}  // namespace busbar::study

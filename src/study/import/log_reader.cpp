// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/log_reader.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "model/collective.hpp"

// Summaries that scripts make of nccl-tests' logs: an operation, a number of GPUs and the bus
// bandwidth at one size, which the user has to know; or an operation, a size ("packet") and the bus
// bandwidth on one number of GPUs, which again the user has to know.
namespace busbar::study {
namespace {

bool begins_with_any(const LogLine& line, std::initializer_list<View> starts) {
  return std::ranges::any_of(starts, [&](View start) { return line.text.starts_with(start); });
}

bool is_mpi(const LogLine& line) { return begins_with_any(line, {"# OSU ", "# Benchmarking "}); }

bool is_of_copies(const LogLine& line) {
  return begins_with_any(
      line, {"[P2P (Peer-to-Peer) GPU Bandwidth", "Unidirectional P2P=", "Running device_to_",
             "Running host_to_", "nvbandwidth Version", "nvloom_cli "});
}

/// By its command or the names of its columns.
bool is_nccl(const LogLine& line) {
  const Words words = split_words(line.text);
  return columns_of(words) || std::ranges::any_of(words, names_test);
}

/// A format of text by a line that only its logs have; others are summaries or nccl-tests'.
struct TextFormat {
  bool (*is_line)(const LogLine& line);
  LineReader* read;
};
constexpr std::array<TextFormat, 4> kTextFormats{{{is_mpi, read_mpi_text},
                                                  {is_of_copies, read_pairs_text},
                                                  {is_perftest, read_perftest_text},
                                                  {is_nccl, read_nccl_text}}};

/// Of each tool what it printed: another's begins behind the last row before its first line.
LogFile read_tools(std::span<const LogLine> lines, const std::string& path,
                   const LogReading& reading) {
  LogFile log{.path = path};
  const TextFormat* open = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;  // behind the last row, or line of a format
  const auto read = [&](std::size_t behind) {
    LineReader* read_lines = open == nullptr ? read_nccl_text : open->read;
    LogFile part = read_lines(lines.subspan(begin, behind - begin), path, reading);
    append(log.tables, part.tables);
    append(log.warnings, part.warnings);
    begin = behind;
  };
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto* format = std::ranges::find_if(
        kTextFormats, [&](const TextFormat& one) { return one.is_line(lines[i]); });
    const bool found = format != kTextFormats.end();
    if (found && open != nullptr && open != format) read(end);
    if (found) open = format;
    if (found || trim(lines[i].text).find_first_of("0123456789") == 0) end = i + 1;
  }
  read(lines.size());
  return log;
}

/// Takes a row of a summary; its time follows from the bus bandwidth.
void read_summary_row(LogFile& log, const LogLine& line, bool by_ranks, const LogReading& reading) {
  const Words cells = split(line.text, ',');
  const auto refuse = [&](const std::string& why) { bad_line(log, line, why, reading); };
  if (cells.size() != 3) return refuse("not an operation, a number and a rate");
  const Collective* collective = find_collective(cells[0]);
  if (collective == nullptr) return refuse(fmt::format("'{}' is not a collective", cells[0]));
  constexpr std::uint64_t kMostGpus = 1U << 24U;
  const auto number = to_number<std::uint64_t>(cells[1]);
  if (!number || (by_ranks && (*number < 1 || *number > kMostGpus))) {
    return refuse(fmt::format("'{}' is not a number of {}", cells[1], by_ranks ? "GPUs" : "bytes"));
  }
  const auto busbw = printed_number(cells[2]);
  if (!busbw) return refuse(fmt::format("'{}' is not a rate", cells[2]));
  const int ranks = by_ranks ? static_cast<int>(*number) : *reading.ranks;
  const Bytes size = by_ranks ? *reading.size : *number;
  if (ranks < 2 || size == 0 || busbw->value <= busbw->half_unit) {
    log.warnings.push_back(
        fmt::format("{}:{}: {} of {} has no bus bandwidth on {}; the row is left out", log.path,
                    line.number, collective->name, format_bytes(size), counted(ranks, "GPU")));
    return;
  }
  const double factor = collective->bus_factor(ranks);
  const Printed algbw{.value = busbw->value / factor, .half_unit = busbw->half_unit / factor};
  log.tables.push_back({.line = line.number,
                        .collective = cells[0],
                        .tool = "nccl-tests, a summary",
                        .backend = "nccl",
                        .aggregation = "mean",
                        .ranks = ranks,
                        .rows = {{.line = line.number,
                                  .size = size,
                                  .type = "float",
                                  .halves = {{.algbw_GBps = algbw, .busbw_GBps = busbw}}}}});
}

/// Nothing where the first line names no columns of a summary.
std::optional<LogFile> read_summary(std::span<const LogLine> lines, const std::string& path,
                                    const LogReading& reading) {
  const std::string names = lines.empty() ? "" : lower(lines.front().text);
  const bool by_ranks = names == "op,gpu,bandwidth" || names == "op,gpus,busbw";
  if (!by_ranks && names != "op,packet,bandwidth") return std::nullopt;
  if (by_ranks && !reading.size) {
    throw usage_error("{}:1: a summary of rates without their size; give --size SIZE", path);
  }
  if (!by_ranks && !reading.ranks) {
    throw usage_error("{}:1: a summary of rates without the number of ranks; give --ranks N", path);
  }
  LogFile log{.path = path};
  for (const LogLine& line : lines.subspan(1)) {
    if (!line.text.empty()) read_summary_row(log, line, by_ranks, reading);
  }
  return log;
}

LogFile read_any(View text, const std::string& path, const LogReading& reading) {
  const auto has = [&](View part) { return text.find(part) != View::npos; };
  if (has("\"coll_perf\"") || has("\"p2p_perf\"") || has("\"test_info\"") || has("count(elems)")) {
    throw usage_error(
        "{}: logs of NCCL Inspector and nccom-test and perftest's JSON are no longer read; busbar "
        "import --help has the tools whose logs are",
        path);
  }
  if (trim(text).starts_with('{')) {
    return has("\"nvbandwidth\"") ? read_nvbandwidth_json(text, path, reading)
                                  : read_nccl_json(text, path);
  }
  const std::vector<LogLine> lines = log_lines(text);
  const auto summary = read_summary(lines, path, reading);
  return summary ? *summary : read_tools(lines, path, reading);
}

/// Whether all connections over a network use GPUDirect RDMA, and how many do; empty where NCCL
/// lists none.
std::string gpudirect_in(View text) {
  constexpr View kNetwork = " via NET/";
  std::size_t all = 0;
  std::size_t direct = 0;
  for (auto at = text.find(kNetwork); at != View::npos; at = text.find(kNetwork, at + 1)) {
    const View line = text.substr(at, text.find('\n', at) - at);
    ++all;
    if (line.find("/GDRDMA") != View::npos) ++direct;
  }
  if (all == 0) return {};
  return fmt::format("{}, {} of {} connections", direct == all ? "yes" : "no", direct, all);
}

}  // namespace

void bad_line(LogFile& log, const LogLine& line, View why, const LogReading& reading) {
  const std::string message = fmt::format("{}:{}: {}", log.path, line.number, why);
  if (!reading.skip_bad_lines) {
    throw usage_error("{}; fix the line, or skip it with --skip-bad-lines", message);
  }
  log.warnings.push_back(message + "; the line is skipped");
}

LogFile read_log(View text, const std::string& path, const LogReading& reading) {
  LogFile log = read_any(text, path, reading);
  log.gpudirect = gpudirect_in(text);
  std::erase_if(log.tables, [](const LogTable& table) { return table.rows.empty(); });
  const auto has_matrix = [](const LogTable& table) { return !table.matrix.empty(); };
  if (!reading.matrix.empty() && std::ranges::none_of(log.tables, has_matrix)) {
    throw usage_error("--matrix: {} has no matrix of pairs", path);
  }
  if (!log.tables.empty()) return log;
  // A table of commas without blanks, as scripts write that boil logs down.
  const View first = trim(text.substr(0, text.find('\n')));
  if (std::ranges::count(first, ',') >= 2 && first.find(' ') == View::npos) {
    throw usage_error(
        "{}:1: a summary with neither sizes nor times of rows; import the log that it was made of",
        path);
  }
  const std::string hidden = hidden_row(log_lines(text));
  throw usage_error("{}: no row of a tool that busbar import reads; {}", path,
                    hidden.empty()
                        ? "where rows have columns of their own, busbar import --columns names them"
                        : hidden + ": take it off, as sed does");
}

}  // namespace busbar::study

// SPDX-License-Identifier: BSD-3-Clause
// What nccom-test of AWS Neuron prints, and writes by --report-to-json-file: its user guide. Sizes
// are of the whole message. Older versions compute bandwidths in GiB/s, newer ones in GB/s; sizes
// and times show which.

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "study/import/json_values.hpp"
#include "study/import/log_reader.hpp"
#include "study/import/nccl_text.hpp"
#include "study/import/table_collective.hpp"

namespace busbar::study {
namespace {

/// "time" of "time:avg(us)".
std::string_view column_name(std::string_view title) {
  return title.substr(0, title.find_first_of(":("));
}

/// time(us) is the median; time:avg(us) is not.
bool is_median(std::string_view title) {
  return title == "time(us)" || title.find("p50") != std::string_view::npos;
}

/// The operation, ranks and nodes of a command; others are passed over.
void read_command(LogTable& table, const std::vector<std::string>& words) {
  using Names = std::pair<std::string_view, std::string_view>;
  constexpr std::array<Names, 9> kOperations{{{"allr", "all_reduce"},
                                              {"all_reduce", "all_reduce"},
                                              {"allg", "all_gather"},
                                              {"all_gather", "all_gather"},
                                              {"redsct", "reduce_scatter"},
                                              {"reduce_scatter", "reduce_scatter"},
                                              {"alltoall", "alltoall"},
                                              {"sendrecv", "sendrecv"},
                                              {"permute", "permute"}}};
  for (const std::string& word : words) {
    const auto* operation = find_by(kOperations, word, &Names::first);
    if (operation != nullptr) table.collective = operation->second;
  }
  const auto option = [&](std::string_view letter, std::string_view name) {
    const std::string word = word_after(words, letter);
    return small_number(word.empty() ? word_after(words, name) : word);
  };
  table.ranks = option("-r", "--nworkers");
  table.operations = number_after(words, "-n");
  table.command = join(words, " ");
}

/// The nodes of a command, 1 where it names none.
std::optional<int> nodes_of_command(const std::vector<std::string>& words) {
  if (words.empty()) return std::nullopt;
  const std::string nodes = word_after(words, "-N");
  return small_number(nodes.empty() ? word_after(words, "--nnodes") : nodes).value_or(1);
}

LogRow nccom_row(std::size_t line, Bytes size, const std::string& type, const LogHalf& half) {
  const bool known = is_type_name(type) || type == "int16" || type == "uint16";
  if (!known) throw usage_error("'{}' is not an element type", one_line(type));
  return {.line = line, .size = size, .type = type, .halves = {half}};
}

/// GB/s of GiB/s, where all bandwidths are size over time in GiB/s and not all in GB/s.
void convert_gibibytes(LogTable& table) {
  constexpr double kGibibyte = 1.073741824;
  const auto all_are = [&](double unit) {
    return std::ranges::all_of(table.rows, [&](const LogRow& row) {
      const LogHalf& half = row.halves.front();
      const auto rate = rate_range(row.size, half);
      return !rate || !half.algbw_GBps || can_be(*half.algbw_GBps, *rate, 1 / unit);
    });
  };
  if (all_are(1) || !all_are(kGibibyte)) return;
  for (LogRow& row : table.rows) {
    LogHalf& half = row.halves.front();
    for (auto* bandwidth : {&half.algbw_GBps, &half.busbw_GBps}) {
      if (!*bandwidth) continue;
      (*bandwidth)->value *= kGibibyte;
      (*bandwidth)->half_unit *= kGibibyte;
    }
  }
}

LogTable blank_nccom_table(std::size_t line) {
  return {.line = line, .tool = "nccom-test", .backend = "neuron", .cadence = "streaming"};
}

LogTable nccom_table(const Json& json) {
  LogTable table = blank_nccom_table(1);
  table.ended = true;
  for (const Json& result : json.at("results")) {
    LogHalf half;
    for (const auto& [title, cell] : result.items()) {
      if (column_name(title) != "time" || half.time_us) continue;
      half.time_us = json_number(result, title.c_str(), 0.005);
      table.medians = is_median(title);
    }
    half.algbw_GBps = json_number(result, "algbw(GB/s)", 0.5e-9);
    half.busbw_GBps = json_number(result, "busbw(GB/s)", 0.5e-9);
    const auto size = json_count(result, "size(B)");
    if (!half.time_us || !size) {
      throw usage_error("result {} has no size or no time", table.rows.size() + 1);
    }
    table.rows.push_back(nccom_row(table.rows.size() + 1, *size, json_word(result, "type"), half));
  }
  convert_gibibytes(table);
  return table;
}

/// A row by the titles above it. Throws a usage error without a place where a cell is none.
LogRow nccom_row(const LogLine& line, const Words& titles) {
  const Words cells = split_words(line.text);
  if (cells.size() != titles.size()) throw usage_error("not a value for each column");
  const auto cell = [&](std::string_view name) {
    const auto title = std::ranges::find(titles, name, column_name);
    return title == titles.end() ? std::string()
                                 : cells[static_cast<std::size_t>(title - titles.begin())];
  };
  const auto size = to_number<std::uint64_t>(cell("size"));
  const LogHalf half{.time_us = printed_number(cell("time")),
                     .algbw_GBps = printed_number(cell("algbw")),
                     .busbw_GBps = printed_number(cell("busbw"))};
  if (!size || !half.time_us || !half.algbw_GBps || !half.busbw_GBps) {
    throw usage_error("a value is not a number");
  }
  return nccom_row(line.number, *size, cell("type"), half);
}

/// Reads a line under the titles of a table.
void read_nccom_row(LogFile& log, const LogLine& line, const Words& titles,
                    std::optional<int> nodes, const LogReading& reading) {
  try {
    log.tables.back().rows.push_back(nccom_row(line, titles));
    log.tables.back().rows.back().nodes = nodes;
  } catch (const Error& error) {
    bad_line(log, line, error.what(), reading);
  }
}

}  // namespace

bool is_nccom(const LogLine& line) {
  return line.text.find("size(B)") != std::string::npos &&
         line.text.find("count(elems)") != std::string::npos;
}

LogFile read_nccom_text(std::span<const LogLine> lines, const std::string& path,
                        const LogReading& reading) {
  LogFile log{.path = path};
  Words command;
  Words titles;
  for (const LogLine& line : lines) {
    const Words words = split_words(line.text);
    const auto program = std::ranges::find_if(
        words, [](const std::string& word) { return word.ends_with("nccom-test"); });
    if (is_nccom(line)) {
      titles = words;
      log.tables.push_back(blank_nccom_table(line.number));
      read_command(log.tables.back(), command);
      const auto time = std::ranges::find(titles, "time", column_name);
      log.tables.back().medians = time != titles.end() && is_median(*time);
    } else if (program != words.end()) {
      command.assign(program, words.end());
      titles.clear();
    } else if (words.size() > 3 && words[0] == "Avg" && words[1] == "bus" && !titles.empty()) {
      log.tables.back().ended = true;
      titles.clear();
      command.clear();
    } else if (!titles.empty() && !words.empty() && to_number<std::uint64_t>(words.front())) {
      read_nccom_row(log, line, titles, nodes_of_command(command), reading);
    }
  }
  for (LogTable& table : log.tables) convert_gibibytes(table);
  return log;
}

LogFile read_nccom_json(std::string_view text, const std::string& path,
                        const LogReading& /*reading*/) {
  try {
    return {.path = path, .tables = {read_json(text, path, "nccom-test", nccom_table)}};
  } catch (const Error& error) {
    const std::string_view why = error.what();
    throw usage_error("{}{}", why.starts_with(path) ? "" : path + ": ", why);
  }
}

}  // namespace busbar::study

// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/file_rows.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/input_file.hpp"
#include "base/text.hpp"
#include "model/row_key.hpp"

namespace busbar::study {
namespace {

struct Test {
  const LogFile* log = nullptr;
  LogTable table{};
  std::set<RowKey> rows{};
  std::string run{};    ///< command, library and hosts: its repetitions have the same; or empty
  std::string label{};  ///< what distinguishes it from others
};

/// Rows without a head may be of several tests: one ends where a row comes again.
std::vector<LogTable> split_at_repeated_rows(const LogTable& table) {
  if (!table.devices.empty() || !table.command.empty() || table.gpus_per_process) return {table};
  std::vector<LogTable> parts;
  std::set<std::tuple<Bytes, std::string, std::string, int, int, int, int>> seen;
  for (const LogRow& row : table.rows) {
    const std::tuple key{row.size,
                         row.type,
                         row.op,
                         row.root.value_or(-1),
                         row.nodes.value_or(0),
                         row.sender.value_or(-1),
                         row.receiver.value_or(-1)};
    const bool is_new = seen.insert(key).second;
    if (parts.empty() || (!is_new && row.size > 0)) {
      LogTable part = table;
      part.line = row.line;
      part.rows.clear();
      if (!parts.empty()) parts.back().mean_busbw_GBps.reset();  // the footer's is of the last
      parts.push_back(std::move(part));
      seen = {key};
    }
    parts.back().rows.push_back(row);
  }
  return parts;
}

Test test_of(const LogFile& log, LogTable table, const LogHints& hints) {
  Test test{.log = &log};
  const LogFile alone{.path = log.path, .tables = {table}};
  for (const Record& record : records_of({&alone, 1}, hints).records) {
    if (record.size > 0) test.rows.insert(row_key(record));
  }
  if (!table.command.empty()) {
    const auto hosts = set_of(table.devices, &LogDevice::host);
    test.run = join(Words{table.command, table.library, join_all(hosts, " ")}, "\n");
  }
  if (!table.matrix.empty()) test.run = table.tool;  // which measured it several times
  test.table = std::move(table);
  return test;
}

/// Tests that have a row in common, by that row.
std::vector<std::vector<const Test*>> conflicts_in(const std::vector<Test>& tests) {
  std::map<RowKey, std::vector<const Test*>> by_row;
  for (const Test& test : tests) {
    for (const RowKey& row : test.rows) by_row[row].push_back(&test);
  }
  std::vector<std::vector<const Test*>> conflicts;
  for (auto& [row, all] : by_row) {
    const bool is_new = conflicts.empty() || conflicts.back() != all;
    if (all.size() > 1 && is_new) conflicts.push_back(std::move(all));
  }
  return conflicts;
}

/// Labels tests by their variables of NCCL and RCCL that are not those of all.
void set_labels(std::vector<Test>& tests) {
  std::map<std::string, std::size_t> counts;
  const auto variables_of = [](const Test& test) {
    Words variables;
    for (const auto& [name, value] : test.table.settings) {
      // Two of them name a launch or its log, and change nothing in it.
      const bool is_of_library = name.starts_with("NCCL_") || name.starts_with("RCCL_");
      if (!is_of_library || name == "NCCL_HOSTID" || name.starts_with("NCCL_DEBUG")) continue;
      variables.push_back(fmt::format("{}={}", name, value));
    }
    return variables;
  };
  for (const Test& test : tests) {
    for (const std::string& variable : variables_of(test)) ++counts[variable];
  }
  for (Test& test : tests) {
    Words own = variables_of(test);
    std::erase_if(own, [&](const auto& variable) { return counts[variable] == tests.size(); });
    test.label = join(own, " ");
  }
}

/// Tests that only their order distinguishes from another one with the same row.
std::set<const Test*> unknown_twins(const std::vector<std::vector<const Test*>>& conflicts) {
  std::set<const Test*> unknown;
  for (const auto& each : conflicts) {
    for (const Test* test : each) {
      const bool has_twin = std::ranges::any_of(each, [&](const Test* other) {
        const bool repeats = !test->run.empty() && other->run == test->run;
        return other != test && other->label == test->label && other->log == test->log && !repeats;
      });
      if (has_twin) unknown.insert(test);
    }
  }
  return unknown;
}

/// Puts a test into the first launch of its setting that has none of its rows.
void add_test(std::vector<LogLaunch>& launches, std::vector<std::set<RowKey>>& rows, Test test) {
  const LogFile& log = *test.log;
  int number = 1;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    if (launches[i].setting != test.label) continue;
    ++number;
    const bool is_taken =
        launches[i].log.path != log.path ||
        std::ranges::any_of(test.rows, [&](const RowKey& row) { return rows[i].contains(row); });
    if (is_taken) continue;
    launches[i].log.tables.push_back(std::move(test.table));
    rows[i].merge(test.rows);
    return;
  }
  LogLaunch launch{.setting = test.label,
                   .number = number,
                   .log = {.path = log.path, .gpudirect = log.gpudirect},
                   .repeats = true};
  const bool is_first = std::ranges::none_of(
      launches, [&](const LogLaunch& one) { return one.log.path == log.path; });
  if (is_first) launch.log.warnings = log.warnings;
  launch.log.tables.push_back(std::move(test.table));
  launches.push_back(std::move(launch));
  rows.push_back(std::move(test.rows));
}

}  // namespace

std::vector<LogLaunch> launches_of(std::span<const LogFile> logs, const LogHints& hints) {
  std::vector<Test> tests;
  for (const LogFile& log : logs) {
    for (const LogTable& table : log.tables) {
      for (LogTable& part : split_at_repeated_rows(table)) {
        tests.push_back(test_of(log, std::move(part), hints));
      }
    }
  }
  const auto conflicts = conflicts_in(tests);
  if (conflicts.empty()) {
    return mapped(logs, [](const LogFile& log) { return LogLaunch{.log = log}; });
  }
  set_labels(tests);
  const std::set<const Test*> unknown = unknown_twins(conflicts);
  std::vector<LogLaunch> launches;
  std::vector<std::set<RowKey>> rows;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    std::string& label = tests[i].label;
    if (unknown.contains(&tests[i])) {
      label += fmt::format("{}run{}", label.empty() ? "" : " ", i + 1);
    }
    add_test(launches, rows, tests[i]);
  }
  return launches;
}

std::string settings_text(std::span<const std::string> settings) {
  Words names;
  for (const std::string& setting : settings) {
    add_new(names, setting.empty() ? "no own setting" : setting);
  }
  return join(names, ", ");
}

bool is_csv(const std::string& path) {
  std::ifstream file = open_input(path);
  std::string line;
  while (std::getline(file, line) && line.starts_with('#')) {
  }
  const std::vector<std::string> names = csv_cells(line);
  const auto is_other = [](const std::string& name) {  // of samples, verdicts and baselines
    return name == "sample" || name == "rule" || name == "instance";
  };
  return contains(names, "collective") && contains(names, "size_bytes") &&
         std::ranges::none_of(names, is_other);
}

std::vector<FileRows> read_launches(const std::string& path, const LogHints& hints,
                                    const LogReading& reading) {
  std::vector<FileRows> launches;
  if (is_csv(path)) {
    launches.push_back({.dataset = load_dataset(path)});
    return launches;
  }
  const auto text = read_file(path);
  if (!text) throw usage_error("cannot read {}", path);
  const LogFile log = read_log(*text, path, reading);
  for (const LogLaunch& launch : launches_of({&log, 1}, hints)) {
    ImportedRows rows = records_of({&launch.log, 1}, hints);
    launches.push_back({.setting = launch.setting,
                        .dataset = {.path = path,
                                    .label = std::filesystem::path(path).stem().string(),
                                    .facts = {rows.facts.begin(), rows.facts.end()},
                                    .records = std::move(rows.records)},
                        .notes = std::move(rows.warnings)});
  }
  return launches;
}

FileRows read_launch(const std::string& path) {
  std::vector<FileRows> launches = read_launches(path);
  if (launches.size() == 1) return std::move(launches.front());
  const auto settings = mapped(launches, &FileRows::setting);
  throw usage_error(
      "{} has {} runs of the same rows: {}; a file is a launch: busbar import {} -o FOLDER/ makes "
      "a CSV of each",
      path, launches.size(), settings_text(settings), path);
}

}  // namespace busbar::study

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

namespace busbar::study {
namespace {

struct Test {
  const LogFile* log = nullptr;
  LogTable table{};
  std::set<RowKey> rows{};
  std::string run{};    ///< command, library and hosts: its repetitions have the same; or empty
  Words variables{};    ///< of NCCL and RCCL
  std::string label{};  ///< what distinguishes it from others
};

/// Rows without a head may be of several tests: one ends where a row comes again.
std::vector<LogTable> split_at_repeated_rows(const LogTable& table) {
  if (!table.devices.empty() || !table.command.empty() || table.gpus_per_process) return {table};
  const auto key = [](const LogRow& row) {
    return std::tuple(row.size, row.type, row.op, row.root, row.nodes, row.sender, row.receiver);
  };
  std::vector<LogTable> parts;
  std::set<decltype(key(table.rows.front()))> seen;
  for (const LogRow& row : table.rows) {
    const bool is_new = seen.insert(key(row)).second;
    if (parts.empty() || (!is_new && row.size > 0)) {
      LogTable part = table;
      part.line = row.line;
      part.rows.clear();
      if (!parts.empty()) parts.back().mean_busbw_GBps.reset();  // the footer's is of the last
      parts.push_back(std::move(part));
      seen = {key(row)};
    }
    parts.back().rows.push_back(row);
  }
  return parts;
}

/// Those of NCCL and RCCL. Some name a launch or its log, and change nothing in it.
Words library_variables(const Settings& settings) {
  Words variables;
  for (const auto& [name, value] : settings) {
    const bool is_of_library = name.starts_with("NCCL_") || name.starts_with("RCCL_");
    if (!is_of_library || name == "NCCL_HOSTID" || name.starts_with("NCCL_DEBUG")) continue;
    variables.push_back(fmt::format("{}={}", name, value));
  }
  return variables;
}

Test test_of(const LogFile& log, LogTable table, const LogReading& reading) {
  Test test{.log = &log, .variables = library_variables(table.settings)};
  const LogFile alone{.path = log.path, .tables = {table}};
  for (const Record& record : records_of({&alone, 1}, reading).records) {
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

using Tests = std::vector<const Test*>;

/// Tests that have a row in common.
std::set<Tests> conflicts_in(const std::vector<Test>& tests) {
  std::map<RowKey, Tests> by_row;
  for (const Test& test : tests) {
    for (const RowKey& row : test.rows) by_row[row].push_back(&test);
  }
  auto conflicts = set_of(by_row, &std::pair<const RowKey, Tests>::second);
  std::erase_if(conflicts, [](const Tests& each) { return each.size() < 2; });
  return conflicts;
}

/// Labels tests by their variables that are not those of all.
void set_labels(std::vector<Test>& tests) {
  std::map<std::string, std::size_t> counts;
  for (const Test& test : tests) {
    for (const std::string& variable : test.variables) ++counts[variable];
  }
  for (Test& test : tests) {
    const auto is_own = [&](const std::string& one) { return counts[one] < tests.size(); };
    test.label = join(filtered(test.variables, is_own), " ");
  }
}

/// Tests that only their order distinguishes from another one with the same row.
std::set<const Test*> unknown_twins(const std::set<Tests>& conflicts) {
  std::set<const Test*> unknown;
  for (const Tests& each : conflicts) {
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
void add_test(std::vector<LogLaunch>& launches, const Test& test) {
  const auto is_of_log = [&](const LogLaunch& one) {
    return one.logs.front().path == test.log->path;
  };
  const auto has = [](const LogLaunch& one) {
    return [&](const RowKey& row) { return one.rows.contains(row); };
  };
  int number = 1;
  for (LogLaunch& launch : launches) {
    if (launch.setting != test.label) continue;
    ++number;
    if (!is_of_log(launch) || std::ranges::any_of(test.rows, has(launch))) continue;
    launch.logs.front().tables.push_back(test.table);
    launch.rows.insert(test.rows.begin(), test.rows.end());
    return;
  }
  LogFile log{.path = test.log->path, .tables = {test.table}, .gpudirect = test.log->gpudirect};
  if (std::ranges::none_of(launches, is_of_log)) log.warnings = test.log->warnings;
  launches.push_back({test.label, number, {std::move(log)}, test.rows});
}

}  // namespace

std::vector<LogLaunch> launches_of(std::span<const LogFile> logs, const LogReading& reading) {
  std::vector<Test> tests;
  for (const LogFile& log : logs) {
    for (const LogTable& table : log.tables) {
      for (LogTable& part : split_at_repeated_rows(table)) {
        tests.push_back(test_of(log, std::move(part), reading));
      }
    }
  }
  const auto conflicts = conflicts_in(tests);
  if (conflicts.empty()) return {{.logs = {logs.begin(), logs.end()}}};
  set_labels(tests);
  const std::set<const Test*> unknown = unknown_twins(conflicts);
  std::vector<LogLaunch> launches;
  for (std::size_t i = 0; i < tests.size(); ++i) {
    std::string& label = tests[i].label;
    if (unknown.contains(&tests[i])) {
      label += fmt::format("{}run{}", label.empty() ? "" : " ", i + 1);
    }
    add_test(launches, tests[i]);
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
  const Words names = csv_cells(line);
  const auto is_other = [](const std::string& name) {  // of samples, verdicts and baselines
    return name == "sample" || name == "rule" || name == "instance";
  };
  return contains(names, "collective") && contains(names, "size_bytes") &&
         std::ranges::none_of(names, is_other);
}

std::vector<FileRows> read_launches(const std::string& path, const LogReading& reading) {
  std::vector<FileRows> launches;
  if (is_csv(path)) {
    launches.push_back({.dataset = load_dataset(path)});
    return launches;
  }
  const auto text = read_file(path);
  if (!text) throw usage_error("cannot read {}", path);
  const LogFile log = read_log(*text, path, reading);
  for (const LogLaunch& launch : launches_of({&log, 1}, reading)) {
    ImportedRows rows = records_of(launch.logs, reading);
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

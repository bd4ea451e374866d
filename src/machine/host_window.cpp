// SPDX-License-Identifier: BSD-3-Clause
#include "machine/host_window.hpp"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "format/csv_reader.hpp"

namespace busbar::machine {
namespace {

constexpr auto kFactColumns = std::to_array<Column<FactLine>>({
    {"at", "at", [](const FactLine& line) { return line.at; }},
    {"host", "host", [](const FactLine& line) { return line.host; }},
    {"fact", "fact", [](const FactLine& line) { return line.fact; }},
    {"instance", "instance", [](const FactLine& line) { return line.instance; }},
    {"value", "value", [](const FactLine& line) { return line.value.text; }},
    {"reason", "not read", [](const FactLine& line) { return line.value.reason; }},
});

constexpr std::string_view kGone = "gone";

std::string_view host_of(const HostWindow& window) { return window.first.host; }

/// What is wrong with a value by itself, or nothing.
std::string fault_of(const MachineFact& fact, const std::string& instance,
                     const std::string& value) {
  if (fact.nature == Nature::Alarm && (value == "Active" || value == "Yes")) {
    return describe(fact, instance);
  }
  const std::size_t of = value.find(" of ");
  if (fact.nature != Nature::Share || of == std::string::npos) return {};
  const bool whole = value.substr(0, of) == value.substr(of + 4);
  // A slot without a link has no lanes.
  return whole || value.starts_with("0 ") ? ""
                                          : fmt::format("{} {}", describe(fact, instance), value);
}

std::string fault_of(const FactChange& change) {
  const std::string name = describe(*change.fact, change.instance);
  switch (change.fact->nature) {
    case Nature::Errors:
      return change.rise.value_or(0) > 0 ? fmt::format("{} +{:.0f}", name, *change.rise) : "";
    case Nature::Event: return "kernel log: " + change.after.text;
    case Nature::State:
      return change.before == FactValue{} ? fmt::format("{} {} is new", name, shown(change.after))
                                          : fmt::format("{} changed from {} to {}", name,
                                                        shown(change.before), shown(change.after));
    default: return {};
  }
}

/// The line of these cells; nothing where they are something else.
std::optional<FactLine> line_of(const Words& cells) {
  if (cells.size() != kFactColumns.size() || find_fact(cells[2]) == nullptr) return {};
  return FactLine{cells[0], cells[1], cells[2], cells[3], {cells[4], cells[5]}};
}

/// The lines of facts.csv.
std::vector<FactLine> read_lines(const std::string& path) {
  CsvReader reader(path);
  if (reader.columns() + "\n" != csv_text(kFactColumns, std::vector<FactLine>{})) {
    throw usage_error("{}: not a file of facts; --facts FILE and busbar facts -o FILE write one",
                      reader.columns().empty() ? path : reader.place());
  }
  std::vector<FactLine> lines;
  while (reader.next()) {
    std::optional<FactLine> line = line_of(reader.cells());
    const Words& cells = reader.cells();
    if (cells.size() != kFactColumns.size()) {
      throw usage_error("{}: {} where a line has {} ({}); fix the line", reader.place(),
                        counted(cells.size(), "cell"), kFactColumns.size(), reader.columns());
    }
    if (!line) {
      throw usage_error("{}: no fact that this busbar knows: '{}' (busbar facts --list)",
                        reader.place(), cells[2]);
    }
    lines.push_back(std::move(*line));
  }
  return lines;
}

}  // namespace

std::span<const Column<FactLine>> fact_columns() { return kFactColumns; }

std::string describe(const MachineFact& fact, const std::string& instance) {
  return instance.empty() ? std::string(fact.meaning)
                          : fmt::format("{}: {}", instance, fact.meaning);
}

std::vector<FactLine> lines_of(const HostReading& reading, const HostReading* before) {
  std::vector<FactLine> lines;
  const auto add = [&](const FactKey& key, const FactValue& value) {
    lines.push_back({reading.at, reading.host, key.first, key.second, value});
  };
  for (const auto& [key, value] : reading.values) {
    const auto was = before == nullptr ? reading.values.end() : before->values.find(key);
    const bool same = before != nullptr && was != before->values.end() && was->second == value;
    if (!same) add(key, value);
  }
  if (before == nullptr) return lines;
  for (const auto& [key, value] : before->values) {
    const bool gone = !reading.values.contains(key) && key.first != "kernel.log";
    if (gone && value.reason != kGone) add(key, {.reason = std::string(kGone)});
  }
  return lines;
}

void HostWindows::add(const FactLine& line) {
  const auto same = [&](const HostWindow& one) { return one.first.host == line.host; };
  HostReading begun{.host = line.host, .at = line.at};
  HostWindow& window = find_or_add(windows_, same, {begun, begun});
  const FactKey key{line.fact, line.instance};
  if (line.at == window.first.at) window.first.values[key] = line.value;
  window.last.at = line.at;
  window.last.values[key] = line.value;
}

bool HostWindows::add_cells(const Words& cells) {
  const std::optional<FactLine> line = line_of(cells);
  if (line) add(*line);
  return line.has_value();
}

void HostWindows::add_file(const std::string& path) {
  for (const FactLine& line : read_lines(path)) add(line);
}

namespace {

/// Counters go on where the first window ended: what rose between the runs is of neither.
void extend(HostWindow& window, const HostWindow& later) {
  HostReading first = window.first;
  for (const auto& [key, value] : later.first.values) {
    const MachineFact* fact = find_fact(key.first);
    const auto number = to_number<double>(value.text);
    if (!window.last.values.contains(key) || key.first == "kernel.boot") {
      first.values[key] = value;
    } else if (fact != nullptr && is_counter(*fact)) {
      const auto rise = rise_of(window, key);
      first.values[key].text = rise && number ? fmt::format("{}", *number - *rise) : "";
    }
  }
  window.first = std::move(first);
  window.last.at = later.last.at;
  for (const auto& [key, value] : later.last.values) window.last.values[key] = value;
}

FactValue value_of(const HostReading& reading, const FactKey& key) {
  const auto found = reading.values.find(key);
  return found == reading.values.end() ? FactValue{} : found->second;
}

}  // namespace

void HostWindows::add_run(const HostWindows& run) {
  for (const HostWindow& other : run.windows_) {
    if (HostWindow* known = find_by(windows_, other.first.host, host_of)) {
      extend(*known, other);
    } else {
      windows_.push_back(other);
    }
  }
}

const HostWindow* HostWindows::find(std::string_view host) const {
  return find_by(windows_, host, host_of);
}

HostWindows read_facts(const std::string& path) {
  HostWindows windows;
  windows.add_file(path);
  return windows;
}

std::vector<HostFault> read_host_faults(const std::string& path) {
  std::vector<HostFault> faults;
  std::map<std::string, HostWindow> windows;  // each host's last two readings
  const auto add_faults = [&](const HostWindow& window) {
    if (window.first.values.empty()) return;
    const Words known = faults_of({window.first, window.first});
    for (std::string& text : faults_of(window)) {
      if (!contains(known, text)) faults.push_back({window.last.at, window.last.host, text});
    }
  };
  for (const FactLine& line : read_lines(path)) {
    HostWindow& window = windows[line.host];
    if (line.at != window.last.at) {
      add_faults(window);
      window.first = window.last;
      window.last.host = line.host;
      window.last.at = line.at;
    }
    window.last.values[{line.fact, line.instance}] = line.value;
  }
  for (const auto& [host, window] : windows) add_faults(window);
  std::ranges::stable_sort(faults, {}, &HostFault::at);
  return faults;
}

std::optional<double> rise_of(const HostWindow& window, const FactKey& key) {
  const auto before = to_number<double>(window.first.text(key));
  const auto after = to_number<double>(window.last.text(key));
  const FactKey boot{"kernel.boot", ""};
  const bool reset = window.first.text(boot) != window.last.text(boot) || before > after;
  if (!before || !after || reset) return {};
  return *after - *before;
}

std::string shown(const FactValue& value) {
  return value.reason.empty() ? value.text : fmt::format("[{}]", value.reason);
}

std::vector<FactChange> changes_of(const HostReading& before, const HostReading& after,
                                   bool readings) {
  std::vector<FactChange> changes;
  const HostWindow window{before, after};
  for (const MachineFact& fact : machine_facts()) {
    if (fact.nature == Nature::Reading && !readings) continue;
    const FactKey first{std::string(fact.name), ""};
    for (auto now = after.values.lower_bound(first);
         now != after.values.end() && now->first.first == fact.name; ++now) {
      const FactValue earlier = value_of(before, now->first);
      // What a killed run's last reading did not come to, in the order of keys, is no change.
      const bool is_behind = !before.values.empty() && before.values.rbegin()->first < now->first;
      if (earlier == now->second || is_behind) continue;
      FactChange& change =
          changes.emplace_back(FactChange{&fact, now->first.second, earlier, now->second});
      if (is_counter(fact)) change.rise = rise_of(window, now->first);
    }
  }
  return changes;
}

Words faults_of(const HostWindow& window) {
  Words faults;
  for (const FactChange& change : changes_of(window.first, window.last)) {
    add_new(faults, fault_of(change));
  }
  for (const auto& [key, value] : window.last.values) {
    if (const MachineFact* fact = find_fact(key.first)) {
      add_new(faults, fault_of(*fact, key.second, value.text));
    }
  }
  return faults;
}

}  // namespace busbar::machine

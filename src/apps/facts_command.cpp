// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <filesystem>
#include <map>
#include <optional>

#include "apps/commands.hpp"
#include "base/options.hpp"
#include "format/json.hpp"
#include "format/output_file.hpp"
#include "format/table.hpp"
#include "machine/host_window.hpp"

namespace busbar::facts_command {

using machine::FactChange;
using machine::FactLine;
using machine::HostReading;
using machine::HostWindow;
using machine::MachineFact;

struct FactsOptions {
  std::string output{};
  std::optional<std::string> json{};
  bool all = false;
  bool list = false;
  std::string sysroot{};
  std::optional<std::string> nvidia_smi{};
};

using O = FactsOptions;

constexpr std::array<View, 1> kExclusive{"-o,--json,--list"};
constexpr auto kOptions = std::to_array<Option<O>>({
    {"-o,--output", "FILE", set::value<&O::output>},
    {"--json", "[=FILE]", set::value<&O::json>},
    {"--all", "", set::value<&O::all>},
    {"--sysroot", "DIR", set::value<&O::sysroot>},
    {"--nvidia-smi", "PATH", set::value<&O::nvidia_smi>},
    {"--list", "", set::value<&O::list>},
});
constexpr CommandLineTable<O> kTable{{.program = "busbar facts",
                                      .help = "docs/facts-options.md",
                                      .most_positionals = 2,
                                      .exclusive = kExclusive},
                                     kOptions};

constexpr auto kChangeColumns = std::to_array<Column<FactChange>>({
    {"fact", "fact", [](const FactChange& change) { return change.fact->name; }},
    {"instance", "instance", [](const FactChange& change) { return change.instance; }},
    {"before", "before", [](const FactChange& change) { return shown(change.before); }},
    {"after", "after", [](const FactChange& change) { return shown(change.after); }},
    {"rise", "rise", [](const FactChange& change) { return change.rise; },
     [](double rise) { return fmt::format("{:.0f}", rise); }},
});

constexpr auto kListColumns = std::to_array<Column<MachineFact>>({
    {"fact", "fact", [](const MachineFact& fact) { return fact.name; }},
    {"nature", "kind", [](const MachineFact& fact) { return fact.nature; }},
    {"meaning", "meaning", [](const MachineFact& fact) { return fact.meaning; }},
    {"source", "", [](const MachineFact& fact) { return fact.source; }},
});

std::string faults_text(const HostWindow& window) {
  return join_each(faults_of(window), "", [](const auto& fault) { return "! " + fault + "\n"; });
}

/// The facts of one kind of thing, such as ports: a line for each of them, without counters that
/// are 0 everywhere.
std::string family_table(const HostReading& reading, const std::string& family) {
  Table table{.columns = {family}};
  std::map<std::string, std::vector<std::string>> rows;
  for (const MachineFact& fact : machine::machine_facts()) {
    const std::string name(fact.name);
    if (!name.starts_with(family + ".")) continue;
    std::map<std::string, std::string> texts;
    for (const auto& [key, value] : reading.values) {
      if (key.first == name && !key.second.empty()) texts[key.second] = shown(value);
    }
    if (std::ranges::all_of(texts, [](const auto& text) { return text.second == "0"; })) continue;
    table.columns.push_back(name.substr(family.size() + 1));
    for (const auto& [instance, text] : texts) {
      rows[instance].resize(table.columns.size() - 1);
      rows[instance].back() = text;
    }
  }
  for (auto& [instance, cells] : rows) {
    cells.resize(table.columns.size() - 1);
    cells.insert(cells.begin(), instance);
    table.rows.push_back(std::move(cells));
  }
  return table.rows.empty() ? "" : "\n" + plain_table(table);
}

/// Facts of the whole machine first, and its faults last.
std::string reading_text(const HostReading& reading) {
  Table whole{.columns = {"fact", "value"}};
  std::vector<std::string> families;
  for (const MachineFact& fact : machine::machine_facts()) {
    const std::string name(fact.name);
    add_new(families, name.substr(0, name.find('.')));
    const auto found = reading.values.find({name, ""});
    if (found != reading.values.end()) whole.rows.push_back({name, shown(found->second)});
  }
  std::string text = fmt::format("{}, {}\n{}", reading.host, reading.at, plain_table(whole));
  for (const std::string& family : families) text += family_table(reading, family);
  return text + faults_text({reading, reading});
}

/// This machine, or a captured tree.
Status show_reading(const O& options) {
  const std::string smi = options.nvidia_smi.value_or(options.sysroot.empty() ? "nvidia-smi" : "");
  const HostReading reading = machine::read_host(options.sysroot, smi);
  if (reading.values.empty()) {
    throw Error{Status::Unavailable,
                fmt::format("--sysroot {}: no facts; a captured tree has sys, proc and dev",
                            options.sysroot)};
  }
  const std::vector<FactLine> lines = lines_of(reading);
  if (!options.output.empty()) {
    OutputFile(options.output, "-o", OutputFile::Mode::New)
        .append(csv_text(machine::fact_columns(), lines));
    return Status::Ok;
  }
  const Json json{{"schema", 1},
                  {"host", reading.host},
                  {"at", reading.at},
                  {"facts", json_rows(machine::fact_columns(), lines)},
                  {"faults", machine::faults_of({reading, reading})}};
  fmt::print("{}", choose_output(options.json, json_text(json), reading_text(reading)));
  return Status::Ok;
}

/// The host of a second file that one of the first is compared with: of the same name, or the only
/// one.
const HostWindow* partner_of(const HostWindow& host, const machine::HostWindows& others) {
  const HostWindow* same = others.find(host.first.host);
  return same == nullptr && others.all().size() == 1 ? &others.all().front() : same;
}

Status show_changes(const O& options, const std::vector<std::string>& files) {
  const machine::HostWindows before = machine::read_facts(files.front());
  const machine::HostWindows after = machine::read_facts(files.back());
  Json hosts = Json::array();
  std::string text;
  for (const HostWindow& host : before.all()) {
    const HostWindow* other = files.size() == 1 ? &host : partner_of(host, after);
    if (other == nullptr) {
      fmt::print(stderr, "busbar: {} has no host {}\n", files.back(), host.first.host);
      continue;
    }
    const HostWindow window{host.first, other->last};
    const auto changes = changes_of(window.first, window.last, options.all);
    hosts.push_back({{"host", host.first.host},
                     {"from", window.first.at},
                     {"to", window.last.at},
                     {"changes", json_rows(kChangeColumns, changes)},
                     {"faults", faults_of(window)}});
    if (files.size() == 1 && window.first.at == window.last.at && changes.empty()) {
      text += reading_text(window.last);
      continue;
    }
    text += fmt::format("{}, from {} to {}{}\n", host.first.host, window.first.at, window.last.at,
                        changes.empty() ? ": nothing changed" : "");
    if (!changes.empty()) text += plain_table(make_table(kChangeColumns, changes));
    text += faults_text(window);
  }
  fmt::print("{}", choose_output(options.json, json_text({{"schema", 1}, {"hosts", hosts}}), text));
  return Status::Ok;
}

Status run(O& options, const Arguments& line) {
  if (options.list) {
    fmt::print("{}", plain_table(make_table(kListColumns, machine::machine_facts())));
    return Status::Ok;
  }
  if (line.positionals.empty()) {
    if (options.all) throw usage_error("facts: --all is only valid with files");
    if (!std::filesystem::is_directory(options.sysroot.empty() ? "/" : options.sysroot)) {
      throw usage_error("--sysroot {}: no such folder", options.sysroot);
    }
    return show_reading(options);
  }
  for (const View option : {"-o", "--sysroot", "--nvidia-smi"}) {
    if (line.has(option)) throw usage_error("facts: {} is not valid with files", option);
  }
  return show_changes(options, line.positionals);
}

}  // namespace busbar::facts_command

busbar::Command busbar::make_facts_command() {
  return command_of<facts_command::kTable, facts_command::run>();
}

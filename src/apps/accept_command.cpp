// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <filesystem>

#include "apps/accept.hpp"
#include "apps/accept_judging.hpp"
#include "apps/commands.hpp"
#include "base/options.hpp"
#include "judge/output/describe.hpp"
#include "judge/spec/reader.hpp"
#include "judge/spec/specification_json.hpp"
#include "report/table.hpp"

namespace busbar {
namespace {

using View = std::string_view;
using O = AcceptOptions;

void set_hosts(O& options, View option, View text) {
  options.hosts = split(text, ',');
  std::vector<std::string> sorted = options.hosts;
  std::sort(sorted.begin(), sorted.end());
  if (sorted.front().empty()) {
    throw usage_error(fmt::format("{} {}: empty name; write h1,h2,h3", option, text));
  }
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice == sorted.end()) return;
  throw usage_error(fmt::format("{} {}: {} is given twice", option, text, *twice));
}

void add_assumed(O& options, View option, View text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == View::npos || equals + 1 == text.size()) {
    throw usage_error(fmt::format(
        "invalid value '{}' for {}; expected KEY=VALUE, as in --assume gpu='NVIDIA H200'", text,
        option));
  }
  options.assumed[std::string(text.substr(0, equals))] = text.substr(equals + 1);
}

void set_output(O& options, View option, View text) { options.outputs[std::string(option)] = text; }

constexpr View kJudging = "run,judge";
constexpr View kMeasurements = "run,judge,lint,baseline";
constexpr auto kOptions = std::to_array<Option<O>>({
    {"-o,--output", "DIR", set::value<&O::output>, "run,baseline"},
    {"--hosts", "a,b,c", set_hosts, kMeasurements},
    {"--hostfile", "FILE", set::value<&O::hostfile>, "run"},
    {"--seed", "N", set::integer<&O::seed, 0>, "run"},
    {"--serial", "", set::value<&O::serial>, "run"},
    {"--at-once", "N", set::integer<&O::at_once, 1, judge::kMostAtOnce>, "run"},
    {"--mpiexec", "PATH", set::value<&O::mpiexec>, "run"},
    {"--programs", "DIR", set::value<&O::programs>, "run"},
    {"--strict", "", set::value<&O::strict>, kJudging},
    {"-v,--verbose", "", set::value<&O::verbose>, kJudging},
    {"--verdicts", "FILE.csv", set_output, kJudging},
    {"--junit", "FILE.xml", set_output, kJudging},
    {"--json", "FILE.json", set_output, kJudging},
    {"--prometheus", "FILE.prom", set_output, kJudging},
    {"--markdown", "FILE.md", set_output, kJudging},
    {"--html", "FILE.html", set_output, kJudging},
    {"--profile", "NAME", set::value<&O::profile>},
    {"--rule", "ID", set::value<&O::rules>, kMeasurements},
    {"--assume", "KEY=VALUE", add_assumed, kMeasurements},
    {"--dump-spec", "", set::value<&O::dump_specification>, kMeasurements},
});
constexpr std::array<View, 1> kExclusive{"--hosts,--hostfile"};
constexpr CommandLineTable<O> kTable{{.program = "busbar accept",
                                      .help = "docs/accept-options.md",
                                      .commands = "run,judge,lint,baseline,list",
                                      .exclusive = kExclusive},
                                     kOptions};

/// Takes SPEC, FILES and the launcher's arguments from the command line.
void take_positionals(O& options, const Arguments& line) {
  const bool takes_files = line.command == "judge" || line.command == "baseline";
  const bool launches = line.command == "run";
  const std::vector<std::string>& all = line.positionals;
  const std::size_t own = launches ? line.before_dashes : all.size();
  if (own == 0 && line.command != "list") {
    throw usage_error(
        fmt::format("accept {}: missing specification: give a file or a name from 'busbar accept "
                    "list'",
                    line.command));
  }
  if (own > 1 && !takes_files) {
    throw usage_error(fmt::format("unexpected argument '{}'{}", all[1],
                                  launches ? "; arguments of mpiexec follow --" : ""));
  }
  if (own > 0) options.specification = all.front();
  const auto rest = all.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(own, 1));
  (launches ? options.launcher_arguments : options.files).assign(rest, all.end());
}

void check(const O& options, View command) {
  if (options.dump_specification) return;
  const auto need = [&](const auto& value, View what) {
    if (value.empty()) throw usage_error(fmt::format("accept {}: missing {}", command, what));
  };
  if (command == "run") need(options.output, "output; give a new folder with -o DIR");
  if (command == "baseline") need(options.output, "output; give a new file with -o FILE.csv");
  if (command == "judge" || command == "baseline") {
    need(options.files, "files; give CSVs or the folder of an accept run after the specification");
  }
  if (options.serial && options.at_once.value_or(1) > 1) {
    throw usage_error("--serial and --at-once are mutually exclusive");
  }
}

Status list(const O& options) {
  if (!options.specification.empty()) {
    fmt::print("{}", judge::rule_list(parse_specification(options)));
    return Status::Ok;
  }
  Table table{.columns = {"name", "system", "device sets", "rules"}};
  for (const EmbeddedText& ready : embedded_texts("results/expect")) {
    const std::string path(ready.path);
    const judge::Specification specification = judge::parse_specification(ready.text, path, "");
    std::vector<std::string> sets;
    for (const judge::DeviceSetRule& set : specification.device_sets) sets.push_back(set.id);
    table.rows.push_back({std::filesystem::path(path).stem().string(), specification.system.name,
                          join(sets, " "), fmt::format("{}", specification.expectations.size())});
  }
  fmt::print("{}", plain_table(table));
  return Status::Ok;
}

Status lint(const O& options) {
  const judge::Specification specification = parse_specification(options);
  const std::vector<judge::LintFinding> findings = lint_findings(specification);
  fmt::print("{}{}: {}, {}, {}\n", judge::lint_text(specification.file, findings),
             specification.file, counted(specification.expectations.size(), "rule"),
             counted(specification.device_sets.size(), "device set"),
             findings.empty() ? "no problems found" : counted(findings.size(), "finding"));
  return judge::is_refused(findings) ? Status::Usage : Status::Ok;
}

}  // namespace

Status run_accept(std::span<char* const> arguments) {
  O options;
  const Arguments line = parse_options(kTable, arguments, options);
  if (line.help) return print_help(kTable.help);
  take_positionals(options, line);
  check(options, line.command);
  if (options.dump_specification) {
    fmt::print("{}", judge::specification_json(parse_specification(options)));
    return Status::Ok;
  }
  if (line.command == "run") return accept_run(options);
  if (line.command == "judge") return accept_judge(std::move(options));
  if (line.command == "baseline") return accept_baseline(std::move(options));
  return line.command == "lint" ? lint(options) : list(options);
}

}  // namespace busbar

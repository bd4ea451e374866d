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
#include "report/output_file.hpp"
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

template <auto Output>
void set_output(O& options, View option, View text) {
  set::value<Output>(options.outputs, option, text);
}

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
    {"--verdicts", "FILE.csv", set_output<&AcceptOutputs::verdicts>, kJudging},
    {"--junit", "FILE.xml", set_output<&AcceptOutputs::junit>, kJudging},
    {"--json", "FILE.json", set_output<&AcceptOutputs::json>, kJudging},
    {"--prometheus", "FILE.prom", set_output<&AcceptOutputs::prometheus>, kJudging},
    {"--markdown", "FILE.md", set_output<&AcceptOutputs::markdown>, kJudging},
    {"--html", "FILE.html", set_output<&AcceptOutputs::html>, kJudging},
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
  if (command == "run" && options.output.empty()) {
    throw usage_error("accept run: missing output; give a new folder with -o DIR");
  }
  if (command == "baseline" && options.output.empty()) {
    throw usage_error("accept baseline: missing output; give a new file with -o FILE.csv");
  }
  if ((command == "judge" || command == "baseline") && options.files.empty()) {
    throw usage_error(
        fmt::format("accept {}: missing files; give CSVs or the folder of an accept run after the "
                    "specification",
                    command));
  }
  if (options.serial && options.at_once.value_or(1) > 1) {
    throw usage_error("--serial and --at-once are mutually exclusive");
  }
}

Status dump(const O& options) {
  const judge::SpecificationSource source = judge::find_specification(options.specification);
  fmt::print("{}", judge::specification_json(judge::parse_specification(
                       source.text, source.path, options.profile, options.rules)));
  return Status::Ok;
}

Status list_rules(const O& options) {
  const judge::SpecificationSource source = judge::find_specification(options.specification);
  fmt::print("{}", judge::rule_list(
                       judge::parse_specification(source.text, source.path, options.profile)));
  return Status::Ok;
}

Status list(const O& options) {
  if (!options.specification.empty()) return list_rules(options);
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
  const judge::SpecificationSource source = judge::find_specification(options.specification);
  const judge::Specification specification =
      judge::parse_specification(source.text, source.path, options.profile, options.rules);
  const std::vector<judge::LintFinding> findings = lint_findings(specification);
  fmt::print("{}", judge::lint_text(source.path, findings));
  fmt::print("{}: {}, {}, {}\n", source.path, counted(specification.expectations.size(), "rule"),
             counted(specification.device_sets.size(), "device set"),
             findings.empty() ? "no problems found" : counted(findings.size(), "finding"));
  return judge::is_refused(findings) ? Status::Usage : Status::Ok;
}

/// With the profile and the rules of the journals, unless others are named.
judge::Specification specification_for(const O& options, const AcceptFiles& files) {
  return read_specification(judge::find_specification(options.specification),
                            options.profile.empty() ? profile_of(files) : options.profile,
                            options.rules.empty() ? rules_of(files) : options.rules);
}

Status judge_files(const O& options) {
  check_outputs(options.outputs);
  const AcceptFiles files = sort_files(options.files);
  const AcceptJudging judging(specification_for(options, files), options.assumed);
  const AcceptMeasurements measured = read_files(files, judging.specification());
  judge::Acceptance acceptance =
      judging.judge(measured.observations, options.hosts.empty() ? measured.nodes : options.hosts);
  acceptance.head.notes.insert(acceptance.head.notes.end(), measured.notes.begin(),
                               measured.notes.end());
  return conclude(std::move(acceptance), join(measured.seeds, " "), options, options.outputs,
                  judging.specification());
}

Status make_baseline(const O& options) {
  if (std::filesystem::exists(options.output)) {
    throw usage_error(
        fmt::format("-o {}: it exists; give another name or remove it", options.output));
  }
  const AcceptFiles files = sort_files(options.files);
  const judge::SpecificationSource source = judge::find_specification(options.specification);
  const judge::Specification specification = judge::parse_specification(
      source.text, source.path, options.profile.empty() ? profile_of(files) : options.profile,
      options.rules.empty() ? rules_of(files) : options.rules);
  const AcceptMeasurements measured = read_files(files, specification);
  for (const std::string& note : measured.notes) fmt::print(stderr, "busbar: {}\n", note);
  const judge::Baseline baseline =
      judge::build_baseline(specification, measured.observations, this_day(), options.assumed);
  OutputFile(options.output, "-o", OutputFile::Mode::New).append(judge::baseline_text(baseline));
  fmt::print("{}: {}\n", options.output, counted(baseline.rows.size(), "row"));
  return Status::Ok;
}

}  // namespace

Status run_accept(std::span<char* const> arguments) {
  O options;
  const Arguments line = parse_options(kTable, arguments, options);
  if (line.help) return print_help(kTable.help);
  take_positionals(options, line);
  check(options, line.command);
  if (options.dump_specification) return dump(options);
  if (line.command == "run") return accept_run(options);
  if (line.command == "judge") return judge_files(options);
  if (line.command == "lint") return lint(options);
  return line.command == "baseline" ? make_baseline(options) : list(options);
}

}  // namespace busbar

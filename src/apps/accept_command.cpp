// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <filesystem>

#include "apps/accept.hpp"
#include "apps/commands.hpp"
#include "base/options.hpp"
#include "base/text.hpp"
#include "format/table.hpp"
#include "judge/fleet/fabric_file.hpp"
#include "judge/output/describe.hpp"
#include "judge/spec/reader.hpp"
#include "judge/spec/specification.hpp"
#include "model/fact.hpp"
#include "model/host_levels.hpp"
#include "topo/systems/recognize.hpp"

namespace busbar {
namespace {

void set_accept_hosts(AcceptOptions& options, View option, View text) {
  options.hosts = split(text, ',');
  std::vector<std::string> sorted = options.hosts;
  std::ranges::sort(sorted);
  if (sorted.front().empty()) {
    throw usage_error("{} {}: empty name; write h1,h2,h3", option, text);
  }
  const auto twice = std::ranges::adjacent_find(sorted);
  if (twice == sorted.end()) return;
  throw usage_error("{} {}: {} is given twice", option, text, *twice);
}

void set_duration(AcceptOptions& options, View option, View text) {
  options.soak_for = parse_duration(option, text, 1);
}

void add_assumed(AcceptOptions& options, View option, View text) {
  const std::size_t equals = text.find('=');
  if (equals == 0 || equals == View::npos || equals + 1 == text.size()) {
    throw usage_error(
        "invalid value '{}' for {}; expected KEY=VALUE, as in --assume gpu='NVIDIA H200'", text,
        option);
  }
  options.assumed[fact_key(text.substr(0, equals))] = text.substr(equals + 1);
}

void set_accept_output(AcceptOptions& options, View option, View text) {
  options.outputs[std::string(option)] = text.empty() ? "-" : text;
}

void set_levels(AcceptOptions& options, View option, View text) {
  constexpr int kMost = 1'000'000;
  if (text.find_first_not_of("0123456789,") != View::npos) {
    const std::string file(text);
    const auto content = read_file(file);
    if (!content) throw usage_error("{} {}: neither numbers such as 32,8 nor a file", option, text);
    std::vector<std::string> notes;
    options.fabric = judge::fabric_csv(*content, file, notes);
    print_warnings(notes);
    static_cast<void>(HostLevels(options.fabric, file));  // it can be read
    return;
  }
  options.levels = mapped(split(text, ','), [&](const std::string& members) {
    return static_cast<std::size_t>(parse_integer(option, members, 2, kMost));
  });
}

void set_noise(AcceptOptions& options, View option, View text) {
  options.noise_text = text;
  options.noise = judge::parse_noise(option, options.noise_text);
}

void set_faults(AcceptOptions& options, View option, View text) {
  options.faults = judge::parse_faults(option, text);
}

void set_times(AcceptOptions& options, View option, View text) {
  constexpr double kMost = 1e5;
  const std::vector<std::string> parts = split(text, ',');
  if (parts.size() != 3) throw usage_error("{} {}: write START,CONNECT,ROW", option, text);
  judge::LaunchTimes& times = options.times;
  times = {.start = parse_number(option, parts[0], 0, kMost),
           .connect = parse_number(option, parts[1], 0, kMost),
           .row = parse_number(option, parts[2], 0, kMost)};
}

constexpr View kLaunching = "run,soak";
constexpr View kSeeded = "run,soak,rehearse";
constexpr View kJudgingCommands = "run,soak,judge";
constexpr View kMeasuringCommands = "run,soak,judge,lint,rehearse";
constexpr View kPlanning = "rehearse,lint";
constexpr int kMostNodes = 100'000;
constexpr int kMostFleets = 1'000'000;
constexpr auto kAcceptOptions = std::to_array<Option<AcceptOptions>>({
    {"-o,--output", "DIR", set::value<&AcceptOptions::output>, "run,soak"},
    {"--hosts", "a,b,c", set_accept_hosts, kMeasuringCommands},
    {"--hostfile", "FILE", set::value<&AcceptOptions::hostfile>, kLaunching},
    {"--seed", "N", set::integer<&AcceptOptions::seed, 0>, kSeeded},
    {"--resume", "", set::value<&AcceptOptions::resume>, kLaunching},
    {"--for", "TIME", set_duration, "soak"},
    {"--serial", "", set::value<&AcceptOptions::serial>, kLaunching},
    {"--at-once", "N", set::integer<&AcceptOptions::at_once, 1, judge::kMostAtOnce>, kLaunching},
    {"--launcher", "NAME", set::value<&AcceptOptions::launcher>, kLaunching},
    {"--mpiexec", "PATH", set::value<&AcceptOptions::mpiexec>, kLaunching},
    {"--programs", "DIR", set::value<&AcceptOptions::programs>, kLaunching},
    {"--same-machine", "", set::value<&AcceptOptions::same_machine>, kJudgingCommands},
    {"--strict", "", set::value<&AcceptOptions::strict>, kJudgingCommands},
    {"-v,--verbose", "", set::value<&AcceptOptions::verbose>, kJudgingCommands},
    {"--verdicts", "FILE.csv", set_accept_output, kJudgingCommands},
    {"--junit", "FILE.xml", set_accept_output, kJudgingCommands},
    {"--json", "[FILE]", set_accept_output, "run,soak,judge,rehearse"},
    {"--prometheus", "FILE.prom", set_accept_output, kJudgingCommands},
    {"--markdown", "FILE.md", set_accept_output, kJudgingCommands},
    {"--html", "FILE.html", set_accept_output, kJudgingCommands},
    {"--good", "FILE.txt", set_accept_output, kJudgingCommands},
    {"--bad", "FILE.txt", set_accept_output, kJudgingCommands},
    {"--unknown", "FILE.txt", set_accept_output, kJudgingCommands},
    {"--nodes", "N", set::integer<&AcceptOptions::nodes, 2, kMostNodes>, kPlanning},
    {"--levels", "A,B|FILE", set_levels, "run,judge,rehearse,lint"},
    {"--noise", "SD|FILE", set_noise, kPlanning},
    {"--partners", "K", set::integer<&AcceptOptions::partners, 1, kMostNodes>, kPlanning},
    {"--launches", "L", set::integer<&AcceptOptions::launches, 1, kMostNodes>, kPlanning},
    {"--times", "S,C,R", set_times, kPlanning},
    {"--plant", "FAULTS", set_faults, "rehearse"},
    {"--fleets", "N", set::integer<&AcceptOptions::fleets, 1, kMostFleets>, "rehearse"},
    {"--power", "", set::value<&AcceptOptions::power>, "rehearse"},
    {"--profile", "NAME", set::value<&AcceptOptions::profile>},
    {"--rule", "ID", set::value<&AcceptOptions::rules>, kMeasuringCommands},
    {"--setting", "TEXT", set::value<&AcceptOptions::setting>, "judge"},
    {"--assume", "KEY=VALUE", add_assumed, kMeasuringCommands},
    {"--dump-spec", "", set::value<&AcceptOptions::dump_specification>, kMeasuringCommands},
});
constexpr std::array<View, 2> kAcceptExclusive{"--hosts,--hostfile", "--seed,--resume"};
constexpr CommandLineTable<AcceptOptions> kAcceptTable{
    {.program = "busbar accept",
     .help = "docs/accept-options.md",
     .commands = "run,soak,judge,lint,rehearse,list",
     .exclusive = kAcceptExclusive},
    kAcceptOptions};

/// Takes SPEC, FILES and the launcher's arguments from the command line.
void take_accept_positionals(AcceptOptions& options, const Arguments& line) {
  const bool takes_files = line.command == "judge";
  const bool launches = line.command == "run" || line.command == "soak";
  const std::vector<std::string>& all = line.positionals;
  const std::size_t own = launches ? line.before_dashes : all.size();
  if (own == 0 && line.command != "list") {
    throw usage_error(
        "accept {}: missing specification: give a file or a name from 'busbar accept list'",
        line.command);
  }
  if (own > 1 && !takes_files) {
    throw usage_error("unexpected argument '{}'{}", all[1],
                      launches ? "; arguments of the launcher follow --" : "");
  }
  if (own > 0) options.specification = all.front();
  const auto rest = all.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(own, 1));
  (launches ? options.launcher_arguments : options.files).assign(rest, all.end());
}

void check_accept(const AcceptOptions& options, View command) {
  if (options.dump_specification) return;
  const auto need = [&](const auto& value, View what) {
    if (value.empty()) throw usage_error("accept {}: missing {}", command, what);
  };
  const bool soaks = command == "soak";
  if (command == "run" || soaks) need(options.output, "output; give a new folder with -o DIR");
  if (soaks && !options.soak_for) throw usage_error("accept soak: missing time; give --for 1h");
  if (command == "judge") {
    need(options.files, "files; give CSVs or the folder of an accept run after the specification");
  }
  const auto& arguments = options.launcher_arguments;
  if (!arguments.empty() && !arguments.front().starts_with('-')) {
    throw usage_error(
        "'{}' after --: only options for the launcher go there, such as --mpi=pmix; name the "
        "launcher itself with --launcher or --mpiexec",
        arguments.front());
  }
  if (options.serial && options.at_once.value_or(1) > 1) {
    throw usage_error("--serial and --at-once are mutually exclusive");
  }
}

std::string profile_list(std::span<const judge::Specification> profiles) {
  std::string text = profiles.empty() ? "" : "\nProfiles (--profile NAME)\n";
  for (const judge::Specification& profile : profiles) {
    text +=
        fmt::format("  {}: {}\n", profile.profile, join_each(profile.rules, " ", &judge::Rule::id));
  }
  return text;
}

Status list_specifications(const AcceptOptions& options) {
  if (!options.specification.empty()) {
    const judge::SpecificationSource source = judge::find_specification(options.specification);
    fmt::print("{}{}", judge::rule_list(parse_specification(options)),
               profile_list(judge::parse_profiles(source.text, source.path)));
    return Status::Ok;
  }
  Table table{.columns = {"name", "system", "device sets", "rules"}};
  for (const EmbeddedText& ready : embedded_texts("results/expect")) {
    const std::string path(ready.path);
    const judge::Specification specification = judge::parse_specification(ready.text, path, "");
    const auto sets = mapped(specification.device_sets, &judge::DeviceSetRule::id);
    table.rows.push_back({std::filesystem::path(path).stem().string(), specification.system.name,
                          join(sets, " "), fmt::format("{}", specification.rules.size())});
  }
  fmt::print("{}", plain_table(table));
  return Status::Ok;
}

/// Reports every fault of a file that cannot be read.
std::optional<judge::Specification> readable(const AcceptOptions& options) {
  std::vector<std::string> faults;
  try {
    return parse_specification(options, &faults);
  } catch (const Error&) {
    if (faults.empty()) throw;
  }
  for (const std::string& fault : faults) fmt::print(stderr, "busbar: {}\n", fault);
  return {};
}

Status lint_specification(const AcceptOptions& options) {
  const std::optional<judge::Specification> read = readable(options);
  if (!read) return Status::Usage;
  const judge::Specification& specification = *read;
  const std::vector<judge::LintFinding> findings =
      judge::lint(specification, this_day(), planned_nodes(specification, options));
  const std::size_t facts = specification.facts.size();
  fmt::print("{}{}: {}{}, {}, {}\n", judge::lint_text(specification.file, findings),
             specification.file, counted(specification.rules.size(), "rule"),
             facts == 0 ? "" : ", " + counted(facts, "fact rule"),
             counted(specification.device_sets.size(), "device set"),
             findings.empty() ? "no problems found" : counted(findings.size(), "finding"));
  fmt::print("{}", power_text(specification, options));
  return judge::is_refused(findings) ? Status::Usage : Status::Ok;
}

Status run_accept(AcceptOptions& options, const Arguments& line) {
  take_accept_positionals(options, line);
  check_accept(options, line.command);
  if (options.files.empty()) {
    const topo::WantedSystem own =
        topo::wanted_system(options.specification, "nvidia-smi", judge::is_ready_made);
    if (!own.note.empty()) fmt::print(stderr, "busbar: {}\n", own.note);
    options.specification = own.name;
  }
  if (options.dump_specification) {
    fmt::print("{}", judge::specification_json(parse_specification(options)));
    return Status::Ok;
  }
  options.soak = line.command == "soak";
  if (line.command == "run" || options.soak) return accept_run(options);
  if (line.command == "judge") return accept_judge(std::move(options));
  if (line.command == "rehearse") return accept_rehearse(options);
  return line.command == "lint" ? lint_specification(options) : list_specifications(options);
}

}  // namespace

Command make_accept_command() { return command_of<kAcceptTable, run_accept>(); }

}  // namespace busbar

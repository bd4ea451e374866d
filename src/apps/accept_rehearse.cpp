// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apps/accept.hpp"
#include "apps/launch_folder.hpp"
#include "base/text.hpp"
#include "format/json.hpp"
#include "format/output_file.hpp"
#include "format/progress_line.hpp"
#include "judge/run/rehearsed_run.hpp"

namespace busbar {
namespace {

/// Of --power; lint makes do with fewer rehearsals, since it is waited for.
constexpr judge::PowerEffort kPower{.healthy = 100, .planted = 300};
constexpr judge::PowerEffort kQuickPower{.healthy = 50, .planted = 100};

/// The plan of the specification with what the command line has instead.
judge::FleetPlan plan_of(const judge::Specification& specification, const AcceptOptions& options) {
  const RehearsalOptions& wanted = options.rehearsal;
  const std::size_t named =
      options.hosts.empty() ? specification.system.nodes.size() : options.hosts.size();
  std::vector<NodePath> paths;
  if (!wanted.fabric.empty()) {
    const HostLevels levels(wanted.fabric, "--levels");
    paths = levels.paths_of(levels.hosts());
  }
  const std::size_t placed = paths.size();
  if (placed > 0 && wanted.nodes) {
    throw usage_error("--nodes and --levels with a file are mutually exclusive: it has {}",
                      counted(placed, "node"));
  }
  const std::size_t nodes = wanted.nodes ? static_cast<std::size_t>(*wanted.nodes)
                            : placed > 0 ? placed
                                         : named;
  if (nodes < 2) {
    throw usage_error(
        "accept rehearse: the specification names no nodes; give their number with --nodes");
  }
  judge::FleetPlan plan = judge::fleet_plan_of(specification, nodes);
  plan.levels = wanted.levels;
  plan.paths = std::move(paths);
  if (wanted.partners) plan.partners = static_cast<std::size_t>(*wanted.partners);
  if (wanted.launches) plan.launches = static_cast<std::size_t>(*wanted.launches);
  return plan;
}

std::string noise_text(const AcceptOptions& options) {
  const RehearsalOptions& wanted = options.rehearsal;
  if (!wanted.noise.factors.empty()) return "the noise of " + wanted.noise_text;
  return fmt::format("{:g} % noise", 100 * wanted.noise.deviation);
}

std::string minutes_text(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kShort = 90;
  if (seconds < kShort) return fmt::format("about {:.0f} s", seconds);
  return fmt::format("about {:.0f} min", seconds / kMinute);
}

std::string loss_text(const judge::FleetPower& power) {
  if (power.least_loss == 0) return "no loss of a node up to 50 % is found in 99 %";
  return fmt::format("a node that loses {:.0f} % is found in 99 %", 100 * power.least_loss);
}

std::string alarm_text(const judge::FleetPower& power) {
  return fmt::format("{} of {} healthy fleets had an alarm", power.alarms, power.fleets);
}

std::string power_line(const judge::FleetPlan& plan, const judge::FleetPower& power,
                       const AcceptOptions& options) {
  return fmt::format("{} partners, {} launches on {} nodes: {}, at {}; {}; {}", plan.partners,
                     plan.launches, plan.nodes, loss_text(power), noise_text(options),
                     alarm_text(power), minutes_text(power.seconds));
}

/// What of several rehearsals is added up.
struct Rehearsals {
  std::size_t found = 0;
  std::size_t missed = 0;
  std::size_t not_measured = 0;
  std::size_t with_alarm = 0;
  std::size_t right = 0;  ///< fleets in which all that was measured is found, and nothing else

  void add(const judge::Rehearsal& one) {
    found += one.found.size();
    missed += one.missed.size();
    not_measured += one.not_measured.size();
    if (!one.falsely_blamed.empty()) ++with_alarm;
    if (one.falsely_blamed.empty() && one.missed.empty()) ++right;
  }
};

void print_all(const Rehearsals& all, std::size_t fleets) {
  fmt::print(
      "{} fleets: {} found, {} missed, {} not measured; anything was falsely blamed in {}, "
      "all was right in {}\n",
      fleets, all.found, all.missed, all.not_measured, all.with_alarm, all.right);
}

void print_one(const judge::Rehearsal& one, const judge::FleetPlan& plan,
               const AcceptOptions& options) {
  const auto list = [](const std::vector<std::string>& names) {
    return names.empty() ? std::string("none") : join(names, ", ");
  };
  const judge::LaunchTimes& times = options.rehearsal.times;
  fmt::print("found: {}\nmissed: {}\nfalsely blamed: {}\n", list(one.found), list(one.missed),
             list(one.falsely_blamed));
  if (!one.not_measured.empty()) {
    fmt::print("not measured: {}: {:.2g} % of all pairs have a turn\n", list(one.not_measured),
               100 * one.measured_pairs);
  }
  if (!one.suspected_only.empty()) {
    fmt::print("suspected, and good again: {}\n", list(one.suspected_only));
  }
  fmt::print(
      "{}, {}, {} ({:g} s to start a launch, {:g} s to connect a round, {:g} s for each of {})\n",
      counted(one.launches, "launch"), counted(one.rounds, "round"), minutes_text(one.seconds),
      times.start, times.connect, times.row, counted(plan.tests, "row"));
}

Json json_of(const judge::Rehearsal& one, const judge::FleetPlan& plan, std::uint64_t seed) {
  return {{"simulated", true},
          {"nodes", plan.nodes},
          {"levels", plan.levels},
          {"partners", plan.partners},
          {"planned_launches", plan.launches},
          {"seed", seed},
          {"found", one.found},
          {"missed", one.missed},
          {"not_measured", one.not_measured},
          {"falsely_blamed", one.falsely_blamed},
          {"suspected_only", one.suspected_only},
          {"launches", one.launches},
          {"rounds", one.rounds},
          {"measured_pairs", one.measured_pairs},
          {"seconds", one.seconds}};
}

}  // namespace

std::string power_text(const judge::Specification& specification, const AcceptOptions& options) {
  const bool compares = std::ranges::any_of(specification.rules, [&](const judge::Rule& rule) {
    return rule.compare == judge::RuleKind::Fleet &&
           specification.device_set(rule.device_set).kind == judge::SetKind::Pairwise;
  });
  const bool has_nodes =
      options.rehearsal.nodes || !options.hosts.empty() || !specification.system.nodes.empty();
  if (!compares || !has_nodes) return {};
  const judge::FleetPlan plan = plan_of(specification, options);
  return power_line(plan,
                    judge::find_power(plan, options.rehearsal.noise, options.rehearsal.times,
                                      kQuickPower, options.seed.value_or(1)),
                    options) +
         " (rehearsed)\n";
}

namespace {

void print_head(const judge::Specification& specification, const judge::FleetPlan& plan,
                const AcceptOptions& options) {
  fmt::print("rehearsal of {}: simulated, nothing is measured\n", specification.file);
  fmt::print("{} nodes, {} partners in each of {}, at {}\n", plan.nodes, plan.partners,
             counted(plan.launches, "launch"), noise_text(options));
}

Status print_power(const judge::Specification& specification, const judge::FleetPlan& plan,
                   const AcceptOptions& options, std::uint64_t seed) {
  print_head(specification, plan, options);
  const RehearsalOptions& wanted = options.rehearsal;
  judge::PowerEffort effort = kPower;
  effort.healthy = std::max(static_cast<std::size_t>(wanted.fleets), effort.healthy);
  const auto power = judge::find_power(plan, wanted.noise, wanted.times, effort, seed);
  fmt::print("{}\n", power_line(plan, power, options));
  return Status::Ok;
}

judge::Rehearsal rehearse_fleet(const judge::Specification& specification,
                                const judge::FleetPlan& plan, const AcceptOptions& options,
                                std::uint64_t seed) {
  const RehearsalOptions& wanted = options.rehearsal;
  if (wanted.fleets > 1) {  // the plan and the statistics alone, in memory
    return judge::rehearse(plan, wanted.noise, wanted.faults, wanted.times, seed);
  }
  const LaunchFolder folder(options.output);
  return judge::rehearse_run(specification, plan, wanted.noise, wanted.faults, wanted.times, seed,
                             folder.path());
}

/// Outputs are checked before anything is simulated.
std::optional<OutputFile> open_json(const AcceptOptions& options) {
  const RehearsalOptions& wanted = options.rehearsal;
  if (!options.output.empty() && (wanted.fleets > 1 || wanted.power)) {
    throw usage_error("-o keeps the launches of one fleet; leave --fleets and --power out");
  }
  const auto path = options.outputs.find("--json");
  if (path == options.outputs.end()) return {};
  return std::optional<OutputFile>(std::in_place, path->second, "--json", OutputFile::Mode::New);
}

}  // namespace

Status accept_rehearse(const AcceptOptions& options) {
  const judge::Specification specification = read_specification(options);
  const judge::FleetPlan plan = plan_of(specification, options);
  const RehearsalOptions& wanted = options.rehearsal;
  const std::uint64_t seed = options.seed.value_or(1);
  const auto fleets = static_cast<std::size_t>(wanted.fleets);
  std::optional<OutputFile> json = open_json(options);
  const bool prints = !json || json->path() != "-";
  if (wanted.power) return print_power(specification, plan, options, seed);
  Json list = Json::array();
  Rehearsals all;
  ProgressLine progress;
  for (std::size_t number = 0; number < fleets; ++number) {
    progress.show(fmt::format("fleet {} of {}", number + 1, fleets));
    const judge::Rehearsal one = rehearse_fleet(specification, plan, options, seed + number);
    all.add(one);
    list.push_back(json_of(one, plan, seed + number));
    progress.clear();
    if (prints && number == 0) print_head(specification, plan, options);  // -o is a new folder
    if (prints && fleets == 1) print_one(one, plan, options);
  }
  if (prints && fleets > 1) print_all(all, fleets);
  if (json) json->append(json_text(fleets == 1 ? list.front() : list));
  return all.right == fleets ? Status::Ok : Status::Wrong;
}

}  // namespace busbar

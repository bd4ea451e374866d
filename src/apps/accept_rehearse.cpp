// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "apps/accept.hpp"
#include "base/text.hpp"
#include "format/json.hpp"
#include "format/output_file.hpp"
#include "format/progress_line.hpp"
#include "judge/spec/reader.hpp"

namespace busbar {
namespace {

/// Of --power; lint makes do with fewer rehearsals, since it is waited for.
constexpr judge::PowerEffort kPower{.healthy = 100, .planted = 300};
constexpr judge::PowerEffort kQuickPower{.healthy = 50, .planted = 100};

std::vector<NodePath> fabric_paths(const AcceptOptions& options) {
  if (options.fabric.empty()) return {};
  const HostLevels levels(options.fabric, "--levels");
  return levels.paths_of(levels.hosts());
}

/// The plan of the specification with what the command line has instead.
judge::FleetPlan plan_of(const judge::Specification& specification, const AcceptOptions& options) {
  std::vector<NodePath> paths = fabric_paths(options);
  if (!paths.empty() && options.nodes) {
    throw usage_error("--nodes and --levels with a file are mutually exclusive: it has {}",
                      counted(paths.size(), "node"));
  }
  const std::size_t nodes = planned_nodes(specification, options);
  if (nodes < 2) {
    throw usage_error(
        "accept rehearse: the specification names no nodes; give their number with --nodes, or a "
        "file of the fabric with --levels");
  }
  judge::FleetPlan plan = judge::fleet_plan_of(specification, nodes);
  plan.levels = options.levels;
  plan.paths = std::move(paths);
  if (options.partners) plan.partners = static_cast<std::size_t>(*options.partners);
  if (options.launches) plan.launches = static_cast<std::size_t>(*options.launches);
  return plan;
}

std::string noise_text(const AcceptOptions& options) {
  if (!options.noise.factors.empty()) return "the noise of " + options.noise_text;
  return fmt::format("{:g} % noise", 100 * options.noise.deviation);
}

std::string minutes_text(double seconds) {
  constexpr double kMinute = 60;
  constexpr double kShort = 90;
  if (seconds < kShort) return fmt::format("about {:.0f} s", seconds);
  return fmt::format("about {:.0f} min", seconds / kMinute);
}

std::string power_line(const judge::FleetPlan& plan, const judge::FleetPower& power,
                       const AcceptOptions& options) {
  const std::string loss =
      power.least_loss == 0
          ? "even a node that loses half its bandwidth would be missed more than once in 100 runs"
          : fmt::format("a node that loses {:.0f} % of its bandwidth is found in 99 of 100 runs",
                        100 * power.least_loss);
  const std::string alarms =
      power.alarms == 0 ? "No false alarms in" : fmt::format("False alarms in {} of", power.alarms);
  return fmt::format(
      "Rehearsed at {}, {} partners in each of {} on {} nodes: {}. {} {} healthy fleets. A run "
      "takes {}.\n",
      noise_text(options), plan.partners, counted(plan.launches, "launch"), plan.nodes, loss,
      alarms, power.fleets, minutes_text(power.seconds));
}

/// "pair-floor (absolute)": no part of a rehearsal.
std::vector<std::string> not_rehearsed(const judge::Specification& specification) {
  std::vector<std::string> rules;
  for (const judge::Rule& rule : specification.rules) {
    if (judge::is_rehearsed(specification, rule)) continue;
    rules.push_back(fmt::format("{} ({})", rule.id, name(rule.compare)));
  }
  for (const judge::FactRule& rule : specification.facts) rules.push_back(rule.id + " (fact)");
  return rules;
}

/// Slow nodes that are planted and that no rule would fail.
std::vector<std::string> allowed_faults(const judge::FleetPlan& plan,
                                        const AcceptOptions& options) {
  std::vector<std::string> allowed;
  for (const judge::PlantedFault& fault : options.faults) {
    const bool is_slow =
        fault.kind == judge::FaultKind::SlowNode || fault.kind == judge::FaultKind::Bimodal;
    if (!is_slow || 1 - fault.factor > plan.limits.node_loss) continue;
    allowed.push_back(fmt::format("{}:{}:{:g}", name(fault.kind), fault.count, fault.factor));
  }
  return allowed;
}

struct Rehearsals {
  std::size_t fleets = 0;
  std::size_t found = 0;
  std::size_t missed = 0;
  std::size_t not_measured = 0;
  std::size_t with_alarm = 0;
  std::size_t right = 0;  ///< fleets in which all that was measured is found, and nothing else

  void add(const judge::Rehearsal& one) {
    ++fleets;
    found += one.found.size();
    missed += one.missed.size();
    not_measured += one.not_measured.size();
    if (!one.falsely_blamed.empty()) ++with_alarm;
    if (one.falsely_blamed.empty() && one.missed.empty()) ++right;
  }
};

void print_one(const judge::Rehearsal& one, const judge::FleetPlan& plan,
               const AcceptOptions& options) {
  const auto list = [](const std::vector<std::string>& names) {
    return names.empty() ? std::string("none") : join(names, ", ");
  };
  const judge::LaunchTimes& times = options.times;
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

Json plan_json(const judge::Specification& specification, const judge::FleetPlan& plan,
               const AcceptOptions& options) {
  const judge::Noise& noise = options.noise;
  return {{"simulated", true},
          {"nodes", plan.nodes},
          {"levels", plan.levels},
          {"partners", plan.partners},
          {"planned_launches", plan.launches},
          {"noise", noise.factors.empty() ? Json(noise.deviation) : Json(nullptr)},
          {"noise_file", noise.factors.empty() ? Json(nullptr) : Json(options.noise_text)},
          {"seed", options.seed.value_or(1)},
          {"not_rehearsed", not_rehearsed(specification)}};
}

Json json_of(const judge::Rehearsal& one, Json json) {
  json.update({{"found", one.found},
               {"missed", one.missed},
               {"not_measured", one.not_measured},
               {"falsely_blamed", one.falsely_blamed},
               {"suspected_only", one.suspected_only},
               {"launches", one.launches},
               {"rounds", one.rounds},
               {"measured_pairs", one.measured_pairs},
               {"seconds", one.seconds}});
  return json;
}

Json json_of(const judge::FleetPower& power, Json json) {
  json.update({{"least_loss", power.least_loss == 0 ? Json(nullptr) : Json(power.least_loss)},
               {"fleets", power.fleets},
               {"alarms", power.alarms},
               {"screened", power.screened},
               {"seconds", power.seconds}});
  return json;
}

bool compares_pairs(const judge::Specification& specification) {
  return std::ranges::any_of(specification.rules, [&](const judge::Rule& rule) {
    return judge::is_rehearsed(specification, rule);
  });
}

/// Why there is nothing to rehearse, and the profiles with which there is.
std::string no_pairs_text(const AcceptOptions& options) {
  const judge::SpecificationSource source = judge::find_specification(options.specification);
  const auto profiles = judge::parse_profiles(source.text, source.path);
  const std::string others =
      join_each(filtered(profiles, compares_pairs), " or ", &judge::Specification::profile);
  return fmt::format("no rule here compares pairs of nodes with each other; {}",
                     others.empty() ? R"(compare = "fleet" on a set of kind "pairwise" does)"
                                    : "--profile " + others + " has one");
}

void print_head(const judge::Specification& specification, const judge::FleetPlan& plan,
                const AcceptOptions& options) {
  fmt::print("rehearsal of {}: simulated, nothing is measured\n", specification.file);
  fmt::print("{} nodes, {} partners in each of {}, at {}\n", plan.nodes, plan.partners,
             counted(plan.launches, "launch"), noise_text(options));
  const std::vector<std::string> rules = not_rehearsed(specification);
  if (!rules.empty()) fmt::print("not rehearsed: {}\n", join(rules, ", "));
  for (const std::string& fault : allowed_faults(plan, options)) {
    fmt::print("{} is not to be found: the bound of a node allows a loss of {:g} % (fail_below)\n",
               fault, 100 * plan.limits.node_loss);
  }
}

/// What can be found: printed, and as JSON.
Json show_power(const judge::Specification& specification, const judge::FleetPlan& plan,
                const AcceptOptions& options, bool prints) {
  judge::PowerEffort effort = kPower;
  effort.healthy = std::max(static_cast<std::size_t>(options.fleets), effort.healthy);
  const judge::FleetPower power =
      judge::find_power(plan, options.noise, options.times, effort, options.seed.value_or(1));
  if (prints) {
    print_head(specification, plan, options);
    fmt::print("{}", power_line(plan, power, options));
  }
  return json_of(power, plan_json(specification, plan, options));
}

/// The same of fleets, each with the next seed; a list of several.
Json show_fleets(const judge::Specification& specification, const judge::FleetPlan& plan,
                 const AcceptOptions& options, bool prints, Rehearsals& all) {
  Json list = Json::array();
  ProgressLine progress;
  const std::uint64_t first = options.seed.value_or(1);
  for (std::uint64_t seed = first; std::cmp_less(all.fleets, options.fleets); ++seed) {
    progress.show(fmt::format("fleet {} of {}", all.fleets + 1, options.fleets));
    const judge::Rehearsal one =
        judge::rehearse(plan, options.noise, options.faults, options.times, seed);
    progress.clear();
    all.add(one);
    list.push_back(json_of(one, plan_json(specification, plan, options)));
    list.back()["seed"] = seed;
    if (prints && seed == first) print_head(specification, plan, options);
    if (prints && options.fleets == 1) print_one(one, plan, options);
  }
  if (all.fleets == 1) return list.front();
  if (prints) {
    fmt::print(
        "{} fleets: {} found, {} missed, {} not measured; anything was falsely blamed in {}, "
        "all was right in {}\n",
        all.fleets, all.found, all.missed, all.not_measured, all.with_alarm, all.right);
  }
  return list;
}

}  // namespace

std::size_t planned_nodes(const judge::Specification& specification, const AcceptOptions& options) {
  if (options.nodes) return static_cast<std::size_t>(*options.nodes);
  const std::size_t placed = fabric_paths(options).size();
  if (placed > 0) return placed;
  return options.hosts.empty() ? specification.system.nodes.size() : options.hosts.size();
}

std::string power_text(const judge::Specification& specification, const AcceptOptions& options) {
  if (!compares_pairs(specification)) {
    return options.nodes ? fmt::format("--nodes: {}\n", no_pairs_text(options)) : "";
  }
  if (planned_nodes(specification, options) < judge::kFewestCompared) return {};
  const judge::FleetPlan plan = plan_of(specification, options);
  return power_line(
      plan,
      judge::find_power(plan, options.noise, options.times, kQuickPower, options.seed.value_or(1)),
      options);
}

Status accept_rehearse(const AcceptOptions& options) {
  const judge::Specification specification = read_specification(options);
  if (!compares_pairs(specification)) {
    throw usage_error("{}: {}", specification.file, no_pairs_text(options));
  }
  const judge::FleetPlan plan = plan_of(specification, options);
  std::optional<OutputFile> file;  // it is there before anything is simulated
  if (const auto path = options.outputs.find("--json"); path != options.outputs.end()) {
    file.emplace(path->second, "--json", OutputFile::Mode::New);
  }
  const bool prints = !file || file->path() != "-";
  Rehearsals all;
  const Json json = options.power ? show_power(specification, plan, options, prints)
                                  : show_fleets(specification, plan, options, prints, all);
  if (file) file->append(json_text(json));
  return all.right == all.fleets ? Status::Ok : Status::Wrong;
}

}  // namespace busbar

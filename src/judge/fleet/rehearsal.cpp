// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/rehearsal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/lists.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "judge/fleet/confirmation.hpp"

namespace busbar::judge {
namespace {

using FaultNames = std::set<std::string>;

std::string node_name(std::size_t node) { return fmt::format("n{}", node); }

std::string link_name(std::size_t first, std::size_t second) {
  if (first == second) return node_name(first);
  return fmt::format("{}-{}", node_name(std::min(first, second)),
                     node_name(std::max(first, second)));
}

std::string name_of(const NodePath& unit, const NodePath& other) {
  return path_name({.unit = std::min(unit, other.empty() ? unit : other),
                    .other = other.empty() ? other : std::max(unit, other)});
}

FaultNames planted_names(const PlantedEffects& planted) {
  FaultNames names;
  for (const auto& [link, effect] : planted.links) names.insert(link_name(link.first, link.second));
  for (const auto& [node, effect] : planted.bimodal) names.insert(node_name(node));
  for (const std::size_t node : planted.dead) names.insert(node_name(node));
  for (const std::size_t node : planted.hanging) names.insert(node_name(node));
  for (const auto& [unit, effect] : planted.uplinks) names.insert(name_of(unit, {}));
  for (const auto& [units, effect] : planted.trunks) {
    names.insert(name_of(units.first, units.second));
  }
  return names;
}

std::uint64_t seed_of(std::uint64_t seed, std::uint64_t what) { return splitmix64(seed ^ what); }

class Rehearsing {
 public:
  Rehearsing(const FleetPlan& plan, const Noise& noise, const std::vector<PlantedFault>& faults,
             const LaunchTimes& times, std::uint64_t seed)
      : plan_(plan),
        limits_(plan.limits),
        times_(times),
        seed_(seed),
        fleet_(plan.paths.empty() ? simulated_paths(plan.nodes, plan.levels) : plan.paths, noise,
               faults, seed) {
    limits_.alarms /= static_cast<double>(plan.tests);
  }

  [[nodiscard]] Rehearsal run() {
    reach_nodes();
    plan_rounds();
    for (std::size_t number = 0; number < plan_.tests; ++number) {
      test(number < plan_.low_tests);
    }
    for (const std::size_t rounds : confirming_) {
      if (rounds > 0) count_launch(rounds);
    }
    report();
    return std::move(result_);
  }

 private:
  /// Each node by itself: who does not answer is named and left out, and so is who hangs, which
  /// costs a launch.
  void reach_nodes() {
    count_launch(1);
    for (std::size_t node = 0; node < plan_.nodes; ++node) {
      const bool hangs = fleet_.planted().hanging.contains(node);
      if (hangs) count_launch(1);
      if (hangs || fleet_.planted().dead.contains(node)) {
        blamed_.insert(node_name(node));
      } else {
        nodes_.push_back(node);
        paths_.push_back(fleet_.paths()[node]);
      }
    }
  }

  void count_launch(std::size_t rounds) {
    ++result_.launches;
    result_.rounds += rounds;
    result_.seconds +=
        times_.start + static_cast<double>(rounds) *
                           (times_.connect + times_.row * static_cast<double>(plan_.tests));
  }

  void plan_rounds() {
    for (std::size_t launch = 0; launch < plan_.launches; ++launch) {
      launches_.push_back(fleet_rounds(paths_, plan_.partners, seed_of(seed_, launch + 1)));
      count_launch(launches_.back().size());
      for (const RoundOfPairs& round : launches_.back()) {
        for (const auto& [first, second] : round) {
          measured_.insert(pair_of(nodes_[first], nodes_[second]));
        }
      }
    }
  }

  void add_rates(FleetRates& rates, const NumberedRound& round, std::size_t launch,
                 std::size_t shift, bool low) {
    for (const auto& [first, second] : round.pairs) {
      rates.pairs.push_back(
          {.first = first,
           .second = second,
           .launch = launch,
           .log_rate = fleet_.log_rate(nodes_[first], nodes_[second], launch + shift, low),
           .round = round.number});
    }
  }

  void test(bool low) {
    if (paths_.size() < kFewestCompared) return;
    FleetRates rates{.paths = paths_, .launches = plan_.launches};
    for (std::size_t launch = 0; launch < launches_.size(); ++launch) {
      for (const RoundOfPairs& round : launches_[launch]) {
        add_rates(rates, {.pairs = round}, launch, 0, low);
      }
    }
    const Screening screening = screen(rates, limits_);
    for (const NodeFinding& each : screening.nodes) {
      if (each.blamed) suspected_.insert(node_name(nodes_[each.node]));
    }
    for (const UnitFinding& each : screening.units) {
      suspected_.insert(name_of(each.unit, each.other));
    }
    const bool suspects =
        !screening.nodes.empty() || !screening.units.empty() || !screening.links.empty();
    if (suspects) confirm(screening, low);
  }

  void confirm(const Screening& screening, bool low) {
    FleetRates again{.paths = paths_, .launches = screening.again};
    if (confirming_.size() < again.launches) confirming_.resize(again.launches, 0);
    for (std::size_t launch = 0; launch < again.launches; ++launch) {
      const std::vector<NumberedRound> drawn =
          confirmation_rounds(screening, paths_, seed_, launch);
      if (drawn.empty()) return;
      // What several tests suspect is measured in the same launches.
      confirming_[launch] = std::max(confirming_[launch], drawn.size());
      for (const NumberedRound& round : drawn) {
        add_rates(again, round, launch, plan_.launches, low);
      }
    }
    const Confirmation found = confirm_suspects(screening, again, limits_);
    for (const NodeFinding& each : found.nodes) {
      if (each.blamed) blamed_.insert(node_name(nodes_[each.node]));
    }
    for (const UnitFinding& each : found.units) blamed_.insert(name_of(each.unit, each.other));
    for (const LinkFinding& each : found.links) {
      if (each.blamed) blamed_.insert(link_name(nodes_[each.first], nodes_[each.second]));
    }
  }

  void report() {
    const auto nodes = static_cast<double>(plan_.nodes);
    result_.measured_pairs =
        nodes < 2 ? 0 : static_cast<double>(measured_.size()) / (nodes * (nodes - 1) / 2);
    FaultNames links;  // that had no turn
    for (const auto& [link, effect] : fleet_.planted().links) {
      const auto& [first, second] = link;
      if (first != second && !measured_.contains(link)) links.insert(link_name(first, second));
    }
    result_.not_measured.assign(links.begin(), links.end());
    const FaultNames planted = planted_names(fleet_.planted());
    for (const std::string& name : planted) {
      if (blamed_.contains(name)) {
        result_.found.push_back(name);
      } else if (!links.contains(name)) {
        result_.missed.push_back(name);
      }
    }
    // A link over a planted path between leaves is as slow as reported.
    FaultNames explained;
    for (const auto& [first, second] : measured_) {
      const auto& paths = fleet_.paths();
      if (fleet_.planted().trunks.contains(std::minmax(paths[first], paths[second]))) {
        explained.insert(link_name(first, second));
      }
    }
    result_.falsely_blamed = filtered(blamed_, [&](const std::string& name) {
      return !planted.contains(name) && !explained.contains(name);
    });
    result_.suspected_only = filtered(suspected_, [&](const std::string& name) {
      return !planted.contains(name) && !blamed_.contains(name);
    });
  }

  const FleetPlan& plan_;
  ScreenLimits limits_;
  const LaunchTimes& times_;
  std::uint64_t seed_;
  SimulatedFleet fleet_;
  std::vector<std::size_t> nodes_{};  ///< living ones
  std::vector<NodePath> paths_{};     ///< of these
  std::vector<std::vector<RoundOfPairs>> launches_{};
  FaultNames blamed_{};
  FaultNames suspected_{};
  std::set<NumberPair> measured_{};
  std::vector<std::size_t> confirming_{};  ///< rounds of the last launches
  Rehearsal result_{};
};

/// Whether nodes with this loss are found in 99 %.
bool is_found(const FleetPlan& plan, const Noise& noise, double loss, std::size_t enough,
              std::uint64_t seed) {
  constexpr std::size_t kNodesPerFault = 70;
  constexpr double kShare = 0.99;
  const std::size_t each = std::max<std::size_t>(1, plan.nodes / kNodesPerFault);
  std::size_t found = 0;
  std::size_t planted = 0;
  for (std::uint64_t fleet = 0; planted < enough; ++fleet) {
    const std::vector<PlantedFault> faults{
        {.kind = FaultKind::SlowNode, .count = each, .factor = 1 - loss}};
    const Rehearsal one = rehearse(plan, noise, faults, {}, seed_of(seed, 1000 + fleet));
    found += one.found.size();
    planted += each;
    const std::size_t missed = planted - found;
    if (static_cast<double>(missed) > (1 - kShare) * static_cast<double>(enough)) return false;
  }
  return true;
}

}  // namespace

bool is_rehearsed(const Specification& specification, const Rule& rule) {
  return rule.compare == RuleKind::Fleet &&
         specification.device_set(rule.device_set).kind == SetKind::Pairwise;
}

FleetPlan fleet_plan_of(const Specification& specification, std::size_t nodes) {
  FleetPlan plan{.nodes = nodes, .tests = 0};
  plan.launches = static_cast<std::size_t>(specification.run.launches);
  for (const Rule& rule : specification.rules) {
    if (!is_rehearsed(specification, rule)) continue;
    const double loss = 1 - *rule.bounds.fail_below;
    const std::size_t tests = rule.collectives.size() * rule.sizes.size();
    const bool low = rule.statistic != Statistic::Median && rule.statistic != Statistic::Mean &&
                     rule.statistic != Statistic::Min;
    plan.limits.node_loss = plan.tests == 0 ? loss : std::min(plan.limits.node_loss, loss);
    plan.tests += tests;
    if (low) plan.low_tests += tests;
  }
  return plan;
}

Rehearsal rehearse(const FleetPlan& plan, const Noise& noise,
                   const std::vector<PlantedFault>& faults, const LaunchTimes& times,
                   std::uint64_t seed) {
  return Rehearsing(plan, noise, faults, times, seed).run();
}

FleetPower find_power(const FleetPlan& plan, const Noise& noise, const LaunchTimes& times,
                      const PowerEffort& effort, std::uint64_t seed) {
  constexpr std::array kLosses{0.03, 0.04, 0.05, 0.06, 0.07, 0.08, 0.09, 0.10, 0.12,
                               0.14, 0.16, 0.18, 0.20, 0.25, 0.30, 0.40, 0.50};
  FleetPower power{.fleets = effort.healthy};
  for (std::size_t fleet = 0; fleet < effort.healthy; ++fleet) {
    const Rehearsal one = rehearse(plan, noise, {}, times, seed_of(seed, fleet));
    if (!one.falsely_blamed.empty()) ++power.alarms;
    if (!one.suspected_only.empty() || !one.falsely_blamed.empty()) ++power.screened;
    power.seconds = std::max(power.seconds, one.seconds);
  }
  const auto* least = std::ranges::partition_point(
      kLosses, [&](double loss) { return !is_found(plan, noise, loss, effort.planted, seed); });
  if (least != kLosses.end()) power.least_loss = *least;
  return power;
}

}  // namespace busbar::judge

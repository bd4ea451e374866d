// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet/rehearsal.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numbers>
#include <random>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/lists.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "judge/fleet/confirmation.hpp"

namespace busbar::judge {
namespace {

/// @name How healthy fleets differ in the trials that the method was chosen by, as standard
/// deviations of log rates; crossing a leaf costs 5 %
/// @{
constexpr double kNode = 0.005;
constexpr double kPair = 0.005;
constexpr double kNodeLaunch = 0.003;
constexpr double kLaunch = 0.02;
constexpr double kCrossing = -0.05;
/// @}
/// Of a bimodal node's samples.
constexpr double kSlowShare = 0.2;
/// The quantile of samples by which bimodal nodes are found.
constexpr double kLowQuantile = 0.1;

/// A standard normal number that only depends on these: Box and Muller of two uniform ones.
double normal_of(std::uint64_t seed, std::uint64_t first, std::uint64_t second) {
  const std::uint64_t mixed = splitmix64(splitmix64(seed ^ splitmix64(first)) + second);
  constexpr double kScale = 0x1p-53;
  const double one = (static_cast<double>(mixed >> 11U) + 0.5) * kScale;
  const double two = static_cast<double>(splitmix64(mixed) >> 11U) * kScale;
  return std::sqrt(-2 * std::log(one)) * std::cos(2 * std::numbers::pi * two);
}

PlantedFault parse_fault(std::string_view option, const std::string& text) {
  constexpr double kMost = 1e6;
  const std::vector<std::string> parts = split(text, ':');
  const std::string place = fmt::format("{} {}", option, text);
  PlantedFault fault{.kind = parse_value<FaultKind>(option, parts.front())};
  const bool has_factor = fault.kind != FaultKind::Dead && fault.kind != FaultKind::Hang;
  if (parts.size() > (has_factor ? 3U : 2U)) {
    throw usage_error("{}: write KIND:COUNT{}", place, has_factor ? ":FACTOR" : "");
  }
  if (parts.size() > 1) {
    fault.count = static_cast<std::size_t>(parse_number(place, parts[1], 0, kMost));
  }
  if (parts.size() > 2) fault.factor = parse_number(place, parts[2], 1e-6, 1);
  return fault;
}

using FaultNames = std::set<std::string>;

std::string node_name(std::size_t node) { return fmt::format("n{}", node); }

std::string link_name(std::size_t first, std::size_t second) {
  return fmt::format("{}-{}", node_name(std::min(first, second)),
                     node_name(std::max(first, second)));
}

std::string name_of(const NodePath& unit, const NodePath& other) {
  return path_name({.unit = std::min(unit, other.empty() ? unit : other),
                    .other = other.empty() ? other : std::max(unit, other)});
}

/// A fleet that is not there: rates of its pairs, which are drawn by the seed.
class SimulatedFleet {
 public:
  SimulatedFleet(std::vector<NodePath> paths, const Noise& noise,
                 const std::vector<PlantedFault>& faults, std::uint64_t seed)
      : paths_(std::move(paths)), noise_(noise), seed_(seed), random_(splitmix64(seed)) {
    for (std::size_t node = 0; node < paths_.size(); ++node) {
      nodes_.push_back(kNode * normal_of(seed, 1, node));
    }
    // Those that need healthy ends are planted last.
    std::vector<PlantedFault> sorted = faults;
    std::ranges::stable_sort(sorted, std::ranges::greater{}, &PlantedFault::kind);
    for (const PlantedFault& fault : sorted) plant(fault);
  }

  [[nodiscard]] const std::vector<NodePath>& paths() const { return paths_; }
  [[nodiscard]] const FaultNames& planted() const { return planted_; }
  [[nodiscard]] const std::set<std::size_t>& dead() const { return dead_; }
  [[nodiscard]] const std::set<std::size_t>& hanging() const { return hanging_; }
  [[nodiscard]] const std::map<NumberPair, double>& links() const { return links_; }
  [[nodiscard]] bool has_trunk(const NumberPair& nodes) const {
    return trunks_.contains(std::minmax(paths_[nodes.first], paths_[nodes.second]));
  }

  /// Of two nodes in a launch, by the median of samples or a low quantile.
  [[nodiscard]] double log_rate(std::size_t first, std::size_t second, std::size_t launch,
                                bool low_quantile) {
    const auto effect_of = [](const auto& effects, const auto& key) {
      const auto found = effects.find(key);
      return found == effects.end() ? 0.0 : found->second;
    };
    double worst_node = std::numeric_limits<double>::infinity();
    double rate = kLaunch * normal_of(seed_, 2, launch);
    for (const std::size_t node : {first, second}) {
      double effect = nodes_[node] + kNodeLaunch * normal_of(seed_, 3 + launch, node);
      effect += effect_of(slow_, node);
      if (low_quantile && kSlowShare > kLowQuantile) effect += effect_of(bimodal_, node);
      worst_node = std::min(worst_node, effect);  // a pair is as fast as its slower node
    }
    rate += worst_node;
    const NumberPair both = pair_of(first, second);
    rate += kPair * normal_of(seed_ ^ 0x5bd1e995U, both.first, both.second);
    rate += effect_of(links_, both);
    const NodePath& one = paths_[first];
    const NodePath& two = paths_[second];
    if (one != two) {
      rate += kCrossing + std::min(effect_of(uplinks_, one), effect_of(uplinks_, two));
      rate += effect_of(trunks_, std::pair(std::min(one, two), std::max(one, two)));
    }
    if (noise_.factors.empty()) {
      return rate + noise_.deviation * std::normal_distribution<double>()(random_);
    }
    return rate + std::log(noise_.factors[random_() % noise_.factors.size()]);
  }

 private:
  [[nodiscard]] std::size_t take_node() {
    if (taken_.size() >= paths_.size()) {
      throw usage_error("--plant: more faults than {}", counted(paths_.size(), "node"));
    }
    std::size_t node = random_() % paths_.size();
    while (!taken_.insert(node).second) node = random_() % paths_.size();
    return node;
  }

  [[nodiscard]] std::size_t take_bad_node() {
    const std::size_t node = take_node();
    planted_.insert(node_name(node));
    return node;
  }

  void plant(const PlantedFault& fault) {
    const double effect = std::log(fault.factor);
    const bool is_of_units = fault.kind == FaultKind::Uplink || fault.kind == FaultKind::Trunk;
    const std::set<NodePath> all(paths_.begin(), paths_.end());
    const std::vector<NodePath> units(all.begin(), all.end());
    if (is_of_units && units.size() < 2) {
      throw usage_error("--plant {}: the fleet has one unit; give --levels 8,...",
                        name(fault.kind));
    }
    const std::size_t most = fault.kind == FaultKind::Uplink ? units.size() - 1 : paths_.size();
    if (fault.count > most) {
      throw usage_error("--plant {}:{}: there are {} at most", name(fault.kind), fault.count, most);
    }
    for (std::size_t i = 0; i < fault.count; ++i) {
      switch (fault.kind) {
        case FaultKind::SlowNode: slow_[take_bad_node()] = effect; break;
        case FaultKind::Bimodal: bimodal_[take_bad_node()] = effect; break;
        case FaultKind::Dead: dead_.insert(take_bad_node()); break;
        case FaultKind::Hang: hanging_.insert(take_bad_node()); break;
        case FaultKind::Link: {
          const std::size_t first = take_node();
          const std::size_t second = take_node();
          links_[pair_of(first, second)] = effect;
          planted_.insert(link_name(first, second));
          break;
        }
        case FaultKind::Uplink: {
          std::size_t unit = random_() % units.size();
          while (uplinks_.contains(units[unit])) unit = random_() % units.size();
          uplinks_[units[unit]] = effect;
          planted_.insert(name_of(units[unit], {}));
          break;
        }
        case FaultKind::Trunk: {
          const std::size_t first = random_() % units.size();
          const std::size_t second = (first + 1 + random_() % (units.size() - 1)) % units.size();
          trunks_[std::minmax(units[first], units[second])] = effect;
          planted_.insert(name_of(units[first], units[second]));
          break;
        }
      }
    }
  }

  std::vector<NodePath> paths_;
  const Noise& noise_;
  std::uint64_t seed_;
  std::mt19937_64 random_;
  std::set<std::size_t> taken_{};  ///< nodes with a fault
  std::vector<double> nodes_{};    ///< healthy effects
  /// @name What was planted, with its effects on log rates
  /// @{
  FaultNames planted_{};
  std::map<std::size_t, double> slow_{};
  std::map<std::size_t, double> bimodal_{};
  std::map<NumberPair, double> links_{};
  std::map<NodePath, double> uplinks_{};
  std::map<std::pair<NodePath, NodePath>, double> trunks_{};
  std::set<std::size_t> dead_{};
  std::set<std::size_t> hanging_{};
  /// @}
};

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
  /// Who does not answer is named and left out, and so is who hangs, which costs a launch.
  void reach_nodes() {
    count_launch(1);
    for (std::size_t node = 0; node < plan_.nodes; ++node) {
      const bool hangs = fleet_.hanging().contains(node);
      if (hangs) count_launch(1);
      if (hangs || fleet_.dead().contains(node)) {
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
    for (const auto& [link, effect] : fleet_.links()) {
      if (!measured_.contains(link)) links.insert(link_name(link.first, link.second));
    }
    result_.not_measured.assign(links.begin(), links.end());
    const FaultNames& planted = fleet_.planted();
    for (const std::string& name : planted) {
      if (blamed_.contains(name)) {
        result_.found.push_back(name);
      } else if (!links.contains(name)) {
        result_.missed.push_back(name);
      }
    }
    // A link over a planted path between leaves is as slow as reported.
    FaultNames explained;
    for (const NumberPair& pair : measured_) {
      if (fleet_.has_trunk(pair)) explained.insert(link_name(pair.first, pair.second));
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

std::vector<PlantedFault> parse_faults(std::string_view option, std::string_view text) {
  std::vector<PlantedFault> faults;
  for (const std::string& item : split(text, ',')) faults.push_back(parse_fault(option, item));
  return faults;
}

Noise parse_noise(std::string_view option, const std::string& text) {
  if (const auto deviation = to_number<double>(text)) {
    constexpr double kMost = 0.5;
    return {.deviation = parse_number(option, text, 0, kMost)};
  }
  const auto file = read_file(text);
  if (!file) throw usage_error("{} {}: neither a number such as 0.03 nor a file", option, text);
  Noise noise;
  std::size_t line = 0;
  for (const std::string& each : split(*file, '\n')) {
    ++line;
    if (trim(each).empty() || each.starts_with('#')) continue;
    const std::string place = fmt::format("{}:{}", text, line);
    noise.factors.push_back(parse_number(place, std::string(trim(each)), 1e-6, 1e6));
  }
  if (noise.factors.empty()) throw usage_error("{} {}: no factor in it", option, text);
  return noise;
}

std::vector<NodePath> simulated_paths(std::size_t nodes, const std::vector<std::size_t>& levels) {
  constexpr std::array<std::string_view, 3> kNames{"leaf", "pod", "group"};
  std::vector<NodePath> paths;
  for (std::size_t node = 0; node < nodes; ++node) {
    NodePath path;
    std::size_t unit = node;
    for (std::size_t level = 0; level < levels.size(); ++level) {
      unit /= levels[level];
      const std::string_view name = kNames.at(std::min(level, kNames.size() - 1));
      path.insert(path.begin(), fmt::format("{}{}", name, unit));
    }
    paths.push_back(std::move(path));
  }
  return paths;
}

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

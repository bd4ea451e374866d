// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/text.hpp"
#include "base/units.hpp"
#include "judge/fleet/rehearsal.hpp"

namespace busbar::judge {
namespace {

constexpr double kMostNodes = 1e6;
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
  const std::vector<std::string> parts = split(text, ':');
  const std::string place = fmt::format("{} {}", option, text);
  PlantedFault fault{.kind = parse_value<FaultKind>(option, parts.front())};
  const bool has_factor = fault.kind != FaultKind::Dead && fault.kind != FaultKind::Hang;
  if (parts.size() > (has_factor ? 3U : 2U)) {
    throw usage_error("{}: write KIND:COUNT{}", place, has_factor ? ":FACTOR" : "");
  }
  if (parts.size() > 1) {
    fault.count = static_cast<std::size_t>(parse_number(place, parts[1], 0, kMostNodes));
  }
  if (parts.size() > 2) fault.factor = parse_number(place, parts[2], 1e-6, 1);
  return fault;
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

SimulatedFleet::SimulatedFleet(std::vector<NodePath> paths, Noise noise,
                               const std::vector<PlantedFault>& faults, std::uint64_t seed)
    : paths_(std::move(paths)), noise_(std::move(noise)), seed_(seed), random_(splitmix64(seed)) {
  for (std::size_t node = 0; node < paths_.size(); ++node) {
    nodes_.push_back(kNode * normal_of(seed, 1, node));
  }
  // Those that need healthy ends are planted last.
  std::vector<PlantedFault> sorted = faults;
  std::ranges::stable_sort(sorted, std::ranges::greater{}, &PlantedFault::kind);
  for (const PlantedFault& fault : sorted) plant(fault);
}

std::size_t SimulatedFleet::take_node() {
  if (taken_.size() >= paths_.size()) {
    throw usage_error("--plant: more faults than {}", counted(paths_.size(), "node"));
  }
  std::size_t node = random_() % paths_.size();
  while (!taken_.insert(node).second) node = random_() % paths_.size();
  return node;
}

void SimulatedFleet::plant(const PlantedFault& fault) {
  const double effect = std::log(fault.factor);
  const bool is_of_units = fault.kind == FaultKind::Uplink || fault.kind == FaultKind::Trunk;
  const std::set<NodePath> all(paths_.begin(), paths_.end());
  const std::vector<NodePath> units(all.begin(), all.end());
  if (is_of_units && units.size() < 2) {
    throw usage_error("--plant {}: the fleet has one unit; give --levels 8,...", name(fault.kind));
  }
  const std::size_t most = fault.kind == FaultKind::Uplink ? units.size() - 1 : paths_.size();
  if (fault.count > most) {
    throw usage_error("--plant {}:{}: there are {} at most", name(fault.kind), fault.count, most);
  }
  for (std::size_t i = 0; i < fault.count; ++i) {
    switch (fault.kind) {
      case FaultKind::Bimodal: planted_.bimodal[take_node()] = effect; break;
      case FaultKind::Dead: planted_.dead.insert(take_node()); break;
      case FaultKind::Hang: planted_.hanging.insert(take_node()); break;
      case FaultKind::SlowNode:
      case FaultKind::Link: {
        const std::size_t first = take_node();
        const std::size_t second = fault.kind == FaultKind::Link ? take_node() : first;
        planted_.links[pair_of(first, second)] = effect;
        break;
      }
      case FaultKind::Uplink: {
        std::size_t unit = random_() % units.size();
        while (planted_.uplinks.contains(units[unit])) unit = random_() % units.size();
        planted_.uplinks[units[unit]] = effect;
        break;
      }
      case FaultKind::Trunk: {
        const std::size_t first = random_() % units.size();
        const std::size_t second = (first + 1 + random_() % (units.size() - 1)) % units.size();
        planted_.trunks[std::minmax(units[first], units[second])] = effect;
        break;
      }
    }
  }
}

std::optional<double> SimulatedFleet::log_rate(std::size_t first, std::size_t second,
                                               std::size_t launch, bool low_quantile) {
  if (planted_.dead.contains(first) || planted_.dead.contains(second)) return {};
  const auto effect_of = [](const auto& effects, const auto& key) {
    const auto found = effects.find(key);
    return found == effects.end() ? 0.0 : found->second;
  };
  double worst_node = std::numeric_limits<double>::infinity();
  double rate = kLaunch * normal_of(seed_, 2, launch);
  for (const std::size_t node : {first, second}) {
    double effect = nodes_[node] + kNodeLaunch * normal_of(seed_, 3 + launch, node);
    effect += effect_of(planted_.links, pair_of(node, node));
    if (low_quantile && kSlowShare > kLowQuantile) effect += effect_of(planted_.bimodal, node);
    worst_node = std::min(worst_node, effect);  // a pair is as fast as its slower node
  }
  rate += worst_node;
  if (first != second) {
    const NumberPair both = pair_of(first, second);
    rate += kPair * normal_of(seed_ ^ 0x5bd1e995U, both.first, both.second);
    rate += effect_of(planted_.links, both);
  }
  const NodePath& one = paths_[first];
  const NodePath& two = paths_[second];
  if (one != two) {
    rate +=
        kCrossing + std::min(effect_of(planted_.uplinks, one), effect_of(planted_.uplinks, two));
    rate += effect_of(planted_.trunks, std::pair(std::min(one, two), std::max(one, two)));
  }
  if (noise_.factors.empty()) {
    return rate + std::normal_distribution<double>(0, noise_.deviation)(random_);
  }
  return rate + std::log(noise_.factors[random_() % noise_.factors.size()]);
}

}  // namespace busbar::judge

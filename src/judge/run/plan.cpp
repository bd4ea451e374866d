// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/plan.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/text.hpp"
#include "judge/soak_check.hpp"

namespace busbar::judge {
namespace {

/// A launch of instances at the same time; all rails are one job. `like` has its number, purpose
/// and collective.
Unit unit_of(const DeviceSetRule& set, std::span<const Instance> instances, Job like) {
  like.device_set = set.id;
  Unit unit;
  for (const Instance& instance : instances) {
    if (unit.empty() || set.kind != SetKind::Rails) unit.push_back(like);
    unit.back().instances.push_back(instance);
  }
  return unit;
}

/// Instances that share no node, round by round; a pairwise set's are drawn when it is launched.
std::vector<std::vector<Instance>> rounds_of(const DeviceSetRule& set,
                                             std::span<const std::string> nodes) {
  if (set.kind == SetKind::Pairwise) return {{fleet_instance({nodes.begin(), nodes.end()})}};
  return {instances_of(set, nodes)};
}

}  // namespace

Instance fleet_instance(std::vector<std::string> nodes) {
  std::string name = counted(nodes.size(), "node");
  return {.name = std::move(name), .nodes = std::move(nodes)};
}

std::vector<Unit> plan_units(const Specification& specification, std::span<const std::string> nodes,
                             std::mt19937_64& random, bool soak) {
  std::vector<Unit> alone;
  std::vector<Unit> together;
  const auto add = [&](const DeviceSetRule& set, int launch) {
    const auto rounds = soak ? soaked_rounds(set, nodes) : rounds_of(set, nodes);
    std::vector<Unit>& units = set.kind == SetKind::PerNode ? alone : together;
    for (const std::string& collective : collectives_of(specification, set.id)) {
      for (const std::vector<Instance>& instances : rounds) {
        units.push_back(unit_of(set, instances, {.launch = launch, .collective = collective}));
      }
    }
  };
  for (int launch = 0; launch < specification.run.launches; ++launch) {
    for (const DeviceSetRule& set : specification.device_sets) add(set, launch);
  }
  shuffle(alone, random);
  shuffle(together, random);
  append(alone, together);
  return alone;
}

std::vector<Unit> rerun_units(const Specification& specification,
                              std::span<const std::string> nodes, const Acceptance& acceptance) {
  std::vector<Unit> units;
  if (specification.noise.on_noisy != OnNoisy::Rerun) return units;
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  for (const CheckResult& result : acceptance.verdicts) {
    if (result.outcome != Outcome::Inconclusive || result.decided_by != DecidedBy::Noisy) continue;
    const DeviceSetRule& set = specification.device_set(result.device_set);
    const bool together = set.kind == SetKind::Rails || set.kind == SetKind::Pairwise;
    const std::string what = together ? set.id : result.instance;
    if (result.attempts > static_cast<std::size_t>(specification.noise.max_reruns) ||
        !seen.insert({set.id, what, result.collective}).second) {
      continue;
    }
    std::vector<Instance> again = rounds_of(set, nodes).front();
    std::erase_if(again, [&](const Instance& one) { return !together && one.name != what; });
    for (int launch = 0; !again.empty() && launch < specification.run.launches; ++launch) {
      units.push_back(unit_of(set, again,
                              {.launch = launch,
                               .attempt = static_cast<int>(result.attempts),
                               .purpose = Purpose::Rerun,
                               .collective = result.collective}));
    }
  }
  return units;
}

}  // namespace busbar::judge

// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/plan.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "base/round_robin.hpp"
#include "base/text.hpp"
#include "judge/fleet/bisection.hpp"

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

/// "h0+h1" of nodes by number.
Instance instance_of(std::span<const std::string> nodes, const NodeNumbers& numbers) {
  Instance instance;
  for (const std::size_t number : numbers) instance.nodes.push_back(nodes[number]);
  instance.name = join(instance.nodes, "+");
  return instance;
}

/// Instances that share no node, round by round.
std::vector<std::vector<Instance>> rounds_of(const DeviceSetRule& set,
                                             std::span<const std::string> nodes) {
  if (set.kind != SetKind::Pairwise) return {instances_of(set, nodes, {})};
  std::vector<std::vector<Instance>> rounds;
  for (const RoundOfPairs& round : round_robin(nodes.size())) {
    rounds.emplace_back();
    for (const auto& [first, second] : round) {
      rounds.back().push_back(instance_of(nodes, {first, second}));
    }
  }
  return rounds;
}

/// True for a node that the rule found good with another: another rule may be undecided about it.
bool passes(const Acceptance& acceptance, const NodeAccount& account, const std::string& rule) {
  if (account.state == NodeState::Good) return true;
  if (account.state != NodeState::Inconclusive) return false;
  return std::ranges::any_of(acceptance.verdicts, [&](const CheckResult& verdict) {
    return verdict.rule == rule && !verdict.of_fleet() && contains(verdict.nodes, account.node) &&
           (verdict.outcome == Outcome::Pass || verdict.outcome == Outcome::Warn);
  });
}

/// What a suspect is measured as once more; nothing where that would show nothing.
std::optional<Instance> confirmation_of(const DeviceSetRule& set, const Suspect& suspect,
                                        std::span<const std::string> nodes,
                                        const Acceptance& acceptance) {
  const bool pairs = set.kind == SetKind::Pairwise;
  if (!pairs && set.kind != SetKind::PerNode) return {};
  std::vector<std::string> members = suspect.nodes;
  if (members.size() == 1 && pairs) {
    const auto good = std::ranges::find_if(acceptance.nodes, [&](const NodeAccount& account) {
      return account.node != members.front() && passes(acceptance, account, suspect.rule);
    });
    if (good == acceptance.nodes.end()) return {};
    members.push_back(good->node);
  }
  Instance again{
      .nodes = filtered(nodes, [&](const std::string& node) { return contains(members, node); })};
  if (again.nodes.size() != (pairs ? 2 : 1) || members.size() != again.nodes.size()) return {};
  again.name = join(again.nodes, "+");
  return again;
}

/// Whether no rule fails on a group and none is an error; nothing where none has judged it: it was
/// not measured.
std::optional<bool> is_good(const Acceptance& acceptance, const DeviceSetRule& set,
                            const std::vector<std::string>& group) {
  std::optional<bool> good;
  for (const CheckResult& verdict : acceptance.verdicts) {
    if (verdict.device_set != set.id || verdict.of_fleet() ||
        verdict.nodes.size() != group.size() || !has_all(verdict.nodes, group)) {
      continue;
    }
    good = good.value_or(true) && verdict.outcome != Outcome::Fail &&
           verdict.outcome != Outcome::Error;
  }
  return good;
}

}  // namespace

std::vector<Unit> plan_units(const Specification& specification, std::span<const std::string> nodes,
                             std::mt19937_64& random) {
  std::vector<Unit> units;
  for (int launch = 0; launch < specification.run.launches; ++launch) {
    for (const DeviceSetRule& set : specification.device_sets) {
      if (is_bisected(set, nodes.size())) continue;
      for (const std::string& collective : collectives_of(specification, set.id)) {
        for (const std::vector<Instance>& round : rounds_of(set, nodes)) {
          units.push_back(unit_of(set, round, {.launch = launch, .collective = collective}));
        }
      }
    }
  }
  shuffle(units, random);
  return units;
}

std::vector<Unit> launch_units(const Specification& specification, const DeviceSetRule& set,
                               std::span<const Instance> instances) {
  std::vector<Unit> units;
  for (int launch = 0; launch < specification.run.launches; ++launch) {
    for (const std::string& collective : collectives_of(specification, set.id)) {
      units.push_back(unit_of(set, instances, {.launch = launch, .collective = collective}));
    }
  }
  return units;
}

std::vector<Unit> rerun_units(const Specification& specification,
                              std::span<const std::string> nodes,
                              std::span<const Observation> observations,
                              const Acceptance& acceptance) {
  std::vector<Unit> units;
  if (specification.noise.on_noisy != OnNoisy::Rerun) return units;
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  for (const CheckResult& result : acceptance.verdicts) {
    if (result.outcome != Outcome::Inconclusive || result.decided_by != DecidedBy::Noisy) continue;
    const DeviceSetRule& set = specification.device_set(result.device_set);
    const bool rails = set.kind == SetKind::Rails;
    const std::string what = rails ? "rails" : result.instance;
    if (result.attempts > static_cast<std::size_t>(specification.noise.max_reruns) ||
        !seen.insert({set.id, what, result.collective}).second) {
      continue;
    }
    std::vector<Instance> again = instances_of(set, nodes, observations);
    std::erase_if(again, [&](const Instance& one) { return !rails && one.name != what; });
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

std::vector<Unit> confirm_units(const Specification& specification,
                                std::span<const std::string> nodes, const Acceptance& acceptance) {
  std::vector<Unit> units;
  std::set<std::tuple<std::string, std::string, std::string, int>> seen;
  for (const Suspect& suspect : acceptance.suspects) {
    const auto rule = std::ranges::find(specification.rules, suspect.rule, &Rule::id);
    if (rule == specification.rules.end()) continue;
    const DeviceSetRule& set = specification.device_set(rule->device_set);
    const auto instance = confirmation_of(set, suspect, nodes, acceptance);
    if (!instance) continue;
    for (const std::string& collective : rule->collectives) {
      for (int launch = 0; launch < rule->confirm_repeats; ++launch) {
        if (!seen.insert({set.id, instance->name, collective, launch}).second) continue;
        units.push_back(
            unit_of(set, {&*instance, 1},
                    {.launch = launch, .purpose = Purpose::Confirm, .collective = collective}));
      }
    }
  }
  return units;
}

std::vector<Instance> groups_to_search(const DeviceSetRule& set, std::span<const std::string> nodes,
                                       std::span<const Observation> observations,
                                       const Acceptance& acceptance) {
  std::vector<std::string> searched(nodes.begin(), nodes.end());
  for (const Observation& o : observations) {
    const bool silent = o.device_set == set.id && o.nodes.size() == 1 && !o.failure.empty();
    if (silent) std::erase(searched, o.nodes.front());
  }
  std::vector<Instance> groups;
  if (searched.size() < 2) return groups;
  const auto measured = [&](const NodeNumbers& numbers) {
    return is_good(acceptance, set, instance_of(searched, numbers).nodes);
  };
  for (const NodeNumbers& group : next_groups(searched.size(), measured)) {
    groups.push_back(instance_of(searched, group));
  }
  return groups;
}

}  // namespace busbar::judge

// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/plan.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/round_robin.hpp"
#include "base/text.hpp"
#include "judge/fleet/fleet.hpp"

namespace busbar::judge {
namespace {

Job job_of(const DeviceSetRule& set, const Instance& instance, const std::string& collective,
           int launch) {
  return {.device_set = set.id,
          .instances = {instance},
          .nodes = instance.nodes,
          .launch = launch,
          .collective = collective};
}

/// A launch of instances at the same time.
Unit unit_of(const DeviceSetRule& set, std::span<const Instance> instances,
             const std::string& collective, int launch) {
  Unit unit;
  for (const Instance& instance : instances) {
    unit.push_back(job_of(set, instance, collective, launch));
  }
  return unit;
}

/// The instances of a pair table, round by round.
std::vector<std::vector<Instance>> round_robin_instances(std::span<const std::string> nodes) {
  std::vector<std::vector<Instance>> rounds;
  for (const RoundOfPairs& round : round_robin(nodes.size())) {
    rounds.emplace_back();
    for (const auto& pair : round) {
      const std::string& first = nodes[pair.first];
      const std::string& second = nodes[pair.second];
      rounds.back().push_back(
          {.name = fmt::format("{}+{}", first, second), .nodes = {first, second}});
    }
  }
  return rounds;
}

std::vector<std::vector<Instance>> disjoint_instances(const DeviceSetRule& set,
                                                      std::span<const std::string> nodes) {
  if (set.kind == SetKind::Pairwise) return round_robin_instances(nodes);
  std::vector<Instance> instances = instances_of(set, nodes, {});
  return {std::move(instances)};
}

/// All rails are one launch on all nodes.
Unit rails_unit(const DeviceSetRule& set, std::span<const std::string> nodes,
                const std::string& collective, int launch) {
  Job job{.device_set = set.id, .launch = launch, .collective = collective};
  job.nodes.assign(nodes.begin(), nodes.end());
  job.instances = instances_of(set, nodes, {});
  return {job};
}

void add_launch(std::vector<Unit>& units, const Specification& specification,
                const DeviceSetRule& set, std::span<const std::string> nodes, int launch) {
  for (const std::string& collective : collectives_of(specification, set.id)) {
    if (set.kind == SetKind::Rails) {
      units.push_back(rails_unit(set, nodes, collective, launch));
      continue;
    }
    for (const std::vector<Instance>& instances : disjoint_instances(set, nodes)) {
      if (!instances.empty()) units.push_back(unit_of(set, instances, collective, launch));
    }
  }
}

}  // namespace

std::vector<Unit> apart(std::vector<Unit> units, bool parallel) {
  if (parallel) return units;
  std::vector<Unit> single;
  for (Unit& unit : units) {
    for (Job& job : unit) single.push_back({std::move(job)});
  }
  return single;
}

std::vector<Unit> plan_units(const Specification& specification, std::span<const std::string> nodes,
                             bool parallel, std::mt19937_64& random) {
  std::vector<Unit> units;
  for (int launch = 0; launch < specification.run.launches; ++launch) {
    for (const DeviceSetRule& set : specification.device_sets) {
      if (!is_bisected(set, nodes.size())) add_launch(units, specification, set, nodes, launch);
    }
  }
  units = apart(std::move(units), parallel);
  shuffle(units, random);
  return units;
}

std::vector<Unit> launch_units(const Specification& specification, const std::string& device_set,
                               std::span<const Instance> instances, bool parallel) {
  std::vector<Unit> units;
  for (int launch = 0; launch < specification.run.launches; ++launch) {
    for (const std::string& collective : collectives_of(specification, device_set)) {
      units.push_back(unit_of(specification.device_set(device_set), instances, collective, launch));
    }
  }
  return apart(std::move(units), parallel);
}

std::vector<Instance> instances_of_round(std::span<const Bisection::Group> groups,
                                         std::span<const std::string> nodes) {
  std::vector<Instance> instances;
  for (const Bisection::Group& group : groups) {
    std::vector<std::size_t> numbers = group.members;
    numbers.insert(numbers.end(), group.helpers.begin(), group.helpers.end());
    std::sort(numbers.begin(), numbers.end());
    Instance instance;
    for (const std::size_t number : numbers) instance.nodes.push_back(nodes[number]);
    instance.name = join(instance.nodes, "+");
    instances.push_back(std::move(instance));
  }
  return instances;
}

namespace {

/// All instances that were measured in the launch of one: itself, or all rails.
std::vector<Instance> instances_beside(const DeviceSetRule& set, const Journal& journal,
                                       const NoisyInstance& noisy) {
  std::vector<Instance> instances;
  for (const Observation& line : journal.lines) {
    const bool measured = line.device_set == noisy.device_set &&
                          line.collective == noisy.collective && line.purpose != Purpose::Confirm;
    const bool beside = set.kind == SetKind::Rails || line.instance == noisy.instance;
    if (!measured || !beside) continue;
    const bool known = std::any_of(instances.begin(), instances.end(),
                                   [&line](const Instance& i) { return i.name == line.instance; });
    if (known) continue;
    instances.push_back({.name = line.instance, .nodes = line.nodes, .group = line.group});
  }
  return instances;
}

const Expectation* rule_of(const Specification& specification, const std::string& id) {
  for (const Expectation& rule : specification.expectations) {
    if (rule.id == id) return &rule;
  }
  return nullptr;
}

/// True for a node that the rule found good with another: another rule may be undecided about it.
bool passes(const Acceptance& acceptance, const NodeAccount& account, const std::string& rule) {
  if (account.state == NodeState::Good) return true;
  if (account.state != NodeState::Inconclusive) return false;
  return std::any_of(
      acceptance.verdicts.begin(), acceptance.verdicts.end(), [&](const CheckResult& verdict) {
        const bool with = has_node(verdict.nodes, account.node);
        return with && verdict.rule == rule && !verdict.of_fleet() &&
               (verdict.outcome == Outcome::Pass || verdict.outcome == Outcome::Warn);
      });
}

std::optional<std::string> known_good(const Acceptance& acceptance, const std::string& rule,
                                      const std::string& other) {
  for (const NodeAccount& account : acceptance.nodes) {
    if (account.node != other && passes(acceptance, account, rule)) return account.node;
  }
  return {};
}

/// What a suspect is measured as once more; nothing where that would show nothing.
std::optional<Instance> confirmation_of(const DeviceSetRule& set, const Suspect& suspect,
                                        std::span<const std::string> nodes,
                                        const Acceptance& acceptance) {
  std::vector<std::string> members = suspect.nodes;
  if (members.size() == 1 && set.kind == SetKind::Pairwise) {
    const auto partner = known_good(acceptance, suspect.rule, members.front());
    if (!partner) return {};
    members.push_back(*partner);
  }
  const std::size_t wanted = set.kind == SetKind::PerNode ? 1 : 2;
  const bool has_kind = set.kind == SetKind::PerNode || set.kind == SetKind::Pairwise;
  if (!has_kind || members.size() != wanted) return {};
  const auto place = [&nodes](const std::string& node) {
    return std::find(nodes.begin(), nodes.end(), node) - nodes.begin();
  };
  std::sort(members.begin(), members.end(),
            [&place](const auto& a, const auto& b) { return place(a) < place(b); });
  return Instance{.name = join(members, "+"), .nodes = members};
}

}  // namespace

std::vector<Unit> rerun_units(const Specification& specification, const Journal& journal,
                              const Acceptance& acceptance) {
  std::vector<Unit> units;
  if (specification.noise.on_noisy != OnNoisy::Rerun) return units;
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  for (const NoisyInstance& noisy : noisy_instances(acceptance)) {
    const bool left = noisy.attempts <= static_cast<std::size_t>(specification.noise.max_reruns);
    const DeviceSetRule& set = specification.device_set(noisy.device_set);
    const std::string what = set.kind == SetKind::Rails ? "rails" : noisy.instance;
    if (!left || !seen.insert({noisy.device_set, what, noisy.collective}).second) continue;
    const std::vector<Instance> instances = instances_beside(set, journal, noisy);
    if (instances.empty()) continue;
    for (int launch = 0; launch < specification.run.launches; ++launch) {
      units.push_back({{.device_set = noisy.device_set,
                        .instances = instances,
                        .nodes = instances.front().nodes,
                        .launch = launch,
                        .attempt = static_cast<int>(noisy.attempts),
                        .purpose = Purpose::Rerun,
                        .collective = noisy.collective}});
    }
  }
  return units;
}

std::vector<Unit> confirm_units(const Specification& specification,
                                std::span<const std::string> nodes, const Acceptance& acceptance) {
  std::vector<Unit> units;
  std::set<std::tuple<std::string, std::string, std::string, int>> seen;
  for (const Suspect& suspect : acceptance.suspects) {
    const Expectation* rule = rule_of(specification, suspect.rule);
    if (rule == nullptr || rule->confirm_repeats == 0) continue;
    const DeviceSetRule& set = specification.device_set(rule->device_set);
    const auto instance = confirmation_of(set, suspect, nodes, acceptance);
    if (!instance) continue;
    for (const std::string& collective : rule->collectives) {
      for (int launch = 0; launch < rule->confirm_repeats; ++launch) {
        if (!seen.insert({set.id, instance->name, collective, launch}).second) continue;
        units.push_back({{.device_set = set.id,
                          .instances = {*instance},
                          .nodes = instance->nodes,
                          .launch = launch,
                          .purpose = Purpose::Confirm,
                          .collective = collective}});
      }
    }
  }
  return units;
}

namespace {

bool has_same_nodes(std::vector<std::string> left, std::vector<std::string> right) {
  std::sort(left.begin(), left.end());
  std::sort(right.begin(), right.end());
  return left == right;
}

/// Nothing where no rule has judged the group: it was not measured.
std::optional<Bisection::Finding> outcome_of(const Acceptance& acceptance, const DeviceSetRule& set,
                                             const Instance& group) {
  std::optional<Outcome> worst;
  for (const CheckResult& verdict : acceptance.verdicts) {
    const bool same = verdict.device_set == set.id && !verdict.of_fleet() &&
                      has_same_nodes(verdict.nodes, group.nodes);
    if (same) worst = std::max(worst.value_or(Outcome::Skip), verdict.outcome);
  }
  if (!worst) return {};
  if (*worst == Outcome::Fail) return Bisection::Finding::Low;
  return *worst == Outcome::Error ? Bisection::Finding::NoData : Bisection::Finding::Good;
}

}  // namespace

std::vector<std::string> searched_nodes(const DeviceSetRule& set,
                                        std::span<const std::string> nodes,
                                        std::span<const Observation> observations) {
  std::vector<std::string> searched(nodes.begin(), nodes.end());
  for (const Observation& o : observations) {
    const bool silent = o.device_set == set.id && o.nodes.size() == 1 && !o.failure.empty();
    if (silent) std::erase(searched, o.nodes.front());
  }
  return searched;
}

BisectionResume resume_bisection(const DeviceSetRule& set, std::span<const std::string> nodes,
                                 std::span<const Observation> observations,
                                 const Acceptance& acceptance) {
  std::vector<std::string> searched = searched_nodes(set, nodes, observations);
  BisectionResume replay{.nodes = searched, .search = Bisection(searched.size())};
  while (true) {
    replay.next = replay.search.round();
    std::vector<Bisection::Finding> outcomes;
    for (const Instance& group : instances_of_round(replay.next, replay.nodes)) {
      const auto outcome = outcome_of(acceptance, set, group);
      if (!outcome) return replay;
      outcomes.push_back(*outcome);
    }
    if (replay.next.empty()) return replay;
    replay.search.report(outcomes);
  }
}

}  // namespace busbar::judge

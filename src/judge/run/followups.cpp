// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/followups.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>

#include "base/text.hpp"

namespace busbar::judge {
namespace {

/// All instances that were measured in the launch of one: itself, or all rails.
std::vector<Instance> instances_beside(const DeviceSetRule& set, const Journal& journal,
                                       const NoisyInstance& noisy) {
  std::vector<Instance> instances;
  for (const JournalLine& line : journal.lines) {
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
bool passes(const Judgement& judgement, const NodeAccount& account, const std::string& rule) {
  if (account.state == NodeState::Good) return true;
  if (account.state != NodeState::Inconclusive) return false;
  return std::any_of(
      judgement.verdicts.begin(), judgement.verdicts.end(), [&](const RuleVerdict& verdict) {
        const bool with = std::find(verdict.nodes.begin(), verdict.nodes.end(), account.node) !=
                          verdict.nodes.end();
        return with && verdict.rule == rule && !verdict.of_fleet() &&
               (verdict.word == Word::Pass || verdict.word == Word::Warn);
      });
}

std::optional<std::string> known_good(const Judgement& judgement, const std::string& rule,
                                      const std::string& other) {
  for (const NodeAccount& account : judgement.nodes) {
    if (account.node != other && passes(judgement, account, rule)) return account.node;
  }
  return {};
}

/// What a suspect is measured as once more; nothing where that would show nothing.
std::optional<Instance> confirmation_of(const DeviceSetRule& set, const Suspect& suspect,
                                        std::span<const std::string> nodes,
                                        const Judgement& judgement) {
  std::vector<std::string> members = suspect.nodes;
  if (members.size() == 1 && set.kind == SetKind::Pairwise) {
    const auto partner = known_good(judgement, suspect.rule, members.front());
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
                              const Judgement& judgement) {
  std::vector<Unit> units;
  if (specification.noise.on_noisy != OnNoisy::Rerun) return units;
  std::set<std::tuple<std::string, std::string, std::string>> seen;
  for (const NoisyInstance& noisy : noisy_instances(judgement)) {
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
                                std::span<const std::string> nodes, const Judgement& judgement) {
  std::vector<Unit> units;
  std::set<std::tuple<std::string, std::string, std::string, int>> seen;
  for (const Suspect& suspect : judgement.suspects) {
    const Expectation* rule = rule_of(specification, suspect.rule);
    if (rule == nullptr || rule->confirm_repeats == 0) continue;
    const DeviceSetRule& set = specification.device_set(rule->device_set);
    const auto instance = confirmation_of(set, suspect, nodes, judgement);
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

}  // namespace busbar::judge

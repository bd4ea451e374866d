// SPDX-License-Identifier: BSD-3-Clause
#include "judge/halving_replay.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "judge/run_plan.hpp"

namespace busbar::judge {
namespace {

bool has_same_nodes(std::vector<std::string> left, std::vector<std::string> right) {
  std::sort(left.begin(), left.end());
  std::sort(right.begin(), right.end());
  return left == right;
}

/// Nothing where no rule has judged the group: it was not measured.
std::optional<Halving::Outcome> outcome_of(const Judgement& judgement, const DeviceSetRule& set,
                                           const Instance& group) {
  std::optional<Word> worst;
  for (const RuleVerdict& verdict : judgement.verdicts) {
    const bool same = verdict.device_set == set.id && verdict.instance != "fleet" &&
                      has_same_nodes(verdict.nodes, group.nodes);
    if (same) worst = std::max(worst.value_or(Word::Skip), verdict.word);
  }
  if (!worst) return {};
  if (*worst == Word::Fail) return Halving::Outcome::Low;
  return *worst == Word::Error ? Halving::Outcome::NoData : Halving::Outcome::Good;
}

/// True where something else than this set's groups blames the node.
bool is_blamed_elsewhere(const Judgement& judgement, const DeviceSetRule& set,
                         const std::string& node) {
  const auto blames = [&](const RuleVerdict& verdict) {
    return verdict.word == Word::Fail && verdict.device_set != set.id &&
           verdict.nodes == std::vector{node};
  };
  const auto suspects = [&](const Suspect& suspect) { return suspect.nodes == std::vector{node}; };
  return std::any_of(judgement.verdicts.begin(), judgement.verdicts.end(), blames) ||
         std::any_of(judgement.suspects.begin(), judgement.suspects.end(), suspects);
}

NodeAccount& account_of(Judgement& judgement, const std::string& node) {
  for (NodeAccount& account : judgement.nodes) {
    if (account.node == node) return account;
  }
  return judgement.nodes.emplace_back(NodeAccount{.node = node});
}

/// The first rule of a set, which a suspect is told with.
std::string rule_of(const Specification& specification, const DeviceSetRule& set) {
  for (const Expectation& rule : specification.expectations) {
    if (rule.device_set == set.id) return rule.id;
  }
  return set.id;
}

void blame(Judgement& judgement, const std::string& rule, const std::string& node,
           const std::string& evidence, bool confirmed) {
  NodeAccount& account = account_of(judgement, node);
  account.state = NodeState::Suspect;
  account.evidence = evidence;
  judgement.suspects.push_back(
      {.nodes = {node}, .rule = rule, .evidence = evidence, .confirmed = confirmed});
}

/// Who was in a low group is only a suspect if the search says so.
void settle_nodes(const Specification& specification, const DeviceSetRule& set,
                  const HalvingReplay& replay, Judgement& judgement) {
  const std::string rule = rule_of(specification, set);
  const auto name = [&replay](std::size_t number) { return replay.nodes[number]; };
  for (const std::size_t node : replay.search.good()) {
    NodeAccount& account = account_of(judgement, name(node));
    const bool was_grouped =
        account.state == NodeState::Suspect || account.state == NodeState::Failed;
    if (!was_grouped || is_blamed_elsewhere(judgement, set, name(node))) continue;
    account.state = NodeState::Good;
    account.evidence = fmt::format("good in a group of {}", set.id);
  }
  for (const std::size_t node : replay.search.bad()) {
    blame(judgement, rule, name(node), "low with a node that is known to be good", true);
  }
  for (const std::size_t node : replay.search.silent()) {
    NodeAccount& account = account_of(judgement, name(node));
    account.state = NodeState::NoData;
    account.evidence = "no data with a node that is known to be good";
  }
  for (const std::vector<std::size_t>& group : replay.search.unresolved()) {
    std::vector<std::string> names;
    for (const std::size_t node : group) names.push_back(name(node));
    const std::string evidence = fmt::format(
        "{} are low together, and none could be told from the others", join(names, ", "));
    for (const std::string& node : names) blame(judgement, rule, node, evidence, false);
  }
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

HalvingReplay replay_halving(const DeviceSetRule& set, std::span<const std::string> nodes,
                             std::span<const Observation> observations,
                             const Judgement& judgement) {
  std::vector<std::string> searched = searched_nodes(set, nodes, observations);
  HalvingReplay replay{.nodes = searched, .search = Halving(searched.size())};
  while (true) {
    replay.next = replay.search.round();
    std::vector<Halving::Outcome> outcomes;
    for (const Instance& group : instances_of_round(replay.next, replay.nodes)) {
      const auto outcome = outcome_of(judgement, set, group);
      if (!outcome) return replay;
      outcomes.push_back(*outcome);
    }
    if (replay.next.empty()) return replay;
    replay.search.report(outcomes);
  }
}

Judgement judge_with_search(const JudgeInput& input) {
  Judgement judgement = judge_all(input);
  const std::vector<std::string> nodes =
      nodes_to_judge(input.nodes, input.specification, input.observations);
  for (const DeviceSetRule& set : input.specification.device_sets) {
    const bool searched =
        is_halved(set, nodes.size()) && searched_nodes(set, nodes, input.observations).size() > 1;
    if (!searched) continue;
    const HalvingReplay replay = replay_halving(set, nodes, input.observations, judgement);
    settle_nodes(input.specification, set, replay, judgement);
    if (!replay.next.empty()) {
      judgement.head.notes.push_back(fmt::format(
          "device set {}: the search for bad nodes was not ended; nodes of low groups are told "
          "as they are",
          set.id));
    }
  }
  return judgement;
}

}  // namespace busbar::judge

// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/halving_replay.hpp"

#include <algorithm>
#include <optional>

#include "judge/run/plan.hpp"

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
    const bool same = verdict.device_set == set.id && !verdict.of_fleet() &&
                      has_same_nodes(verdict.nodes, group.nodes);
    if (same) worst = std::max(worst.value_or(Word::Skip), verdict.word);
  }
  if (!worst) return {};
  if (*worst == Word::Fail) return Halving::Outcome::Low;
  return *worst == Word::Error ? Halving::Outcome::NoData : Halving::Outcome::Good;
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

}  // namespace busbar::judge

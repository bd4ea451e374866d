// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/rule_check.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

/// Nodes and links that a rule's FAILs blame: a node by itself, pairs by their row effects, groups
/// of a bisected set by who else was in good groups. Whole and rails blame no node.
[[nodiscard]] std::vector<Suspect> suspects_of(const RuleResult& judged,
                                               std::span<const std::string> nodes);

/// Blame by groups of a bisected set: who was in a good group is good; the only member of a low
/// group that is not good is bad; what no bad node explains is reported as a group that could not
/// be resolved.
[[nodiscard]] std::vector<Suspect> group_suspects(std::span<const CheckedRow> rows);

/// Links that have a node which is blamed itself are explained by it, and go, unless their defect
/// is worse than the node's; the worst defects then come first.
void drop_explained(std::vector<Suspect>& suspects);

/// A suspect that was measured again with a known-good partner and was good every time.
struct Cleared {
  Suspect suspect{};
  std::string text{};  ///< "low once, good with h3 again"
};

/// Marks suspects that are confirmed; takes out those that are not and makes their FAILs
/// INCONCLUSIVE. Wrong data are never cleared.
[[nodiscard]] std::vector<Cleared> confirm(RuleResult& judged, std::vector<Suspect>& suspects,
                                           std::span<const Observation> observations);

/// Every node in exactly one state, with the evidence for it. Where all are good, no verdict is
/// FAIL, ERROR or INCONCLUSIVE.
[[nodiscard]] std::vector<NodeAccount> accounts_of(std::span<const std::string> nodes,
                                                   std::span<const CheckResult> verdicts,
                                                   std::span<const Suspect> suspects,
                                                   std::span<const Cleared> cleared);

}  // namespace busbar::judge

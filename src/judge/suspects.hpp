// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/rule_check.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

/// What a rule's FAILs blame: nodes, links and paths; of whole and rails nothing.
[[nodiscard]] std::vector<Suspect> suspects_of(const RuleResult& judged);

/// The nodes of results that fail, of facts and of a soak.
[[nodiscard]] std::vector<Suspect> suspects_of(std::span<const CheckResult> results);

/// Links that have a node which is blamed itself are explained by it, and go, unless their defect
/// is worse than the node's; the worst defects then come first.
void drop_explained(std::vector<Suspect>& suspects);

/// Adds to the evidence against nodes the log of a launch that hung or crashed, where it is kept.
void add_log_names(std::vector<Suspect>& suspects, std::span<const Observation> observations);

/// Every node's state. Where all are good, no verdict is FAIL, ERROR or INCONCLUSIVE.
[[nodiscard]] std::vector<NodeAccount> accounts_of(std::span<const std::string> nodes,
                                                   std::span<const CheckResult> verdicts,
                                                   std::span<const Suspect> suspects);

}  // namespace busbar::judge

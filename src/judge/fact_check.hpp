// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "judge/judge.hpp"

namespace busbar::judge {

/// What rules of facts say of every node: a result each, without size and value. What no reading
/// has is an ERROR; where there are no readings at all, as of files alone, it is a SKIP.
[[nodiscard]] std::vector<CheckResult> judge_facts(const JudgeInput& input);

/// Adds to suspects what their nodes' facts report: "h2: eth0: carrier changes +2; PCIe ...".
void add_fact_evidence(std::vector<Suspect>& suspects, const machine::HostWindows& machines);

}  // namespace busbar::judge

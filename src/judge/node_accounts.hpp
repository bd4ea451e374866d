// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/suspects.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

/// Every node in exactly one state, with the evidence for it. Where all are good, no verdict is
/// FAIL, ERROR or INCONCLUSIVE.
[[nodiscard]] std::vector<NodeAccount> accounts_of(std::span<const std::string> nodes,
                                                   std::span<const CheckResult> verdicts,
                                                   std::span<const Suspect> suspects,
                                                   std::span<const Cleared> cleared);

}  // namespace busbar::judge

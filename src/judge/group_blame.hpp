// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "judge/judged_rule.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

/// Blame by groups of a halved set: who was in a good group is good; the only member of a low group
/// that is not good is bad; what no bad node explains is told as a group that could not be
/// resolved.
[[nodiscard]] std::vector<Suspect> group_suspects(const std::vector<const JudgedRow*>& rows);

}  // namespace busbar::judge

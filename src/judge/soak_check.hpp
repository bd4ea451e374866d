// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "judge/judge.hpp"

namespace busbar::judge {

/// What the limits of [soak] say of every instance and collective, whose turns are one timeline: a
/// result for each limit, of `soak-wrong` and `soak-launches` always. `notes` gets what happened
/// without a limit. Where a run is too short for a method, its result is INCONCLUSIVE.
[[nodiscard]] std::vector<CheckResult> judge_soak(const JudgeInput& input,
                                                  std::vector<std::string>& notes);

/// The instances of a set that have turns, as rounds of those that share no node: of a pairwise set
/// all pairs.
[[nodiscard]] std::vector<std::vector<Instance>> soaked_rounds(const DeviceSetRule& set,
                                                               std::span<const std::string> nodes);

/// The nodes of those that fail.
[[nodiscard]] std::vector<Suspect> soak_suspects(std::span<const CheckResult> results);

/// Where the timeline of a launch's CSV is: in the folder "timelines" beside it.
[[nodiscard]] std::string timeline_path(const std::string& csv);

}  // namespace busbar::judge

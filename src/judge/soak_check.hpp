// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "judge/judge.hpp"

namespace busbar::judge {

/// What the limits of [soak] say of every instance and collective, whose turns are one timeline: a
/// result for each limit, of `soak-wrong` and `soak-launches` always. What happened without a limit
/// is in the notes and the picture, of the worst. Where a run is too short for a method, its result
/// is INCONCLUSIVE.
void judge_soak(const JudgeInput& input, Acceptance& acceptance);

/// The instances of a set that have turns, as rounds of those that share no node: of a pairwise set
/// all pairs.
[[nodiscard]] std::vector<std::vector<Instance>> soaked_rounds(const DeviceSetRule& set,
                                                               std::span<const std::string> nodes);

/// Where the timeline of a launch's CSV is: in the folder "timelines" beside it.
[[nodiscard]] std::string timeline_path(const std::string& csv);

}  // namespace busbar::judge

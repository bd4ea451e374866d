// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "judge/observation.hpp"
#include "judge/run/job.hpp"
#include "judge/spec/specification.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

/// Jobs that share no node and may run at the same time.
using Unit = std::vector<Job>;

/// All of these nodes, "16 nodes": what a launch of a pairwise set is of.
[[nodiscard]] Instance fleet_instance(std::vector<std::string> nodes);

/// All launches of all sets, shuffled: first those of single nodes, so that what is bad by itself
/// is known before nodes meet. A launch of a pairwise set is of all nodes; in a soak of each pair.
[[nodiscard]] std::vector<Unit> plan_units(const Specification& specification,
                                           std::span<const std::string> nodes,
                                           std::mt19937_64& random, bool soak = false);

/// The launches of noisy instances once more, where the specification has reruns left for them.
[[nodiscard]] std::vector<Unit> rerun_units(const Specification& specification,
                                            std::span<const std::string> nodes,
                                            const Acceptance& acceptance);

}  // namespace busbar::judge

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/shuffle.hpp"
#include "judge/observation.hpp"
#include "judge/run/job.hpp"
#include "judge/spec/specification.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

/// Jobs that share no node and may run at the same time.
using Unit = std::vector<Job>;

/// All launches of all sets but those that are searched by bisection, launches and instances
/// shuffled.
[[nodiscard]] std::vector<Unit> plan_units(const Specification& specification,
                                           std::span<const std::string> nodes,
                                           std::mt19937_64& random);

/// All launches of instances that share no node, as units in their order.
[[nodiscard]] std::vector<Unit> launch_units(const Specification& specification,
                                             const DeviceSetRule& set,
                                             std::span<const Instance> instances);

/// The launches of noisy instances once more, where the specification has reruns left for them.
[[nodiscard]] std::vector<Unit> rerun_units(const Specification& specification,
                                            std::span<const std::string> nodes,
                                            std::span<const Observation> observations,
                                            const Acceptance& acceptance);

/// Suspects of rules that want a confirmation: a node with a partner that is known to be good (or
/// alone, on a set of single nodes), a link once more. One job at a time: a suspect must not be
/// measured beside another.
[[nodiscard]] std::vector<Unit> confirm_units(const Specification& specification,
                                              std::span<const std::string> nodes,
                                              const Acceptance& acceptance);

/// The groups of nodes, "h0+h1+h2", that a search by bisection measures next, among the nodes that
/// answered: a group is good where no rule fails on it and none is an error. None where the search
/// is over, or fewer than two nodes answer.
[[nodiscard]] std::vector<Instance> groups_to_search(const DeviceSetRule& set,
                                                     std::span<const std::string> nodes,
                                                     std::span<const Observation> observations,
                                                     const Acceptance& acceptance);

}  // namespace busbar::judge

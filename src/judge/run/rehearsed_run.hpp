// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "judge/fleet/rehearsal.hpp"
#include "judge/spec/specification.hpp"

namespace busbar::judge {

/// Tests a simulated fleet as a real one is tested: launches are planned, kept in the journal of
/// `folder` (new or empty) and judged by the same code; only what measures is simulated. Of the
/// specification's rules, whose text is kept there, those that compare pairs of nodes.
[[nodiscard]] Rehearsal rehearse_run(const Specification& specification, const FleetPlan& plan,
                                     const Noise& noise, const std::vector<PlantedFault>& faults,
                                     const LaunchTimes& times, std::uint64_t seed,
                                     const std::string& folder, const std::string& text);

/// Whether a rule compares pairs of nodes with each other: all others are not rehearsed.
[[nodiscard]] bool is_rehearsed(const Specification& specification, const Rule& rule);

}  // namespace busbar::judge

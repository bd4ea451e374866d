// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "judge/fleet/fleet.hpp"
#include "judge/rule_check.hpp"

namespace busbar::judge {

/// What a fleet's finding blames, of one collective and size.
struct FleetBlame {
  std::string collective{};
  Bytes size = 0;
  Blame blame{};
  double median = 0;  ///< of the fleet, as a rate: of times one over them
};

/// A fleet rule, judged.
struct FleetResult {
  std::vector<CheckedRow> rows{};
  std::vector<FleetBlame> blames{};  ///< of pairs
};

/// All verdicts of a fleet rule: one per instance, and one with instance "fleet" that says whether
/// the fleet is alike at all.
[[nodiscard]] FleetResult judge_fleet_rule(const Expectation& rule,
                                           std::span<const Instance> instances,
                                           std::span<const std::string> nodes,
                                           const ReferenceInput& input);

/// The pairs of a pairwise set with their rows' values, in the order of the rows; node numbers are
/// places in `nodes`. A row without a value is a pair without one.
[[nodiscard]] std::vector<PairValue> pair_values(std::span<const CheckedRow* const> rows,
                                                 std::span<const std::string> nodes);

}  // namespace busbar::judge

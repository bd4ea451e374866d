// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/checked_row.hpp"
#include "judge/fleet/fleet.hpp"

namespace busbar::judge {

/// One collective and size of a rule.
struct PointResult {
  std::vector<CheckedRow> rows{};     ///< one per instance
  std::optional<CheckedRow> fleet{};  ///< of fleet rules: whether the instances are alike at all
  Blame blame{};                      ///< of fleet rules on pairs; its medians are rates
};

/// A rule with all that was said of it.
struct RuleResult {
  const Rule& rule;
  const DeviceSetRule& set;
  std::vector<PointResult> points{};     ///< by collective and size
  std::vector<CheckedRow> unmeasured{};  ///< of what no instance has

  /// Visits every row: by instance, collective and size; then those of whole fleets.
  template <class Visit>
  void each(const Visit& visit) {
    const std::size_t instances = points.empty() ? 0 : points.front().rows.size();
    for (std::size_t i = 0; i < instances; ++i) {
      for (auto&& point : points) visit(point.rows[i]);
    }
    for (auto&& point : points) {
      if (point.fleet) visit(*point.fleet);
    }
    for (CheckedRow& row : unmeasured) visit(row);
  }
};

/// All rows of one rule, with its waivers: FAILs that are allowed or known become WARN and KNOWN; a
/// pass that is known to fail becomes WARN.
[[nodiscard]] RuleResult judge_rule(const Rule& rule, const JudgeInput& input);

/// Judges the rows of one collective and size by their own fleet, and adds the row that says
/// whether the fleet is alike at all. `key`: of one of its instances.
void judge_fleet(PointResult& point, const SampleKey& key, const JudgeInput& input);

/// The pairs of a pairwise set with their rows' values as rates (0 without one), in the order of
/// the rows; node numbers are indices of `nodes`.
[[nodiscard]] std::vector<PairValue> pair_values(std::span<const CheckedRow* const> rows,
                                                 std::span<const std::string> nodes);

}  // namespace busbar::judge

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "judge/fleet_rule.hpp"

namespace busbar::judge {

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

}  // namespace busbar::judge

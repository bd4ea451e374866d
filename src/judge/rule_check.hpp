// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "judge/checked_row.hpp"
#include "judge/fleet/screen.hpp"

namespace busbar::judge {

/// One collective and size of a rule.
struct PointResult {
  std::vector<CheckedRow> rows{};  ///< one per instance
  std::vector<CheckedRow>
      extra{};  ///< of pairs and paths of the fabric that are not as they should be
  std::optional<CheckedRow> fleet{};  ///< of fleet rules: whether the instances are alike at all
  std::vector<CheckResult> pairs{};   ///< of a small pairwise set: what its pairs had
  bool none_stands_out = false;       ///< all are bad alike: none is blamed by itself
  Screening to_repeat{};              ///< who of a pairwise set is to be measured again
};

/// All that a rule says.
struct RuleResult {
  const DeviceSetRule& set;
  std::vector<PointResult> points{};  ///< by collective and size

  /// Visits every row: by instance, collective and size; then others, and those of whole fleets.
  template <class Visit>
  void each(const Visit& visit) {
    const std::size_t instances = points.empty() ? 0 : points.front().rows.size();
    for (std::size_t i = 0; i < instances; ++i) {
      for (auto&& point : points) visit(point.rows[i]);
    }
    for (auto&& point : points) {
      for (auto&& row : point.extra) visit(row);
      if (point.fleet) visit(*point.fleet);
    }
  }
};

/// With its waiver: known FAILs become KNOWN; where none fails, passes become WARN.
[[nodiscard]] RuleResult judge_rule(const Rule& rule, const JudgeInput& input);

/// Who of a pairwise set is to be measured again, by all rules on it together.
[[nodiscard]] Screening suspects_to_repeat(const DeviceSetRule& set, const JudgeInput& input);

/// What a rule that is not of a fleet measures a row by.
using ReferenceOf = std::function<Reference(const SampleKey& key, const Sample& sample)>;

/// Judges one collective and size of a pairwise set, whose keys are of all nodes in their order. A
/// node's value in a launch is the upper median of its pairs, since a bad partner can only lower a
/// pair. By bounds: bad paths of the fabric first, then nodes by their row effects, then links. By
/// the fleet: what screen() suspects is a verdict only where confirm_suspects() finds it again.
[[nodiscard]] PointResult judge_pairwise(std::span<const SampleKey> keys, const JudgeInput& input,
                                         const ReferenceOf& reference_of);

}  // namespace busbar::judge

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "judge/spec/ceiling.hpp"
#include "judge/spec/lint.hpp"

namespace busbar::judge {

using LintFindings = std::vector<LintFinding>;

/// One collective of a rule, on what carries it, with its ceiling where one is known.
struct LintCase {
  const Specification& specification;
  const Expectation& rule;
  std::string collective{};
  SetShape shape{};  ///< no ranks where the number of nodes is not known
  std::optional<CeilingFigure> ceiling{};
};

/// The set's ranks and nodes as far as the specification tells them.
[[nodiscard]] SetShape shape_of(const DeviceSetRule& set, const SystemIdentity& system);

/// Floors above the ceiling (refused), under half of it, or of no known ceiling.
void lint_floors(const LintCase& subject, LintFindings& findings);

/// A bandwidth of sizes whose time is mostly latency.
void lint_latency(const LintCase& subject, LintFindings& findings);

/// Age, facts and rows of the baseline.
void lint_baseline(const Specification& specification, const Baseline* baseline,
                   const std::string& today, LintFindings& findings);

}  // namespace busbar::judge

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "judge/reference.hpp"
#include "judge/sample.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

/// A verdict, and what later steps need to know of it.
struct JudgedRow {
  RuleVerdict verdict{};
  Sample sample{};
  bool wrong_data = false;  ///< no tolerance: neither a known issue nor a miss that is allowed
  bool decided = false;     ///< no bound is to be asked any more
  bool too_few = false;     ///< decided so for want of launches
};

/// The begin of a reason where launches scattered too much; noisy_instances finds them by it.
inline constexpr std::string_view kNoisy = "noisy: ";

/// The steps before bounds: wrong data, no data, too few launches, noise, not applicable.
[[nodiscard]] JudgedRow judge_sample(const SampleKey& key, const ReferenceInput& input);

/// A row that is decided without bounds: its reference, the ratio where it has a value, and where
/// only launches are missing what the bounds would say of those that there are.
void show_reference(JudgedRow& row, const Reference& reference);

/// The steps after bounds: rows that are never a pass, launches that failed, noise by `warn`, two
/// groups of values.
void qualify(JudgedRow& row, const Expectation& rule, const Specification& specification);

/// All verdicts of one rule that is no fleet rule.
[[nodiscard]] std::vector<JudgedRow> judge_rule(const Expectation& rule,
                                                std::span<const Instance> instances,
                                                const ReferenceInput& input);

/// Over all rows of a rule: FAILs that are allowed or known become WARN and KNOWN; a pass that is
/// known to fail becomes WARN. `today` is "2026-11-21".
void excuse(std::vector<JudgedRow>& rows, const Expectation& rule, const std::string& today);

}  // namespace busbar::judge

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "judge/verdict.hpp"

namespace busbar::judge {

/// What a value is measured by.
struct Reference {
  double value = 0;     ///< GB/s or us
  std::string kind{};   ///< "absolute", "ceiling: ...", "baseline of 2026-11-21", "fleet median"
  std::string error{};  ///< why there is none
};

/// "365.6 GB/s", "12.4 us".
[[nodiscard]] std::string value_words(double value, Metric metric);
/// "81.2 %", without needless digits.
[[nodiscard]] std::string percent_words(double share);

/// Fills reference, ratio, word and reason by the bounds that are there; without any bound it is an
/// ERROR, since nothing would ever fail.
void check_bounds(RuleVerdict& verdict, const Reference& reference);

/// Adds to a reason: "first; second".
void add_reason(RuleVerdict& verdict, const std::string& more);

}  // namespace busbar::judge

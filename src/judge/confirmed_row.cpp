// SPDX-License-Identifier: BSD-3-Clause
#include "judge/confirmed_row.hpp"

#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar::judge {

std::string low_text(double log_effect) {
  return percent_text(-std::expm1(log_effect)) + " below the fleet";
}

void judge_suspect(CheckedRow& row, const NodeFinding* suspect, const NodeFinding* again,
                   bool is_cleared) {
  const bool is_slow = row.is_low() && row.decided_by != DecidedBy::TooGood;
  if (suspect == nullptr) {
    if (!is_slow) return;
    row.outcome = Outcome::Pass;
    return add_reason(row, "within the fleet's scatter");
  }
  row.reason =
      fmt::format("{} in {}", low_text(suspect->log_effect), counted(row.values.size(), "launch"));
  if (again != nullptr) {
    row.outcome = again->blamed ? Outcome::Fail : Outcome::Inconclusive;
    add_reason(row, fmt::format("{} again beside good partners{}", low_text(again->log_effect),
                                again->blamed ? "" : ", as low as good nodes may be by chance"));
  } else if (is_cleared) {
    row.outcome = Outcome::Pass;
    add_reason(row, "good again beside good partners");
  } else {
    row.outcome = Outcome::Inconclusive;
    add_reason(row, "not measured again");
  }
}

}  // namespace busbar::judge

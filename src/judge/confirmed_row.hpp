// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "judge/checked_row.hpp"
#include "judge/fleet/screen.hpp"

namespace busbar::judge {

/// "12 % below the fleet".
[[nodiscard]] std::string low_text(double log_effect);

/// Judges a node's row by what screening found of it and, null where it did not, what measuring
/// again did; or that it was good again.
void judge_suspect(CheckedRow& row, const NodeFinding* suspect, const NodeFinding* again,
                   bool is_cleared);

}  // namespace busbar::judge

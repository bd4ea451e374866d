// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "format/document.hpp"
#include "judge/spec/specification.hpp"
#include "judge/verdict.hpp"

namespace busbar::judge {

/// @name Charts of an acceptance, each with its caption
/// @{
/// One per rule and collective. Up to 24 bars; of more, 20 that are not PASS, the lowest and the
/// highest PASS.
[[nodiscard]] std::vector<Figure> waterfalls(const Acceptance& acceptance, const std::string& rule);
/// One per pairwise set, collective, size and metric, of three nodes or more; its limits do not
/// depend on what was measured.
[[nodiscard]] std::vector<Figure> heat_maps(const Acceptance& acceptance,
                                            const Specification& specification);
/// @}

}  // namespace busbar::judge

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "judge/specification.hpp"

namespace busbar::judge {

/// What carries a collective.
struct SetShape {
  int ranks = 0;
  int nodes = 0;
  std::string gpus{};  ///< DeviceSetRule::gpus
};

/// The most that a collective can reach, and where that is from.
struct CeilingFigure {
  double GBps = 0;      ///< bus bandwidth
  std::string words{};  ///< "min(450 scale-up, 50 x 15/1 scale-out), hierarchical"
};

/// From [ceiling]: of scale_up and scale_out (acceptance of one node, flat ring, hierarchical,
/// all-to-all, in-switch reduction), or of the named system's graph; nothing where it gives none,
/// and then a row's own bound_GBps counts.
[[nodiscard]] std::optional<CeilingFigure> ceiling_of(const CeilingRule& rule,
                                                      const std::string& collective,
                                                      const SetShape& shape);

}  // namespace busbar::judge

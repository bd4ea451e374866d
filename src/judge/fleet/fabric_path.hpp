// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "judge/fleet/fleet.hpp"
#include "model/matching.hpp"

namespace busbar::judge {

/// A unit of the fabric whose pairs with other units are low, or two units with each other.
struct UnitFinding {
  NodePath unit{};
  NodePath other{};  ///< empty: all others, an uplink
  double log_effect = 0;
  std::size_t low = 0;  ///< of its pairs
  std::size_t pairs = 0;
};

/// Whether two nodes' pair takes this uplink, or this path between two units.
[[nodiscard]] bool crosses(const NodePath& first, const NodePath& second, const UnitFinding& path);

/// "uplink leaf2", "leaf1-leaf2".
[[nodiscard]] std::string path_name(const UnitFinding& path);

}  // namespace busbar::judge

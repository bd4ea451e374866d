// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/matching.hpp"

namespace busbar::judge {

/// Low ones of pairs.
struct LowCount {
  std::size_t low = 0;
  std::size_t all = 0;

  void add(bool is_low) { *this += {.low = is_low ? 1U : 0U, .all = 1}; }
  LowCount& operator+=(const LowCount& more) {
    low += more.low;
    all += more.all;
    return *this;
  }
  /// All but these.
  [[nodiscard]] LowCount without(const LowCount& part) const {
    return {.low = low - part.low, .all = all - part.all};
  }
};

/// A unit of the fabric whose pairs with other units are low, or two units with each other.
struct UnitFinding {
  NodePath unit{};
  NodePath other{};  ///< empty: all others, an uplink
  double log_effect = 0;
  LowCount count{};
};

[[nodiscard]] bool is_of_unit(const NodePath& node, const NodePath& unit);

/// Whether two nodes' pair takes this uplink, or this path between two units; or any of these.
[[nodiscard]] bool crosses(const NodePath& first, const NodePath& second, const UnitFinding& path);
[[nodiscard]] bool crosses_any(const NodePath& first, const NodePath& second,
                               const std::vector<UnitFinding>& paths);

/// "uplink leaf2", "leaf1-leaf2".
[[nodiscard]] std::string path_name(const UnitFinding& path);

/// "links h[0-3] - h[4-7]": a path that no level has, by its ends; and whether a name is of one.
[[nodiscard]] std::string cut_name(const UnitFinding& path);
[[nodiscard]] bool is_cut_name(std::string_view name);

}  // namespace busbar::judge

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "judge/fleet/fleet.hpp"
#include "judge/fleet/screen.hpp"

namespace busbar::judge {

/// Fewer low pairs are no path.
inline constexpr std::size_t kFewestOver = 3;

/// Low ones of pairs.
struct LowCount {
  std::size_t low = 0;
  std::size_t all = 0;

  void add(bool is_low) {
    ++all;
    if (is_low) ++low;
  }
  [[nodiscard]] bool is_mostly_low() const { return all >= kFewestOver && 4 * low >= 3 * all; }
};

/// Uplinks, and paths between two units, over which at least three quarters of the pairs are low
/// while pairs inside the units mostly are not: the widest units first, of these the one with most
/// low pairs. Where there are two units only, it is the path between them. Without effects.
[[nodiscard]] std::vector<UnitFinding> find_low_paths(const std::vector<NodePath>& paths,
                                                      std::span<const PairValue> pairs,
                                                      const std::vector<bool>& low);

}  // namespace busbar::judge

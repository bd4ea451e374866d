// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "judge/fleet/fleet.hpp"
#include "judge/fleet/screen.hpp"

namespace busbar::judge {

/// Uplinks, and paths between two units, over which at least three quarters of the pairs are low
/// while pairs inside the units mostly are not: the widest units first, of these the one with most
/// low pairs. Where there are two units only, it is the path between them. Without effects.
[[nodiscard]] std::vector<UnitFinding> find_low_paths(const std::vector<NodePath>& paths,
                                                      std::span<const PairValue> pairs,
                                                      const std::vector<bool>& low);

/// Two parts of a fleet, neighbours in the order of its nodes, whose pairs with each other are low
/// while those within mostly are not: a path that these share, where no levels are known.
struct Cut {
  std::size_t first = 0;  ///< of the one part
  std::size_t end = 0;    ///< beyond it; all other nodes are the other part
  std::size_t low = 0;    ///< of the pairs between both
  std::size_t pairs = 0;

  [[nodiscard]] bool has(std::size_t node) const { return first <= node && node < end; }
};

/// The clearest one: at least a third of its pairs are low and no others; or half are, and wherever
/// one cuts, as many are by chance in `chance` of fleets at most.
[[nodiscard]] std::optional<Cut> find_cut(std::size_t nodes, std::span<const PairValue> pairs,
                                          const std::vector<bool>& low, double chance);

}  // namespace busbar::judge

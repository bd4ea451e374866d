// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "judge/fleet/fleet.hpp"
#include "judge/fleet/screen.hpp"

namespace busbar::judge {

/// Fewer low pairs are no path.
inline constexpr std::size_t kFewestOver = 3;

/// Uplinks, and paths between two units, over which at least three quarters of the pairs are low
/// while pairs inside the units mostly are not: the widest units first, of these the one with most
/// low pairs. Where there are two units only, it is the path between them. Without effects.
[[nodiscard]] std::vector<UnitFinding> find_low_paths(const std::vector<NodePath>& paths,
                                                      std::span<const JudgedPair> pairs);

/// Two parts of a fleet, neighbours in the order of its nodes, whose pairs with each other are low
/// while those within mostly are not: a path that these share, which no level may have.
struct LowCut {
  UnitFinding path{};             ///< its ends are levels, or lists of hosts
  std::vector<NodePath> sides{};  ///< of each node: its end
  bool is_known = false;          ///< the ends are the only two units of the widest level
};

/// The clearest one: half of its pairs are low, or a third and no others. Wherever one cuts, as
/// many are by chance in `chance` of fleets at most, unless no others are low and half of its
/// possible pairs were measured. No node has nearly all of them.
[[nodiscard]] std::optional<LowCut> find_cut(const std::vector<std::string>& nodes,
                                             const std::vector<NodePath>& paths,
                                             std::span<const JudgedPair> pairs,
                                             double chance = 0.05);

/// Whether one node has more than three quarters of these low pairs: then it is low by itself.
[[nodiscard]] bool is_by_one_node(const std::set<NumberPair>& low);

/// A cut by the fleet's own better pairs, where `loss` is low; with its effect.
[[nodiscard]] std::optional<LowCut> find_fleet_cut(const std::vector<std::string>& nodes,
                                                   const FleetRates& rates, double loss);

}  // namespace busbar::judge

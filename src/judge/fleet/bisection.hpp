// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

namespace busbar::judge {

/// Nodes by number from 0, rising.
using NodeNumbers = std::vector<std::size_t>;

/// Whether a group was good, and not low or without data; nothing where it was not measured.
using GroupIsGood = std::function<std::optional<bool>(const NodeNumbers&)>;

/// Searches bad nodes among very many (two at least), as far as the measured groups lead it: groups
/// are halved while they are not good. A group of one is topped up with a node that is known to be
/// good, since one alone runs no collective. Where no good node is known, such nodes measure each
/// other in changing pairs until one pair is good. Returns the disjoint groups to be measured next,
/// at the same time; none when the search is over.
[[nodiscard]] std::vector<NodeNumbers> next_groups(std::size_t nodes, const GroupIsGood& is_good);

}  // namespace busbar::judge

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/round_robin.hpp"

namespace busbar {

/// Where a node is in the fabric: the names of its units from the widest to the narrowest, {"pod2",
/// "leaf7"}; all nodes of a fleet have as many. Empty: nothing is known.
using NodePath = std::vector<std::string>;

/// Random perfect matchings of nodes, which measure round by round: no pair is in two of them, and
/// all pairs are in them where there are `rounds` + 1 nodes or fewer. With an odd number of nodes
/// one rests in each round, another in each. The same for a seed on every machine.
[[nodiscard]] std::vector<RoundOfPairs> random_matchings(std::size_t nodes, std::size_t rounds,
                                                         std::uint64_t seed);

/// Two nodes' level: how many of their units, from the widest, they share.
[[nodiscard]] std::size_t shared_units(const NodePath& first, const NodePath& second);

/// Random matchings of each level in turn, `rounds` in all: pairs of a leaf, then pairs of a pod
/// that no leaf has, then pairs across pods. No pair is in two of them; who has no partner at a
/// level rests. Levels at which no two nodes meet are left out; one level: random_matchings.
[[nodiscard]] std::vector<RoundOfPairs> level_matchings(const std::vector<NodePath>& paths,
                                                        std::size_t rounds, std::uint64_t seed);

}  // namespace busbar

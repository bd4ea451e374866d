// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topo/choice/rater.hpp"
#include "topo/choice/sets.hpp"
#include "topo/choice/ties.hpp"

namespace busbar::topo {

/// A set, or several that differ only in devices nothing tells apart.
struct Candidate {
  DeviceSet set{};          ///< the one with the lowest indices
  std::uint64_t count = 1;  ///< saturates at kManySets
  Tie tie{};
};

/// All sets of k of the pool, one by one up to kMostSets; beyond that by how many of each class of
/// interchangeable devices they have (those of one NUMA node, one distance to the NICs, and whose
/// exchange leaves every path's capacity as it was). Throws Error (Usage) where those classes, too,
/// are more than kMostSets.
[[nodiscard]] std::vector<Candidate> candidates_of(std::span<const int> pool, std::size_t k,
                                                   const Rater& rater, const TieBreaker& ties);

}  // namespace busbar::topo

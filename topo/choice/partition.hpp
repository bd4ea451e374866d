// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topo/choice/choose.hpp"
#include "topo/choice/scores.hpp"
#include "topo/choice/sets.hpp"

namespace busbar::topo {

inline constexpr std::size_t kMostBlockDevices = 16;

/// What a block of a partition is worth; the sum over blocks adds each member up. Whole numbers, so
/// that sums are equal or not whatever their order.
struct Worth {
  std::int64_t ring = 0;  ///< in millionths of a GB/s
  std::int64_t bound = 0;
  std::int64_t tie = 0;  ///< higher is better: fewer NUMA nodes, then nearer NICs

  friend auto operator<=>(const Worth&, const Worth&) = default;
};

[[nodiscard]] Worth worth_of(const Scores& scores, const Tie& tie);

/// Indices of blocks (of equal size, in lexicographic order, with what each is worth) that have
/// each of the devices 0 to n - 1 once, by their lowest device: the least block (ring, then bound)
/// is the greatest possible, then the sum; of equal ones the first in order. n <=
/// kMostBlockDevices.
[[nodiscard]] std::vector<std::size_t> best_blocks(std::size_t n, std::span<const DeviceSet> blocks,
                                                   std::span<const Worth> worth);

/// All devices in sets of k for jobs that run at once: the least bound is the greatest possible,
/// then the sum. More than 16 devices that are not one switched domain with equal ports are divided
/// host by host. Throws Error (Usage) where k does not divide the devices, or those of each host.
[[nodiscard]] std::vector<Choice> partition(const Graph& graph, int k,
                                            const BoundOptions& options = {});

}  // namespace busbar::topo

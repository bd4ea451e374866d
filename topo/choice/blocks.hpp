// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "topo/choice/ties.hpp"

namespace busbar::topo {

inline constexpr std::size_t kMostBlockDevices = 16;

/// What a block of a partition is worth; the sum over blocks adds each figure up. Whole numbers, so
/// that sums are equal or not whatever their order.
struct Worth {
  std::int64_t ring = 0;  ///< in millionths of a GB/s
  std::int64_t bound = 0;
  std::int64_t tie = 0;  ///< higher is better: fewer NUMA nodes, then nearer NICs

  friend auto operator<=>(const Worth&, const Worth&) = default;
  [[nodiscard]] Worth plus(const Worth& other) const {
    return {.ring = ring + other.ring, .bound = bound + other.bound, .tie = tie + other.tie};
  }
};

[[nodiscard]] Worth worth_of(double ring_GBps, double bound_GBps, const Tie& tie);

/// All sets of k of n devices as bits, with their worth.
class Blocks {
 public:
  /// n <= kMostBlockDevices, of which k is a divisor.
  Blocks(std::size_t n, std::size_t k) : n_(n), k_(k), worth_(std::size_t{1} << n) {}

  void set_worth(std::span<const int> block, const Worth& worth) { worth_[bits(block)] = worth; }

  /// All devices in blocks: the least block (ring, then bound) is the greatest possible, then the
  /// sum; of equal ones the first in lexicographic order. Blocks by their lowest device.
  [[nodiscard]] std::vector<std::vector<int>> best_partition() const;

  [[nodiscard]] static std::size_t bits(std::span<const int> block);

 private:
  std::size_t n_;
  std::size_t k_;
  std::vector<Worth> worth_;
};

}  // namespace busbar::topo

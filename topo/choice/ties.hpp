// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "topo/graph/graph.hpp"

namespace busbar::topo {

/// What decides between sets of equal bounds; lower is better, from the first on.
struct Tie {
  int off_pairs = 0;   ///< 1 where some pair has neither NVLink nor PCIe access to its memory
  int numa_nodes = 0;  ///< of which the set has devices
  int nic_steps = 0;   ///< sum over the devices of the steps to the nearest NIC

  friend auto operator<=>(const Tie&, const Tie&) = default;
};

/// What a graph tells about its devices apart from bandwidth.
class TieBreaker {
 public:
  explicit TieBreaker(const Graph& graph);

  [[nodiscard]] Tie of(std::span<const int> devices) const;
  /// A number for the device's NUMA node, the same for its neighbours there; unknown nodes of one
  /// host are one.
  [[nodiscard]] int numa(int device) const { return numa_.at(static_cast<std::size_t>(device)); }
  /// Links to the nearest NIC, 10 more for each processor between and 100 for each link between
  /// processors, so that PIX < PXB < PHB < NODE < SYS; kNoNic where none is reached.
  [[nodiscard]] int nic_steps(int device) const {
    return nic_steps_.at(static_cast<std::size_t>(device));
  }

  static constexpr int kNoNic = 1000;

 private:
  std::vector<int> numa_{};
  std::vector<int> nic_steps_{};
  std::vector<std::vector<bool>> off_{};
};

}  // namespace busbar::topo

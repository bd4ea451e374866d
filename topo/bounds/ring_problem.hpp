// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace busbar::topo {

/// A resource that a hop takes, and how often per byte carried.
struct Use {
  int resource = 0;
  double times = 1;
};

/// What one device takes to reach another; absent where there is no way.
using Hop = std::optional<std::vector<Use>>;

/// Largest fractional packing of directed rings through all of n devices: max sum x_C subject to
/// sum times(r, C) x_C <= capacity_r (topology of Hamiltonian cycles; no graph, no units).
struct RingProblem {
  int n = 0;
  std::vector<double> capacity{};  ///< of each resource: finite and positive
  std::vector<Hop> hops{};         ///< n x n, row by row: from, to; the diagonal is absent

  [[nodiscard]] const Hop& hop(int from, int to) const {
    return hops[static_cast<std::size_t>(from) * static_cast<std::size_t>(n) +
                static_cast<std::size_t>(to)];
  }
};

}  // namespace busbar::topo

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "topo/bounds/ring_problem.hpp"

namespace busbar::topo {

/// A ring in order (the last is followed by the first), beginning with the lowest number.
struct PackedRing {
  std::vector<int> order{};
  double rate = 0;  ///< in the unit of the capacities
};

struct RingPacking {
  double value = 0;                 ///< bandwidth of the rings together
  std::vector<PackedRing> rings{};  ///< those with a rate above 0
  /// Price of each resource: every ring costs at least 1, and capacity times price adds up to
  /// `value`. A proof where `exact`; beyond 16 devices only a hint.
  std::vector<double> dual{};
  bool exact = true;  ///< false: the optimum lies within [value, upper]
  double upper = 0;   ///< no packing is better
};

/// Solves by column generation: the master program by simplex, pricing by Held and Karp. Exact to
/// 16 devices (1e-9 relative); beyond, rings are found by local search, so `value` is a lower end
/// and `upper` the least of quick_upper and `known_upper`, where the search ends: no packing has
/// more bandwidth than that, as the caller knows. Infinite where a ring takes no resource.
[[nodiscard]] RingPacking pack_rings(const RingProblem& problem, double known_upper = kInfinity);

}  // namespace busbar::topo

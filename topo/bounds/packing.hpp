// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

namespace busbar::topo {

inline constexpr double kTolerance = 1e-9;  ///< relative, of rates that are computed
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A resource that a hop takes, and how often per byte sent.
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

/// What can leave a device, or reach it, at most, and the resources that say so: one for each hop.
struct DeviceUpper {
  double value = 0;
  std::vector<int> resources{};
};
[[nodiscard]] DeviceUpper device_upper(const RingProblem& problem, int device, bool leaving);

/// No packing of rings has more bandwidth: the least of device_upper; 0 where a device has no way
/// in or out, infinite where nothing is known to limit one.
[[nodiscard]] double quick_upper(const RingProblem& problem);

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

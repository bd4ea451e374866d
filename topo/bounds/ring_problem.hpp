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

/// No packing of rings has more bandwidth: the least over devices of what can leave one and of what
/// can reach one. A microsecond for eight devices; 0 where a device has no way in or out; infinite
/// where nothing is known to limit one.
[[nodiscard]] double quick_upper(const RingProblem& problem);

/// What can leave a device, or reach it, and the resources that say so.
struct DeviceUpper {
  double value = 0;
  std::vector<int> resources{};
};
[[nodiscard]] DeviceUpper leaving_upper(const RingProblem& problem, int device);
[[nodiscard]] DeviceUpper reaching_upper(const RingProblem& problem, int device);

}  // namespace busbar::topo

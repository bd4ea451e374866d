// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "topo/bounds/bound.hpp"
#include "topo/choice/sets.hpp"

namespace busbar::topo {

/// More devices than these in one switched domain are refused.
inline constexpr std::size_t kMostSwitchPorts = 1024;

/// GB/s of each device's port where any two or more of the pool have the bound of their narrowest
/// port: all on the same NVSwitches, of which a wider device has no port narrower than another's.
/// Nothing elsewhere.
[[nodiscard]] std::optional<std::vector<double>> switch_ports(const Graph& graph,
                                                              std::span<const int> pool,
                                                              const BoundOptions& options);

/// Sets of a switched domain by their narrowest port.
struct PortClass {
  double port_GBps = 0;
  std::uint64_t count = 0;  ///< saturates at kManySets
  double about = 0;         ///< the same to 15 digits
};

/// All sets of k >= 2, by falling GB/s.
[[nodiscard]] std::vector<PortClass> port_classes(std::span<const double> ports, std::size_t k);

/// Which set of a switched domain is wanted.
struct PortRequest {
  std::size_t k = 2;
  double level_GBps = 0;  ///< the narrowest port of the set is exactly this
  bool spread = false;    ///< most NUMA nodes and farthest NICs instead of fewest and nearest
};

/// Of the pool's sets with this narrowest port the first by NUMA nodes, NIC steps and lowest
/// indices, without trying them: a dynamic program over NUMA nodes. `ports` are the pool's, in its
/// order. Throws Error (Runtime) where no set has that port.
[[nodiscard]] DeviceSet pick_by_ports(std::span<const int> pool, std::span<const double> ports,
                                      const TieBreaker& ties, const PortRequest& request);

}  // namespace busbar::topo

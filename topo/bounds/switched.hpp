// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "topo/bounds/bound.hpp"

namespace busbar::topo {

/// Devices that all hang on the same NVSwitches.
struct SwitchedDomain {
  double port_GBps = 0;          ///< of the narrowest device, per direction: what any ring reaches
  std::vector<int> narrowest{};  ///< links of the devices that are so narrow
  std::vector<int> links{};      ///< of all ports of the set
  /// All-reduce with reduction in the switches, where all of them can.
  std::optional<double> in_switch_GBps{};
};

/// Nothing where a device has no port, or also NVLink straight to another, or where several
/// switches are joined to the devices so unevenly that the closed form is no longer exact. Every
/// ring takes each device's port once in each direction, and one ring at the narrowest port's rate
/// does that for any number of devices.
[[nodiscard]] std::optional<SwitchedDomain> switched_domain(const Graph& graph,
                                                            std::span<const int> devices,
                                                            const BoundOptions& options);

}  // namespace busbar::topo

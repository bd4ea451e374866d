// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "harness/host_topology.hpp"
#include "harness/set_bound.hpp"

namespace busbar {

/// The bound of these devices of one host (none twice): the ring bound of topo::bound_of for
/// collectives whose ring is the best schedule, what the switch adds (NVLS) for all-reduce, a
/// switch's port for the others, nothing where neither holds. `all_here` is false where more hosts
/// take part: the network between them is not known.
[[nodiscard]] SetBound device_bound(const HostTopology& topology, std::span<const Device> devices,
                                    bool all_here, const Collective& collective);

}  // namespace busbar

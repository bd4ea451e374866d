// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "topo/predict/cluster.hpp"

namespace busbar::topo {

/// What the devices of a part exchange with other hosts at most, each way, in GB/s: the least cut
/// between them and the networks. 0 where no network is reached.
[[nodiscard]] double host_network_GBps(const Cluster& cluster, const HostPart& part,
                                       const BoundOptions& options);

}  // namespace busbar::topo

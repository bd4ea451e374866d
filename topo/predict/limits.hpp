// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "topo/bounds/host_limits.hpp"
#include "topo/predict/cluster.hpp"

namespace busbar::topo {

/// Limits of these ranks. Two hosts together are computed exactly up to 16 devices; beyond, as the
/// least of each host's own ring and of the bandwidth of its network cards.
[[nodiscard]] SetLimits limits_of(const Cluster& cluster, const RankSet& set,
                                  const BoundOptions& options);

}  // namespace busbar::topo

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <string>

#include "topo/predict/cluster.hpp"

namespace busbar::topo {

/// What the devices of a part exchange with other hosts at most, each way, in GB/s: the least cut
/// between them and the networks. 0 where no network is reached.
[[nodiscard]] double host_network_GBps(const Cluster& cluster, const HostPart& part,
                                       const BoundOptions& options);

/// Bandwidths of a set of ranks, in GB/s per direction: everything that the times of collectives
/// depend on beside their size.
struct SetLimits {
  int ranks = 0;
  int hosts = 0;         ///< that a network joins; hosts of one NVLink domain are one
  int most_on_host = 0;  ///< ranks
  double ring_GBps = 0;  ///< through all ranks
  double host_GBps =
      0;  ///< of the rings within a host, the least; infinite where each has one rank
  double network_GBps =
      std::numeric_limits<double>::infinity();  ///< in or out of a host, the least
  double in_switch_GBps = 0;  ///< bus bandwidth within a host whose switch adds; 0 where none does
  bool exact = true;
  std::string kind{};                  ///< as Bound::kind
  std::string limit{};                 ///< as Bound::limit
  LinkKind within = LinkKind::NvLink;  ///< the slowest that a step in a host goes over; xGMI too
};

/// Limits of these ranks. Two hosts together are computed exactly up to 16 devices; beyond, as the
/// least of each host's own ring and of the bandwidth of its network cards.
[[nodiscard]] SetLimits limits_of(const Cluster& cluster, const RankSet& set,
                                  const BoundOptions& options);

}  // namespace busbar::topo

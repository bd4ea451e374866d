// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "harness/host_topology.hpp"
#include "harness/options.hpp"
#include "harness/placement.hpp"
#include "harness/set_bound.hpp"
#include "model/bootstrap.hpp"
#include "model/communicator.hpp"
#include "model/device.hpp"

namespace busbar {

/// What bounds are found from.
struct BoundInput {
  const Options& options;
  const Collective& collective;
  Bootstrap& everyone;
  Communicator& communicator;
  const Placements& placements;
  const std::vector<Device>& devices;           ///< of all ranks; none for host memory
  const std::optional<HostTopology>& topology;  ///< of this rank's host, where there are devices
  const std::vector<int>& groups;               ///< of all ranks
};

/// The sets that rows run on and their bounds: host memory is measured (--host-limits), what GPUs
/// carry is reckoned from their host's topology. Collective over the job.
[[nodiscard]] BoundSource find_bounds(const BoundInput& input);

}  // namespace busbar

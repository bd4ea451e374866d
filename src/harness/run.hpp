// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "harness/bounds.hpp"
#include "harness/memory_plan.hpp"
#include "harness/options.hpp"
#include "harness/rank_map.hpp"
#include "harness/watchdog.hpp"
#include "model/bootstrap.hpp"
#include "model/communicator.hpp"
#include "model/flag.hpp"

namespace busbar {

/// One run once its ranks are connected: what was asked for, who takes part, and what was found.
/// What is referred to outlives it.
struct Run {
  const Options& options;
  const Collective& collective;
  std::string_view backend;
  Bootstrap& world;           ///< the ranks of the job
  Bootstrap& group;           ///< the ranks of the communicator: all, or one group of a split
  int smallest_group = 1;     ///< ranks of the smallest group
  std::vector<int> groups{};  ///< the group of each rank of the job
  Communicator& communicator;
  const RankMap& rank_map;
  std::vector<Device> devices{};           ///< of all ranks; none for host memory
  std::optional<HostTopology> topology{};  ///< of this rank's host, where there are devices
  Progress progress = Progress::Block;
  Watchdog& watchdog;
  bool on_devices = false;  ///< operations run on devices, not in host memory
  double connect_s = 0;     ///< that connecting took, of the slowest rank
  MemoryPool memory{};
  double timer_cost_s = 0;
  Bytes device_cache = 0;     ///< largest of all ranks' devices; 0 on host memory
  std::vector<Flag> flags{};  ///< of every row: shared-gpu, fake, ...
  SetBound bound{};           ///< of this rank's group
};

}  // namespace busbar

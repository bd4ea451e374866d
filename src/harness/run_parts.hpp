// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/memory_pool.hpp"
#include "harness/options.hpp"
#include "harness/placement.hpp"
#include "harness/set_bound.hpp"
#include "harness/watchdog.hpp"
#include "model/bootstrap.hpp"
#include "model/communicator.hpp"
#include "model/record.hpp"

namespace busbar {

/// What a run is made of; all outlive the runner.
struct RunParts {
  const Options& options;
  const Collective& collective;
  std::string_view backend;
  Bootstrap& everyone;       ///< the ranks of the job
  Bootstrap& team;           ///< the ranks of the communicator: all, or one group of a split
  std::optional<int> group;  ///< this team's number where ranks are split
  int smallest_team;         ///< ranks of the smallest group
  Communicator& communicator;
  const Placements& placements;
  MemoryPool memory;
  Progress progress;
  double timer_cost_s;
  std::vector<std::string_view> flags;  ///< of every row: "shared-gpu", "fake", ...
  Watchdog& watchdog;
  BoundSource bound_of{};   ///< null: rows tell neither set nor bound
  bool on_devices = false;  ///< operations run on devices, not in host memory
  Bytes device_cache = 0;   ///< largest of all ranks' devices; 0 on host memory
};

/// "all-reduce 64 MiB in place"
[[nodiscard]] std::string row_name(const RunParts& parts, const Record& record);

}  // namespace busbar

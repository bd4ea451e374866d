// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>

#include "harness/host_limits.hpp"
#include "harness/set_bound.hpp"

namespace busbar {

/// Highest bus bandwidth of a collective in the memory of one host, in GB/s: its bus factor times
/// its size over the time that all ranks need for its least work when they share it evenly,
///   (copied / copy rate + reduced / reduce rate) / ranks,
/// so 2 / (1/copy + 1/reduce) for an all-reduce. Nothing for one rank, for a collective whose least
/// work is unknown, and where nothing was measured.
[[nodiscard]] std::optional<double> host_bound_GBps(const HostLimits& limits, const BoundRow& row);

/// Who shares a host's memory, as far as words and the bound depend on it.
struct HostTeam {
  std::string device_set{};
  int ranks = 1;             ///< of the job
  int nodes = 1;             ///< of the job
  bool whole = true;         ///< rows are of all ranks of the job: neither split nor paired
  bool measured = true;      ///< else --host-limits off
  Bytes last_level_cache{};  ///< of the host
};

/// Why host memory has no bound that holds for this job, or empty: then it is worth measuring.
[[nodiscard]] std::string host_bound_obstacle(const HostTeam& team);

/// The bound of host memory, in words and numbers. `limits` is empty where there is an obstacle.
[[nodiscard]] SetBound host_bound(const HostTeam& team, const Collective& collective,
                                  const HostLimits& limits);

}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"

namespace busbar {

/// Memory that a new process may take on this host: MemAvailable, or what is left of the smallest
/// cgroup limit above this process. `root` is "" but for tests, which have their own /proc and
/// /sys.
[[nodiscard]] Bytes available_memory(const std::string& root = "");

/// Processes and threads that this process and its children may still start: by RLIMIT_NPROC, which
/// counts those of the user and does not hold for root, and by the smallest pids.max of the cgroups
/// above.
[[nodiscard]] std::uint64_t available_processes(const std::string& root = "");

/// Processors' worth of time that the cgroups grant (cpu.max), or nothing where they do not limit.
[[nodiscard]] std::optional<double> processor_quota(const std::string& root = "");

/// Identifies this host's kernel: ranks on one share processors and memory.
using BootId = std::array<char, 40>;
[[nodiscard]] BootId boot_id();

[[nodiscard]] std::string host_name();
[[nodiscard]] std::string kernel_release();
/// Page faults without input or output, and involuntary context switches, of this process so far.
struct Disturbances {
  double minor_faults = 0;
  double involuntary_switches = 0;
};
[[nodiscard]] Disturbances disturbances();

/// The path of this program. Throws Error (Unavailable) where the system does not give it.
[[nodiscard]] std::string own_program();

/// Now, as "2026-11-21 14:02:59" of local time.
[[nodiscard]] std::string local_time();

/// "NAME=value" of the variables that change what libraries do: NCCL_*, UCX_*, MPIR_* and the like,
/// without what a launcher sets for its own use.
[[nodiscard]] std::vector<std::string> library_environment();

}  // namespace busbar

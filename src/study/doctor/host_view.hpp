// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "bootstrap/mpi_library.hpp"
#include "bootstrap/socket.hpp"
#include "machine/host_reading.hpp"

namespace busbar::study {

/// The MPI that this program is linked with, and what PATH has to start ranks with.
struct LauncherView {
  MpiLibrary library{};
  std::string plain{};  ///< mpirun or mpiexec, the first in PATH; empty: none
  std::string own{};    ///< the library's own launcher; empty: none
};

/// What checks look at: a host's facts, and what only the host itself knows, without a value where
/// it was not looked at.
struct HostView {
  machine::HostReading facts{};
  std::optional<machine::HostReading> before{};  ///< an earlier one: what has changed is a fault
  /// NCCL_* by their names: of the environment, else of nccl.conf.
  std::optional<std::map<std::string, std::string>> nccl{};
  std::optional<std::vector<std::string>> network_plugins{};  ///< libnccl-net* that are found
  std::optional<std::vector<InterfaceAddress>> interfaces{};
  std::optional<Bytes> shared_memory{};       ///< the size of /dev/shm
  std::optional<double> processors{};         ///< that the cgroups grant, if they limit
  std::optional<LauncherView> launcher{};     ///< nothing in a build without MPI
  std::string run_command{};                  ///< that ran allreduce_perf on all GPUs
  std::optional<CommandResult> run_result{};  ///< nothing where it was not wanted, or has no GPUs
};

/// The GPUs that nvidia-smi shows, or that have device files.
[[nodiscard]] std::size_t gpu_count(const machine::HostReading& facts);

/// Looks at this host. Of a captured tree (a root) the environment is this process's.
[[nodiscard]] HostView view_host(const machine::FactSources& sources);
/// Runs allreduce_perf of a folder on all GPUs that this process sees, with NCCL's diagnostics on.
void run_collective(const std::string& folder, HostView& view);

}  // namespace busbar::study

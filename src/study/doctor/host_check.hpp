// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/child_process.hpp"
#include "base/enum_names.hpp"
#include "bootstrap/mpi_library.hpp"
#include "bootstrap/socket.hpp"
#include "machine/host_window.hpp"

namespace busbar::study {

/// The MPI that this program is linked with, and what PATH has to start ranks with.
struct LauncherView {
  MpiLibrary library{};
  std::string plain{};          ///< mpirun or mpiexec, the first in PATH; empty: none
  std::string plain_version{};  ///< what its --version prints
  std::string own{};            ///< the library's own launcher; empty: none
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
[[nodiscard]] HostView view_host(const std::string& root, const std::string& nvidia_smi);
/// Runs allreduce_perf of a folder on all GPUs that this process sees, with NCCL's diagnostics on.
void run_collective(const std::string& folder, HostView& view);

enum class Severity {
  Problem,   ///< is missing or wrong
  Hint,      ///< matters on some machines: change it and measure
  Note,      ///< is as it should be
  NotLooked  ///< and why
};

constexpr auto enum_names(Severity) {
  return std::array{Named{Severity::Problem, "problem"}, Named{Severity::Hint, "hint"},
                    Named{Severity::Note, "fine"}, Named{Severity::NotLooked, "not looked at"}};
}

/// What a check found.
struct HostFinding {
  Severity severity = Severity::Note;
  std::string text{};
  std::string cure{};   ///< a command that fixes it, with what people must know behind a '#'
  std::string check{};  ///< its name: "numa-balancing"
};
using HostFindings = std::vector<HostFinding>;

/// What each check finds on a host, one or more of each, in the order of their table; pure.
[[nodiscard]] HostFindings check_host(const HostView& view);
/// What differs between hosts of one job and should not, by their last readings; pure.
[[nodiscard]] HostFindings check_same(const std::vector<machine::HostWindow>& hosts);

/// @name Checks of adapters, and of what NCCL does with the network: of the table of checks
/// @{
[[nodiscard]] HostFindings check_gids(const HostView& view);
[[nodiscard]] HostFindings check_interfaces(const HostView& view);
[[nodiscard]] HostFindings check_network_plugin(const HostView& view);
[[nodiscard]] HostFindings check_gpudirect(const HostView& view);
/// @}

/// @name For all checks
/// @{
[[nodiscard]] HostFindings not_looked(std::string why);
/// The values of a fact by their instances; a variable of NCCL is a fact, too.
[[nodiscard]] std::map<std::string, std::string> instances_of(const HostView& view,
                                                              std::string_view fact);
/// "gpu0, gpu1, gpu2 and 5 more"
[[nodiscard]] std::string some_of(const std::vector<std::string>& names);
/// Ports of RDMA that are linked to a fabric: "mlx5_0:1".
[[nodiscard]] std::vector<std::string> active_ports(const HostView& view);
/// @}

}  // namespace busbar::study

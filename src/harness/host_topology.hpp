// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/options.hpp"
#include "model/backend.hpp"
#include "topo/choice/choose.hpp"

namespace busbar {

/// What is known of the GPUs of this rank's host; the same on all ranks of the host, but for
/// `index`.
struct HostTopology {
  topo::Graph graph{};    ///< all that nvidia-smi shows, whatever this job may take
  std::string missing{};  ///< why nothing is known of the GPUs; then the graph has none
  int ranks = 1;          ///< of the job, on this host
  int index = 0;          ///< of this rank among them
  /// --devices: the set, in numbers of `graph`; nothing where none was asked for.
  std::optional<topo::Choice> choice{};
};

/// Looks at the GPUs of every host once (by its first rank) and chooses as --devices asks. Throws
/// Error (Usage) on all ranks where one host cannot choose. Collective.
[[nodiscard]] HostTopology probe_host(Bootstrap& world, const Backend& backend,
                                      const Options& options);

/// The device that this rank is to take.
[[nodiscard]] DeviceRequest device_request(const HostTopology& topology, const Options& options);

/// The numbers in `graph` of these devices; nothing where one of them is not there.
[[nodiscard]] std::optional<std::vector<int>> numbers_of(const topo::Graph& graph,
                                                         std::span<const Device> devices);

/// The choice among the devices that may be taken, in numbers of the whole graph; `request` is in
/// such numbers, too. Throws Error (Usage). Pure.
[[nodiscard]] topo::Choice choose_among(const topo::Graph& graph, const std::vector<int>& allowed,
                                        int count, topo::Selection request);

/// What the hosts of a run have, used by it or not, for the heads of files: gpus-per-node and
/// nics_per_node as nvidia-smi and hwloc show them, and driver, the version of NVIDIA's kernel
/// module. Hosts that differ are joined by "; "; what no host reports is left out. Collective.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> inventory_facts(
    Bootstrap& world, const std::optional<HostTopology>& topology);

/// The version in the first line of /proc/driver/nvidia/version, or empty.
[[nodiscard]] std::string driver_version(std::string_view line);

}  // namespace busbar

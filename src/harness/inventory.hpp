// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/host_topology.hpp"

namespace busbar {

/// What the hosts of a run have, used by it or not, for the heads of files: gpus-per-node and
/// nics-per-node as nvidia-smi and hwloc show them, and driver, the version of NVIDIA's kernel
/// module. Hosts that differ are joined by "; "; what no host tells is left out. Collective.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> inventory_facts(
    Bootstrap& everyone, const std::optional<HostTopology>& topology);

/// The version in the first line of /proc/driver/nvidia/version, or empty.
[[nodiscard]] std::string driver_version(std::string_view line);

}  // namespace busbar

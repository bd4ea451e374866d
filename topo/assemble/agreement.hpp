// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topo/assemble/assemble.hpp"
#include "topo/assemble/gpus.hpp"

namespace busbar::topo {

/// The first contradiction between two sources, which shows that they are of different machines:
/// other GPUs, other models, or NVLinks that cannot be both. Nothing where they agree.
[[nodiscard]] std::optional<std::string> contradiction(const Sources& sources);

/// Adds to the graph's warnings what a person should know before trusting it (GPUs made for NVLink
/// without any, one off the fabric, inactive links, P2P that is off, MIG), and to its assumptions
/// what no source shows: NVLink at all, the link between sockets, a virtual machine's PCIe.
void add_warnings(Graph& graph, const std::vector<GpuEntry>& gpus, const Sources& sources);

}  // namespace busbar::topo

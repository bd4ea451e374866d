// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "topo/assemble/gpu_list.hpp"

namespace busbar::topo {

/// Adds to the graph's warnings what a person should know before trusting it (GPUs made for NVLink
/// without any, one off the fabric, inactive links, P2P that is off, MIG), and to its assumptions
/// what no source shows: NVLink at all, the link between sockets, a virtual machine's PCIe.
void add_warnings(Graph& graph, const std::vector<GpuEntry>& gpus, const Sources& sources);

}  // namespace busbar::topo

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "topo/assemble/gpu_list.hpp"

namespace busbar::topo {

/// Adds to the graph's warnings what a person should know before trusting it: GPUs made for NVLink
/// without any, one off the fabric, dark links, P2P that is off, MIG, a virtual machine's PCIe,
/// a matrix that does not tell NVLink.
void add_warnings(Graph& graph, const std::vector<GpuEntry>& gpus, const Sources& sources);

}  // namespace busbar::topo

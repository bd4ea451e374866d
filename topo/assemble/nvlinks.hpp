// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "topo/assemble/gpu_list.hpp"

namespace busbar::topo {

/// Adds the NVLinks between GPUs, to a switch (one node for all switches of the host, as NCCL has
/// it) and to processors, from the best source: NCCL's file, `nvlink -R`, the words of `topo -m`.
/// A matrix alone does not tell switch from cable: more links in a row than a GPU has are a switch.
void add_nvlinks(Graph& graph, const std::vector<GpuEntry>& gpus, const Sources& sources);

}  // namespace busbar::topo

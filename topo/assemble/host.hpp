// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "topo/assemble/gpus.hpp"

namespace busbar::topo {

/// Adds processors, NUMA nodes, PCIe switches and NICs from a tree and hangs the GPUs (whose nodes
/// exist) on them. GPUs that the tree does not have stay loose, with a warning.
void add_host_from_tree(Graph& graph, std::vector<GpuEntry>& gpus, const HostTree& tree);

/// The same from the labels of `topo -m` alone: devices that are PIX to each other share a switch,
/// and so on upwards. What NV# hides shows in NICs and affinity, as far as they go.
void add_host_from_labels(Graph& graph, std::vector<GpuEntry>& gpus, const SmiMatrix& matrix);

}  // namespace busbar::topo

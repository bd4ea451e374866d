// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "topo/assemble/gpus.hpp"

namespace busbar::topo {

/// Adds processors, NUMA nodes, PCIe switches and NICs from a tree and hangs the GPUs (whose nodes
/// exist) on them. For GPUs that the tree does not have there is a warning.
void add_host_from_tree(Graph& graph, std::vector<GpuEntry>& gpus, const HostTree& tree);

/// The same from the labels of `topo -m` alone: devices that are PIX to each other share a switch,
/// and so on upwards. What NV# hides shows in NICs and affinity, as far as they go.
void add_host_from_labels(Graph& graph, std::vector<GpuEntry>& gpus, const SmiMatrix& matrix);

/// Where GPUs are joined by nothing that a source shows, hangs those without PCIe on one processor,
/// which is an assumption: no bound rests on a source that is missing.
void add_unplaced_gpus(Graph& graph, const std::vector<GpuEntry>& gpus);

}  // namespace busbar::topo

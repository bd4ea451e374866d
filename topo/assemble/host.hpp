// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "topo/assemble/gpus.hpp"

namespace busbar::topo {

/// Adds processors, NUMA nodes, PCIe switches and NICs from a tree and hangs the GPUs (whose nodes
/// exist) on them. GPUs that the tree does not have stay loose, with a warning.
void add_host_from_tree(Graph& graph, std::vector<GpuEntry>& gpus, const HostTree& tree);

/// The same from the words of `topo -m` alone: devices that are PIX to each other share a switch,
/// and so on upwards. What NV# hides shows in NICs and affinity, as far as they go.
void add_host_from_labels(Graph& graph, std::vector<GpuEntry>& gpus, const SmiMatrix& matrix);

/// PCIe of a GPU's slot by the best source; `tree` is what a tree reports of it, where there is
/// one. What has to be guessed is added to the graph's assumptions.
[[nodiscard]] Medium slot_medium(Graph& graph, const GpuEntry& gpu, const HostTree* tree = nullptr);

/// Joins every two packages of the host.
void join_packages(Graph& graph, const std::vector<int>& packages, const Medium& medium);

}  // namespace busbar::topo

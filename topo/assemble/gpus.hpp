// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <vector>

#include "topo/assemble/assemble.hpp"
#include "topo/graph/constants.hpp"
#include "topo/graph/graph.hpp"

namespace busbar::topo {

/// One GPU as all sources together describe it.
struct GpuEntry : GpuFacts {
  std::optional<int> active_links{};  ///< of NVLink, as `nvlink -s` reports
  int dark_links = 0;                 ///< NVLinks that are there and inactive
  double link_GBps = 0;               ///< of one NVLink, as reported; 0: unknown
  std::optional<GpuModel> model{};
  int node = -1;  ///< in the graph
};

/// GPUs of which only the numbers are known.
[[nodiscard]] std::vector<GpuFacts> gpus_numbered(const std::vector<int>& indices);

/// The GPUs of a matrix, with their addresses where it has them.
[[nodiscard]] std::vector<GpuFacts> gpus_in(const SmiMatrix& matrix);

/// The machine's GPUs by index, joined by PCI address, by order where a source has none, which is
/// one of the graph's assumptions. Empty: no GPU.
[[nodiscard]] std::vector<GpuEntry> list_gpus(const Sources& sources, Graph& graph);

/// Adds the NVLinks or xGMI between GPUs, to a switch (one node for all switches of the host, as
/// NCCL has it) and to processors, from the first source that shows any. A matrix alone cannot
/// distinguish switch and cable: more links in a row than a GPU has are a switch.
void add_nvlinks(Graph& graph, const std::vector<GpuEntry>& gpus, const Sources& sources);

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

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
  std::optional<int> active_links{};  ///< of NVLink, as `nvlink -s` or -R reports
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
/// NCCL has it) and to processors, from the best source: NCCL's file, `nvlink -R`, the words of
/// `topo -m`. A matrix alone cannot distinguish switch and cable: more links in a row than a GPU
/// has are a switch.
void add_nvlinks(Graph& graph, const std::vector<GpuEntry>& gpus, const Sources& sources);

}  // namespace busbar::topo

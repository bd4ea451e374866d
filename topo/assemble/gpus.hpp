// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topo/assemble/assemble.hpp"
#include "topo/graph/constants.hpp"
#include "topo/graph/graph.hpp"

namespace busbar::topo {

/// One GPU as all sources together describe it.
struct GpuEntry {
  int index = 0;  ///< nvidia-smi's
  std::string name{};
  std::string uuid{};
  std::string bus_id{};  ///< empty where no source reports it
  int numa = -1;
  int pcie_generation = 0;  ///< 0: unknown
  int pcie_width = 0;
  bool mig = false;
  std::optional<int> active_links{};  ///< of NVLink, as `nvlink -s` reports
  int dark_links = 0;                 ///< NVLinks that are there and inactive
  double link_GBps = 0;               ///< of one NVLink, as reported; 0: unknown
  std::optional<GpuModel> model{};
  int node = -1;  ///< in the graph
};

/// The machine's GPUs by index, joined by PCI address, by order where a source has none, which is
/// one of the graph's assumptions. Empty: no GPU.
[[nodiscard]] std::vector<GpuEntry> list_gpus(const Sources& sources, Graph& graph);

/// Adds the NVLinks between GPUs, to a switch (one node for all switches of the host, as NCCL has
/// it) and to processors, from the best source: NCCL's file, `nvlink -R`, the words of `topo -m`.
/// A matrix alone cannot distinguish switch and cable: more links in a row than a GPU has are a
/// switch.
void add_nvlinks(Graph& graph, const std::vector<GpuEntry>& gpus, const Sources& sources);

}  // namespace busbar::topo

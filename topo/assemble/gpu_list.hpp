// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topo/assemble/sources.hpp"
#include "topo/graph/constants.hpp"
#include "topo/graph/graph.hpp"

namespace busbar::topo {

/// One GPU as all sources together tell it.
struct GpuEntry {
  int index = 0;  ///< nvidia-smi's
  std::string name{};
  std::string uuid{};
  std::string bus_id{};  ///< empty where no source tells it
  int numa = -1;
  int pcie_generation = 0;  ///< 0: unknown
  int pcie_width = 0;
  bool mig = false;
  std::optional<int> active_links{};  ///< of NVLink, as `nvlink -s` tells
  int dark_links = 0;                 ///< NVLinks that are there and inactive
  double link_GBps = 0;               ///< of one NVLink, as reported; 0: unknown
  std::optional<GpuModel> model{};
  int node = -1;  ///< in the graph
};

/// The machine's GPUs by index, joined by PCI address, by order where a source has none, which is
/// one of the graph's assumptions. Empty: no GPU.
[[nodiscard]] std::vector<GpuEntry> list_gpus(const Sources& sources, Graph& graph);

}  // namespace busbar::topo

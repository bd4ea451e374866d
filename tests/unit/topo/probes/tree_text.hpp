// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "topo/assemble/assemble.hpp"

namespace busbar::topo::sample {

/// "PIX", "SYS": how two devices of a tree reach each other over PCIe, in the graph made of it. A
/// virtual NIC, which has no bus id, is the first of all NICs.
inline std::string pcie_path(HostTree tree, const std::string& one, const std::string& other) {
  tree.nvlinks.clear();
  tree.nvlink_matrix.reset();
  Graph graph = assemble({.hwloc = std::move(tree)});
  graph.devices.clear();
  for (const std::string& bus_id : {one, other}) {
    const auto found = std::find_if(graph.nodes.begin(), graph.nodes.end(), [&](const Node& node) {
      return bus_id.empty() ? node.kind == NodeKind::Nic : node.bus_id == normal_bus_id(bus_id);
    });
    graph.devices.push_back(static_cast<int>(found - graph.nodes.begin()));
  }
  label_devices(graph);
  return graph.labels[0][1];
}

/// "0 GPU-1 Tesla T4 at 0000:06:00.0 PCIe 3 x16": all that a source reports of each GPU.
inline std::vector<std::string> lines_of(const std::vector<GpuFacts>& gpus) {
  std::vector<std::string> lines;
  for (const GpuFacts& gpu : gpus) {
    std::string& line = lines.emplace_back(fmt::format("{} {} {}", gpu.index, gpu.uuid, gpu.name));
    if (!gpu.bus_id.empty()) line += " at " + gpu.bus_id;
    if (gpu.pcie_generation + gpu.pcie_width > 0)
      line += fmt::format(" PCIe {} x{}", gpu.pcie_generation, gpu.pcie_width);
    if (gpu.numa >= 0) line += fmt::format(" node {}", gpu.numa);
    if (gpu.mig) line += *gpu.mig ? " MIG" : " no MIG";
    if (!gpu.links.empty()) line += fmt::format(" links {}", fmt::join(gpu.links, " "));
  }
  return lines;
}

inline std::size_t count_kind(const HostTree& tree, PciKind kind) {
  return static_cast<std::size_t>(
      std::count_if(tree.pci.begin(), tree.pci.end(),
                    [&](const PciObject& object) { return object.kind == kind; }));
}

}  // namespace busbar::topo::sample

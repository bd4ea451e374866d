// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "topo/assemble/assemble.hpp"

namespace busbar::topo {

using Rows = std::vector<std::string>;

/// Rows of so many GPUs with the same cell between any two.
inline Rows uniform(std::size_t gpus, const std::string& cell) {
  return mapped(first_numbers(gpus), [&](int gpu) {
    Rows cells(gpus, cell);
    cells[to_size(gpu)] = "X";
    return join(cells, " ");
  });
}

/// A matrix of `topo -m` from its cells, a row per GPU.
inline std::string matrix_text(const Rows& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) text += "\tGPU" + std::to_string(i);
  text += "\tCPU Affinity\tNUMA Affinity\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string row = "GPU" + std::to_string(i) + "\t" + rows[i];
    std::replace(row.begin(), row.end(), ' ', '\t');
    text += row + (i < (rows.size() + 1) / 2 ? "\t0-7\t0\n" : "\t8-15\t1\n");
  }
  return text + "\nLegend:\n\n  NV#  = Connection traversing a bonded set of # NVLinks\n";
}

/// A matrix, and a query where the GPUs have a model.
inline Sources sources_of(const Rows& rows, const std::string& model = "") {
  Sources sources{.name = "box"};
  sources.smi.matrix = parse_smi_matrix(matrix_text(rows), "box.txt");
  for (std::size_t i = 0; !model.empty() && i < rows.size(); ++i) {
    sources.smi.gpus.push_back({.index = static_cast<int>(i),
                                .uuid = "GPU-" + std::to_string(i),
                                .name = model,
                                .bus_id = normal_bus_id("0000:0" + std::to_string(i + 1) + ":00.0"),
                                .pcie_generation = 3,
                                .pcie_width = 16,
                                .mig = false});
  }
  return sources;
}

/// Two GPUs with NVLinks of these rates each, by `nvlink -s`.
inline std::vector<GpuFacts> two_with(const std::vector<double>& links,
                                      const std::string& name = "") {
  return {{.index = 0, .name = name, .links = links}, {.index = 1, .name = name, .links = links}};
}

/// Warnings and assumptions, a line each.
inline std::string notes_of(const Graph& graph) {
  return join(graph.warnings, "\n") + "\n" +
         join_each(graph.assumptions, "\n", [](const Assumption& one) { return one.text; });
}

inline std::size_t count_kind(const Graph& graph, NodeKind kind) {
  return nodes_of_kind(graph, kind).size();
}

/// Cables from a device to the node of this name; 0 where there are none.
inline double cables(const Graph& graph, std::size_t device, const std::string& to) {
  const int end = find_node(graph, to);
  for (const Link& link : graph.links) {
    if (link.from == graph.devices.at(device) && link.to == end) return link.count;
  }
  return 0;
}

inline double nominal_of_first(const Graph& graph, LinkKind kind,
                               ConstantSet constants = ConstantSet::Nominal) {
  for (const Link& link : graph.links) {
    if (link.from == graph.devices[0] && link_kind(graph, link) == kind) {
      return capacity_GBps(graph, link, constants);
    }
  }
  return -1;
}

}  // namespace busbar::topo

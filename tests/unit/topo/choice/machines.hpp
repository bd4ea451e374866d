// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <random>

#include "tests/unit/topo/bounds/small_graphs.hpp"

namespace busbar::topo {

/// As nvlink_graph of random rows with zero to two links, above a PCIe tree; the same for a seed.
inline Graph random_machine(int gpus, unsigned seed) {
  std::mt19937 random(seed);
  const auto n = static_cast<std::size_t>(gpus);
  std::vector<std::string> rows(n, std::string(n, '0'));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      rows[i][j] = static_cast<char>('0' + random() % 3);
      rows[j][i] = rows[i][j];
    }
  }
  Graph graph = nvlink_graph(rows, 25);
  add_pcie(graph, {.gpus = gpus});
  return graph;
}

/// The device's own node, to be changed.
inline Node& gpu(Graph& graph, int device) {
  return graph.nodes.at(to_size(graph.devices.at(to_size(device))));
}

/// The first half of the devices on NUMA node 0, the rest on 1.
inline void set_two_numa_nodes(Graph& graph) {
  const int n = static_cast<int>(device_count(graph));
  for (int i = 0; i < n; ++i) gpu(graph, i).numa = i < n / 2 ? 0 : 1;
}

/// A card at these nodes.
inline void add_nic_at(Graph& graph, const std::vector<int>& nodes,
                       const std::string& name = "NIC") {
  const int pcie =
      add_medium(graph, {.name = "PCIe 3.0 x16", .kind = LinkKind::Pcie, .nominal_GBps = 15.75});
  const int nic = add_node(graph, {.kind = NodeKind::Nic, .name = name});
  for (const int node : nodes) add_cable(graph, nic, node, pcie);
}

/// A card behind the PCIe switch or package of this name.
inline void add_nic(Graph& graph, const std::string& above) {
  add_nic_at(graph, {find_node(graph, above)}, "NIC on " + above);
}

/// All cables of the device have so many links.
inline void set_links(Graph& graph, int device, double count) {
  const int node = graph.devices.at(to_size(device));
  for (Link& link : graph.links) {
    if (link.from == node || link.to == node) link.count = count;
  }
}

}  // namespace busbar::topo

// SPDX-License-Identifier: BSD-3-Clause
// The words of `nvidia-smi topo -m`, told from the graph's links.
#include <algorithm>

#include <fmt/format.h>

#include "topo/graph/ways.hpp"

namespace busbar::topo {
namespace {

const Medium& medium_of(const Graph& graph, const Link& link) {
  return graph.media.at(static_cast<std::size_t>(link.medium));
}

NodeKind kind_of(const Graph& graph, int node) {
  return graph.nodes.at(static_cast<std::size_t>(node)).kind;
}

/// NVLinks between two GPUs: direct ones, or the ports that both have at one switch.
double nvlinks(const Graph& graph, int one, int other) {
  double direct = 0;
  double switched = 0;
  for (const Link& up : graph.links) {
    if (up.from != one || medium_of(graph, up).kind != LinkKind::NvLink) continue;
    if (up.to == other) direct += up.count;
    if (kind_of(graph, up.to) != NodeKind::NvSwitch) continue;
    for (const Link& down : graph.links) {
      if (down.from == up.to && down.to == other) switched += std::min(up.count, down.count);
    }
  }
  return direct + switched;
}

std::string pcie_label(const Graph& graph, int one, int other) {
  const std::vector<const Link*> way = shortest_way(graph, one, other);
  if (way.empty()) return "N/A";
  const bool between_sockets = std::any_of(way.begin(), way.end(), [&](const Link* link) {
    return medium_of(graph, *link).kind == LinkKind::Smp;
  });
  if (between_sockets) return "SYS";
  const auto passed = [&](NodeKind kind) {
    return std::count_if(way.begin(), way.end(), [&](const Link* link) {
      return link->to != other && kind_of(graph, link->to) == kind;
    });
  };
  const auto bridges = passed(NodeKind::HostBridge);
  const auto memories = passed(NodeKind::Numa);
  if (memories > 1) return "SYS";
  if (bridges > 1) return "NODE";
  if (bridges == 1 || memories == 1 || passed(NodeKind::Package) > 0) return "PHB";
  return passed(NodeKind::PcieSwitch) > 1 ? "PXB" : "PIX";
}

}  // namespace

void label_devices(Graph& graph) {
  const std::size_t count = graph.devices.size();
  graph.labels.assign(count, std::vector<std::string>(count, "X"));
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      if (i == j) continue;
      const int one = graph.devices[i];
      const int other = graph.devices[j];
      const double links = nvlinks(graph, one, other);
      const bool apart =
          device(graph, static_cast<int>(i)).host != device(graph, static_cast<int>(j)).host;
      graph.labels[i][j] = links > 0 ? fmt::format("NV{:g}", links)
                           : apart   ? "NET"
                                     : pcie_label(graph, one, other);
    }
  }
}

}  // namespace busbar::topo

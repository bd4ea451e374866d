// SPDX-License-Identifier: BSD-3-Clause
// The words of `nvidia-smi topo -m`, told from the graph's links.
#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "topo/graph/graph.hpp"

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

bool forwards(NodeKind kind) {
  return kind != NodeKind::Gpu && kind != NodeKind::Nic && kind != NodeKind::Network &&
         kind != NodeKind::NvSwitch && kind != NodeKind::Processor;
}

/// Links of a shortest way between two nodes through the host's own parts; empty where there is
/// none.
std::vector<const Link*> shortest_way(const Graph& graph, int from, int to) {
  std::vector<const Link*> reached_by(graph.nodes.size(), nullptr);
  std::deque<int> next{from};
  while (!next.empty()) {
    const int at = next.front();
    next.pop_front();
    if (at == to) break;
    if (at != from && !forwards(kind_of(graph, at))) continue;
    for (const Link& link : graph.links) {
      auto& reached = reached_by.at(static_cast<std::size_t>(link.to));
      if (link.from != at || link.to == from || reached != nullptr) continue;
      reached = &link;
      next.push_back(link.to);
    }
  }
  std::vector<const Link*> way;
  for (int at = to; at != from;) {
    const Link* link = reached_by.at(static_cast<std::size_t>(at));
    if (link == nullptr) return {};
    way.push_back(link);
    at = link->from;
  }
  return way;
}

std::string pcie_label(const Graph& graph, int one, int other) {
  const std::vector<const Link*> way = shortest_way(graph, one, other);
  if (way.empty()) return "N/A";
  int switches = 0;
  int bridges = 0;
  bool through_processor = false;
  for (const Link* link : way) {
    if (medium_of(graph, *link).kind == LinkKind::Smp) return "SYS";
    if (link->to == other) continue;  // ways are told from their end
    const NodeKind kind = kind_of(graph, link->to);
    if (kind == NodeKind::PcieSwitch) ++switches;
    if (kind == NodeKind::HostBridge) ++bridges;
    if (kind == NodeKind::Package || kind == NodeKind::Numa) through_processor = true;
  }
  if (bridges > 1) return "NODE";
  if (bridges == 1 || through_processor) return "PHB";
  return switches > 1 ? "PXB" : "PIX";
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

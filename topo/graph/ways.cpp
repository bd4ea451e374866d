// SPDX-License-Identifier: BSD-3-Clause
#include "topo/graph/ways.hpp"

#include <deque>

namespace busbar::topo {
namespace {

NodeKind kind_of(const Graph& graph, int node) {
  return graph.nodes.at(static_cast<std::size_t>(node)).kind;
}

bool forwards(NodeKind kind) {
  return kind != NodeKind::Gpu && kind != NodeKind::Nic && kind != NodeKind::Network &&
         kind != NodeKind::NvSwitch && kind != NodeKind::Processor;
}

}  // namespace

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

int nearest(const Graph& graph, int from, NodeKind kind) {
  int best = -1;
  std::size_t hops = 0;
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    if (graph.nodes[node].kind != kind) continue;
    const std::size_t length = shortest_way(graph, from, static_cast<int>(node)).size();
    if (length == 0 || (best >= 0 && length >= hops)) continue;
    best = static_cast<int>(node);
    hops = length;
  }
  return best;
}

}  // namespace busbar::topo

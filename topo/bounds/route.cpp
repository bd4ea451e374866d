// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/route.hpp"

#include <algorithm>
#include <limits>

namespace busbar::topo {
namespace {

bool admits(Ways ways, LinkKind kind) {
  switch (ways) {
    case Ways::NvLink: return kind == LinkKind::NvLink;
    case Ways::Smp:
      return kind == LinkKind::NvLink || kind == LinkKind::Memory || kind == LinkKind::Smp;
    case Ways::Bus:
      return kind == LinkKind::Pcie || kind == LinkKind::Memory || kind == LinkKind::Smp;
    case Ways::Host: return kind != LinkKind::Network;
    case Ways::Network: return kind == LinkKind::Network;
  }
  return false;
}

bool forwards(Ways ways, NodeKind kind) {
  switch (kind) {
    case NodeKind::Gpu:
    case NodeKind::Nic: return false;
    case NodeKind::NvSwitch: return ways == Ways::NvLink;
    case NodeKind::Network: return ways == Ways::Network;
    case NodeKind::PcieSwitch:
    case NodeKind::HostBridge: return ways == Ways::Bus || ways == Ways::Host;
    case NodeKind::Processor:
    case NodeKind::Numa:
    case NodeKind::Package: return ways != Ways::NvLink && ways != Ways::Network;
  }
  return false;
}

}  // namespace

std::vector<std::vector<int>> links_out_of(const Graph& graph) {
  std::vector<std::vector<int>> out(graph.nodes.size());
  for (std::size_t link = 0; link < graph.links.size(); ++link) {
    out.at(static_cast<std::size_t>(graph.links[link].from)).push_back(static_cast<int>(link));
  }
  return out;
}

RouteTree::RouteTree(const Graph& graph, const std::vector<std::vector<int>>& links_out,
                     const std::vector<double>& capacity, int from, Ways ways)
    : links_(graph.links),
      length_(graph.nodes.size(), -1),
      width_(graph.nodes.size(), 0),
      arrival_(graph.nodes.size(), -1) {
  length_[static_cast<std::size_t>(from)] = 0;
  width_[static_cast<std::size_t>(from)] = std::numeric_limits<double>::infinity();
  layer_ = {from};
  spread(graph, links_out, capacity, ways);
}

/// Takes a link to a node of the next layer where that is new or the link makes it wider. True
/// where it is new.
bool RouteTree::reach(const Link& link, int number, double capacity) {
  const auto from = static_cast<std::size_t>(link.from);
  const auto to = static_cast<std::size_t>(link.to);
  const double width = std::min(width_[from], capacity);
  const bool fresh = length_[to] < 0;
  const bool wider = length_[to] == length_[from] + 1 && width > width_[to];
  if (!fresh && !wider) return false;
  length_[to] = length_[from] + 1;
  width_[to] = width;
  arrival_[to] = number;
  return fresh;
}

// Layer by layer: a node's width is final when its layer is complete, before anything leaves it.
void RouteTree::spread(const Graph& graph, const std::vector<std::vector<int>>& links_out,
                       const std::vector<double>& capacity, Ways ways) {
  std::vector<int> next;
  const auto leave = [&](int node) {
    for (const int number : links_out[static_cast<std::size_t>(node)]) {
      const Link& link = graph.links[static_cast<std::size_t>(number)];
      const LinkKind kind = graph.media.at(static_cast<std::size_t>(link.medium)).kind;
      const bool fresh =
          admits(ways, kind) && reach(link, number, capacity[static_cast<std::size_t>(number)]);
      if (fresh) next.push_back(link.to);
    }
  };
  leave(layer_.front());
  while (!next.empty()) {
    layer_.swap(next);
    next.clear();
    for (const int node : layer_) {
      if (forwards(ways, graph.nodes[static_cast<std::size_t>(node)].kind)) leave(node);
    }
  }
}

std::vector<int> RouteTree::links_to(int to) const {
  std::vector<int> links;
  for (int link = arrival_[static_cast<std::size_t>(to)]; link >= 0;
       link = arrival_[static_cast<std::size_t>(links_[static_cast<std::size_t>(link)].from)]) {
    links.push_back(link);
  }
  std::reverse(links.begin(), links.end());
  return links;
}

}  // namespace busbar::topo

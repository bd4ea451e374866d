// SPDX-License-Identifier: BSD-3-Clause
#include "report/graph_layout.hpp"

#include <algorithm>
#include <deque>

namespace busbar {
namespace {

using topo::Graph;
using topo::Node;
using topo::NodeKind;

constexpr int kUnknown = -1;

bool is_leaf_kind(NodeKind kind) { return kind == NodeKind::Gpu || kind == NodeKind::Nic; }

/// Places nodes of the hosts that are drawn, as a tree below their processors.
class Tree {
 public:
  Tree(const Graph& graph, int hosts) : graph_(graph), hosts_(hosts) {
    parent_.assign(graph.nodes.size(), kUnknown);
    depth_.assign(graph.nodes.size(), kUnknown);
    children_.resize(graph.nodes.size());
    grow();
  }

  [[nodiscard]] GraphLayout layout() {
    GraphLayout result;
    result.places.resize(graph_.nodes.size());
    for (const int root : roots_) place(result, root);
    int deepest = 0;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (result.places[i].drawn) deepest = std::max(deepest, depth_[i]);
    }
    result.leaf_row = std::max(deepest, 1);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      GraphPlace& at = result.places[i];
      const NodeKind kind = graph_.nodes[i].kind;
      at.row = is_leaf_kind(kind) ? result.leaf_row : std::max(depth_[i], 0);
      if (kind == NodeKind::NvSwitch && wanted(static_cast<int>(i))) {
        at = {.drawn = true, .switched = true, .row = static_cast<int>(result.switches++)};
      }
    }
    return result;
  }

 private:
  [[nodiscard]] bool wanted(int index) const {
    const Node& node = node_of(graph_, index);
    return node.kind != NodeKind::Network && node.host < hosts_;
  }

  /// Breadth first from the processors; what they do not reach stands beside them.
  void grow() {
    for (const NodeKind kind : {NodeKind::Package, NodeKind::Processor, NodeKind::HostBridge,
                                NodeKind::PcieSwitch, NodeKind::Gpu, NodeKind::Nic}) {
      for (int i = 0; i < static_cast<int>(graph_.nodes.size()); ++i) {
        if (node_of(graph_, i).kind != kind || !wanted(i)) continue;
        if (depth_[static_cast<std::size_t>(i)] != kUnknown) continue;
        root(i);
      }
      // all processors first, or one would be the child of another's bridge
      walk();
    }
  }

  void root(int index) {
    depth_[static_cast<std::size_t>(index)] = 0;
    roots_.push_back(index);
    waiting_.push_back(index);
  }

  void walk() {
    while (!waiting_.empty()) {
      const int from = waiting_.front();
      waiting_.pop_front();
      for (const topo::Link& link : graph_.links) {
        if (link.from != from || !is_branch(graph_, link) || !wanted(link.to)) continue;
        adopt(from, link.to);
      }
    }
  }

  void adopt(int from, int to) {
    if (depth_[static_cast<std::size_t>(to)] != kUnknown) return;
    if (is_leaf_kind(node_of(graph_, from).kind)) return;
    depth_[static_cast<std::size_t>(to)] = depth_[static_cast<std::size_t>(from)] + 1;
    parent_[static_cast<std::size_t>(to)] = from;
    children_[static_cast<std::size_t>(from)].push_back(to);
    waiting_.push_back(to);
  }

  void place(GraphLayout& result, int index) {
    GraphPlace& at = result.places[static_cast<std::size_t>(index)];
    at.drawn = true;
    auto below = children_[static_cast<std::size_t>(index)];
    std::sort(below.begin(), below.end());
    if (below.empty()) {
      at.column = static_cast<double>(result.leaves++);
      return;
    }
    for (const int child : below) place(result, child);
    at.column = (result.places[static_cast<std::size_t>(below.front())].column +
                 result.places[static_cast<std::size_t>(below.back())].column) /
                2;
  }

  const Graph& graph_;
  int hosts_;
  std::vector<int> parent_{};
  std::vector<int> depth_{};
  std::vector<std::vector<int>> children_{};
  std::vector<int> roots_{};
  std::deque<int> waiting_{};
};

int host_count(const Graph& graph) {
  int most = 0;
  for (const Node& node : graph.nodes) most = std::max(most, node.host + 1);
  return std::max(most, 1);
}

/// As many of the first hosts as have so many devices together; at least one.
int hosts_to_draw(const Graph& graph, int hosts, std::size_t most_leaves) {
  int drawn = 1;
  for (; drawn < hosts; ++drawn) {
    const auto devices = std::count_if(graph.devices.begin(), graph.devices.end(), [&](int device) {
      return node_of(graph, device).host <= drawn;
    });
    if (static_cast<std::size_t>(devices) > most_leaves) break;
  }
  return drawn;
}

}  // namespace

bool is_branch(const Graph& graph, const topo::Link& link) {
  const topo::LinkKind kind = graph.media[static_cast<std::size_t>(link.medium)].kind;
  const NodeKind from = node_of(graph, link.from).kind;
  const NodeKind to = node_of(graph, link.to).kind;
  if (kind == topo::LinkKind::Smp || kind == topo::LinkKind::Network) return false;
  if (from == NodeKind::NvSwitch || to == NodeKind::NvSwitch) return false;
  if (from == NodeKind::Network || to == NodeKind::Network) return false;
  return !(is_leaf_kind(from) && is_leaf_kind(to)) &&
         !(from == NodeKind::Package && to == NodeKind::Package);
}

GraphLayout lay_out(const Graph& graph, std::size_t most_leaves) {
  const int hosts = host_count(graph);
  const int drawn = hosts_to_draw(graph, hosts, most_leaves);
  GraphLayout layout = Tree(graph, drawn).layout();
  layout.hosts = hosts;
  layout.hosts_drawn = drawn;
  return layout;
}

}  // namespace busbar

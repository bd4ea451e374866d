// SPDX-License-Identifier: BSD-3-Clause
// `busbar topo show`: the machine drawn for a terminal.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/topo_text.hpp"

namespace busbar {
namespace {

using topo::Graph;
using topo::LinkKind;
using topo::Node;
using topo::NodeKind;

const topo::Medium& medium_of(const Graph& graph, const topo::Link& link) {
  return graph.media[static_cast<std::size_t>(link.medium)];
}

const Node& node_of(const Graph& graph, int index) {
  return graph.nodes[static_cast<std::size_t>(index)];
}

/// Draws what hangs below each package, every node once.
class Tree {
 public:
  Tree(const Graph& graph, topo::ConstantSet constants)
      : graph_(graph), constants_(constants), drawn_(graph.nodes.size()) {}

  std::string draw() {
    for (const NodeKind root : {NodeKind::Package, NodeKind::Processor, NodeKind::HostBridge,
                                NodeKind::PcieSwitch, NodeKind::Gpu, NodeKind::Nic}) {
      for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
        if (graph_.nodes[i].kind != root || drawn_[i]) continue;
        text_ += "  " + words(graph_.nodes[i]) + "\n";
        drawn_[i] = true;
        children(static_cast<int>(i), "  ");
      }
    }
    return text_;
  }

 private:
  [[nodiscard]] static std::string words(const Node& node) {
    std::string text = node.name;
    for (const std::string& more : {node.model, node.bus_id}) {
      if (!more.empty() && more != node.name) text += "  " + more;
    }
    if (node.numa >= 0) text += fmt::format("  NUMA {}", node.numa);
    return text;
  }

  [[nodiscard]] bool hangs_below(const topo::Link& link) const {
    const LinkKind kind = medium_of(graph_, link).kind;
    const NodeKind to = node_of(graph_, link.to).kind;
    return (kind == LinkKind::Pcie || kind == LinkKind::Memory) && to != NodeKind::Package &&
           !drawn_[static_cast<std::size_t>(link.to)];
  }

  void children(int parent, const std::string& indent) {
    std::vector<const topo::Link*> links;
    for (const topo::Link& link : graph_.links) {
      if (link.from == parent && hangs_below(link)) links.push_back(&link);
    }
    for (std::size_t i = 0; i < links.size(); ++i) {
      const bool last = i + 1 == links.size();
      const Node& node = node_of(graph_, links[i]->to);
      drawn_[static_cast<std::size_t>(links[i]->to)] = true;
      text_ += fmt::format("{}{} {}{}\n", indent, last ? "└─" : "├─", words(node), edge(*links[i]));
      children(links[i]->to, indent + (last ? "   " : "│  "));
    }
  }

  [[nodiscard]] std::string edge(const topo::Link& link) const {
    const topo::Medium& medium = medium_of(graph_, link);
    if (medium.kind != LinkKind::Pcie) return "";
    return fmt::format("  [{}, {}]", medium.name,
                       rate_words(capacity_GBps(graph_, link, constants_)));
  }

  const Graph& graph_;
  topo::ConstantSet constants_;
  std::vector<bool> drawn_;
  std::string text_{};
};

/// NVLinks, links between packages and to the network: each cable once.
std::string other_links(const Graph& graph, topo::ConstantSet constants) {
  std::string text;
  for (const topo::Link& link : graph.links) {
    const LinkKind kind = medium_of(graph, link).kind;
    const NodeKind to = node_of(graph, link.to).kind;
    const bool upwards =
        to == NodeKind::NvSwitch || to == NodeKind::Network ||
        (link.from < link.to && node_of(graph, link.from).kind != NodeKind::NvSwitch &&
         node_of(graph, link.from).kind != NodeKind::Network);
    if (kind == LinkKind::Pcie || kind == LinkKind::Memory || !upwards) continue;
    const std::string count = link.count > 1 ? fmt::format("{:g}x ", link.count) : "";
    text += fmt::format(
        "  {:<28} {}{}, {} each way\n",
        fmt::format("{} ↔ {}", node_of(graph, link.from).name, node_of(graph, link.to).name), count,
        medium_of(graph, link).name, rate_words(capacity_GBps(graph, link, constants)));
  }
  return text;
}

std::string matrix(const Graph& graph) {
  std::size_t width = 4;
  for (std::size_t i = 0; i < graph.labels.size(); ++i) {
    width = std::max(width, device(graph, static_cast<int>(i)).name.size());
    for (const std::string& label : graph.labels[i]) width = std::max(width, label.size());
  }
  std::string text = fmt::format("  {:<{}}", "", width);
  for (std::size_t i = 0; i < graph.labels.size(); ++i) {
    text += fmt::format(" {:>{}}", device(graph, static_cast<int>(i)).name, width);
  }
  text += "\n";
  for (std::size_t i = 0; i < graph.labels.size(); ++i) {
    text += fmt::format("  {:<{}}", device(graph, static_cast<int>(i)).name, width);
    for (const std::string& label : graph.labels[i]) text += fmt::format(" {:>{}}", label, width);
    text += "\n";
  }
  return text;
}

}  // namespace

std::string rate_words(double GBps) {
  return std::isfinite(GBps) ? fmt::format("{:.4g} GB/s", GBps) : "no limit";
}

std::string show_text(const Graph& graph, topo::ConstantSet constants) {
  constexpr std::size_t kWidestMatrix = 20;
  std::string text = fmt::format("{}: {}\n", graph.name, graph.title);
  if (!graph.source.empty()) text += fmt::format("  from {}\n", graph.source);
  text += "\n" + Tree(graph, constants).draw();
  const std::string links = other_links(graph, constants);
  if (!links.empty()) text += "\n" + links;
  if (graph.labels.size() > 1 && graph.labels.size() <= kWidestMatrix) text += "\n" + matrix(graph);
  if (!graph.assumptions.empty()) text += "\n";
  for (const topo::Assumption& assumption : graph.assumptions) {
    text += fmt::format("  assumed: {}\n", assumption.text);
  }
  return text;
}

}  // namespace busbar

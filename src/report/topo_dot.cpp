// SPDX-License-Identifier: BSD-3-Clause
// The machine as a graph for graphviz.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/topo_text.hpp"

namespace busbar {
namespace {

using topo::LinkKind;
using topo::NodeKind;

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result + '"';
}

std::string_view style_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::Gpu: return "shape=box, style=filled, fillcolor=\"#c7e9c0\"";
    case NodeKind::NvSwitch: return "shape=hexagon, style=filled, fillcolor=\"#74c476\"";
    case NodeKind::Nic: return "shape=box, style=filled, fillcolor=\"#fdd0a2\"";
    case NodeKind::Network: return "shape=ellipse, style=filled, fillcolor=\"#fdae6b\"";
    case NodeKind::Package:
    case NodeKind::Processor: return "shape=box, style=\"filled,rounded\", fillcolor=\"#c6dbef\"";
    default: return "shape=box, style=rounded";
  }
}

std::string_view colour_of(LinkKind kind) {
  switch (kind) {
    case LinkKind::NvLink: return "#238b45";
    case LinkKind::Smp: return "#2171b5";
    case LinkKind::Network: return "#d94801";
    default: return "#636363";
  }
}

std::string node_line(const topo::Node& node) {
  std::string label = node.name;
  if (!node.model.empty() && node.model != node.name) label += "\n" + node.model;
  std::string escaped = quoted(label);
  for (std::size_t at = 0; (at = escaped.find('\n', at)) != std::string::npos;) {
    escaped.replace(at, 1, "\\n");
  }
  return fmt::format("  {} [label={}, {}];\n", quoted(node.name), escaped, style_of(node.kind));
}

std::string edge_line(const topo::Graph& graph, const topo::Link& link,
                      topo::ConstantSet constants) {
  const topo::Medium& medium = graph.media[static_cast<std::size_t>(link.medium)];
  const double GBps = capacity_GBps(graph, link, constants);
  const bool limited = std::isfinite(GBps);
  const double width = limited ? std::clamp(std::sqrt(GBps) / 4, 0.8, 6.0) : 0.8;
  const std::string label =
      limited
          ? fmt::format("{}{}\\n{:.4g} GB/s",
                        link.count > 1 ? fmt::format("{:g}x ", link.count) : "", medium.name, GBps)
          : "";
  return fmt::format("  {} -- {} [label=\"{}\", color=\"{}\", penwidth={:.1f}{}];\n",
                     quoted(graph.nodes[static_cast<std::size_t>(link.to)].name),
                     quoted(graph.nodes[static_cast<std::size_t>(link.from)].name), label,
                     colour_of(medium.kind), width,
                     medium.kind == LinkKind::NvLink ? ", constraint=false" : "");
}

}  // namespace

std::string show_dot(const topo::Graph& graph, topo::ConstantSet constants) {
  std::string text = fmt::format(
      "graph {} {{\n  label={};\n  labelloc=t;\n  fontname=\"sans-serif\";\n"
      "  node [fontname=\"sans-serif\", fontsize=11];\n"
      "  edge [fontname=\"sans-serif\", fontsize=8];\n  ranksep=0.9;\n",
      quoted(graph.name), quoted(graph.title));
  for (const topo::Node& node : graph.nodes) text += node_line(node);
  for (const topo::Link& link : graph.links) {
    const bool other_way =
        std::any_of(graph.links.begin(), graph.links.end(), [&](const topo::Link& other) {
          return &other < &link && other.from == link.to && other.to == link.from &&
                 other.medium == link.medium;
        });
    if (!other_way) text += edge_line(graph, link, constants);
  }
  return text + "}\n";
}

}  // namespace busbar

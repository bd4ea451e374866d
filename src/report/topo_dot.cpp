// SPDX-License-Identifier: BSD-3-Clause
// The machine as a graph for graphviz.
#include <algorithm>
#include <cmath>
#include <utility>

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
    case NodeKind::Processor: return R"(shape=box, style="filled,rounded", fillcolor="#c6dbef")";
    default: return "shape=box, style=rounded";
  }
}

/// Rows of the picture, from the processors down; parts of one row are linked sideways.
int row_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::Package:
    case NodeKind::Processor: return 0;
    case NodeKind::Numa: return 1;
    case NodeKind::HostBridge: return 2;
    case NodeKind::PcieSwitch: return 3;
    case NodeKind::Gpu:
    case NodeKind::Nic: return 4;
    case NodeKind::NvSwitch: return 5;
    default: return 6;
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

/// "2x NVLink 2, 50 GB/s".
std::string edge_label(const topo::Medium& medium, double count, double GBps) {
  if (!std::isfinite(GBps)) return "";
  const std::string times = count > 1 ? fmt::format("{:g}x ", count) : "";
  return fmt::format("{}{}\\n{:.4g} GB/s", times, medium.name, GBps);
}

double width_of(double GBps) {
  return std::isfinite(GBps) ? std::clamp(std::sqrt(GBps) / 4, 0.8, 6.0) : 0.8;
}

/// NVLinks between GPUs meet at a word below them, since lines along the row would hide each other.
std::string mesh_lines(const topo::Graph& graph, const topo::Link& link, double GBps) {
  const std::string& one = graph.nodes[static_cast<std::size_t>(link.from)].name;
  const std::string& other = graph.nodes[static_cast<std::size_t>(link.to)].name;
  const std::string middle = quoted(fmt::format("{} {}", one, other));
  const std::string style =
      fmt::format("[color=\"{}\", penwidth={:.1f}]", colour_of(LinkKind::NvLink), width_of(GBps));
  return fmt::format(
      "  {} [label=\"NV{:g}\", shape=box, style=rounded, height=0.2, width=0.3, fontsize=9, "
      "color=\"{}\"];\n"
      "  {} -- {} {};\n  {} -- {} {};\n",
      middle, link.count, colour_of(LinkKind::NvLink), quoted(one), middle, style, quoted(other),
      middle, style);
}

std::string edge_line(const topo::Graph& graph, const topo::Link& link,
                      topo::ConstantSet constants) {
  const topo::Medium& medium = graph.media[static_cast<std::size_t>(link.medium)];
  const topo::Node* upper = &graph.nodes[static_cast<std::size_t>(link.from)];
  const topo::Node* lower = &graph.nodes[static_cast<std::size_t>(link.to)];
  const double GBps = capacity_GBps(graph, link, constants);
  if (upper->kind == NodeKind::Gpu && lower->kind == NodeKind::Gpu) {
    return mesh_lines(graph, link, GBps);
  }
  if (row_of(upper->kind) > row_of(lower->kind)) std::swap(upper, lower);
  const bool sideways =
      row_of(upper->kind) == row_of(lower->kind) && upper->kind != NodeKind::PcieSwitch;
  return fmt::format(
      "  {} -- {} [label=\"{}\", color=\"{}\", fontcolor=\"{}\", penwidth={:.1f}{}];\n",
      quoted(upper->name), quoted(lower->name), edge_label(medium, link.count, GBps),
      colour_of(medium.kind), colour_of(medium.kind), width_of(GBps),
      sideways ? ", constraint=false" : "");
}

/// Processors of a host in one row, its GPUs and NICs in another.
std::string rows(const topo::Graph& graph) {
  std::string text;
  for (const int row : {0, 4}) {
    text += "  { rank=same;";
    for (const topo::Node& node : graph.nodes) {
      if (row_of(node.kind) == row) text += " " + quoted(node.name) + ";";
    }
    text += " }\n";
  }
  return text;
}

}  // namespace

std::string show_dot(const topo::Graph& graph, topo::ConstantSet constants) {
  std::string text = fmt::format(
      "graph {} {{\n  label={};\n  labelloc=t;\n  fontname=\"sans-serif\";\n"
      "  node [fontname=\"sans-serif\", fontsize=11];\n"
      "  edge [fontname=\"sans-serif\", fontsize=8];\n  ranksep=0.8;\n  nodesep=0.4;\n",
      quoted(graph.name), quoted(graph.title));
  for (const topo::Node& node : graph.nodes) text += node_line(node);
  text += rows(graph);
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

// SPDX-License-Identifier: BSD-3-Clause
#include "topo/graph/graph.hpp"

#include <cstdint>
#include <deque>
#include <limits>

#include "topo/graph/constants.hpp"

namespace busbar::topo {
namespace {

double figure_GBps(const Medium& medium, ConstantSet constants) {
  if (constants == ConstantSet::Nccl && medium.nccl_GBps > 0) return medium.nccl_GBps;
  if (constants == ConstantSet::Reported && medium.reported_GBps > 0) return medium.reported_GBps;
  return medium.nominal_GBps;
}

std::string pcie_label(const Graph& graph, int one, int other) {
  const std::vector<const Link*> way = shortest_way(graph, one, other);
  if (way.empty()) return "N/A";
  std::map<NodeKind, int> passed;
  for (const Link* link : way) {
    if (link_kind(graph, *link) == LinkKind::Smp) return "SYS";
    if (link->to != other) ++passed[node_of(graph, link->to).kind];
  }
  const int bridges = passed[NodeKind::HostBridge];
  const int memories = passed[NodeKind::Numa];
  if (memories > 1) return "SYS";
  if (bridges > 1) return "NODE";
  if (bridges + memories + passed[NodeKind::Package] > 0) return "PHB";
  return passed[NodeKind::PcieSwitch] > 1 ? "PXB" : "PIX";
}

bool forwards(NodeKind kind) {
  return kind == NodeKind::PcieSwitch || kind == NodeKind::HostBridge || kind == NodeKind::Numa ||
         kind == NodeKind::Package;
}

}  // namespace

void require_device(int index, std::size_t count, const std::string& machine) {
  if (index >= 0 && to_size(index) < count) return;
  std::string has = fmt::format("{} devices, 0 to {}", count, count - 1);
  if (count <= 1) has = count == 0 ? "none" : "device 0 only";
  throw usage_error("--devices: {} is not a device of '{}', which has {}", index, machine, has);
}

std::map<int, std::vector<int>> by_host(const Graph& graph, std::span<const int> devices) {
  std::map<int, std::vector<int>> hosts;
  for (const int index : devices) hosts[device(graph, index).host].push_back(index);
  return hosts;
}

int add_node(Graph& graph, Node node) {
  graph.nodes.push_back(std::move(node));
  return static_cast<int>(graph.nodes.size()) - 1;
}

int add_medium(Graph& graph, Medium medium) {
  const auto there = std::ranges::find(graph.media, medium.name, &Medium::name);
  if (there != graph.media.end()) return static_cast<int>(there - graph.media.begin());
  graph.media.push_back(std::move(medium));
  return static_cast<int>(graph.media.size()) - 1;
}

void assume(Graph& graph, LinkKind kind, std::string text) {
  Assumption assumption{.kind = kind, .text = std::move(text)};
  const auto& known = graph.assumptions;
  if (std::ranges::find(known, assumption) != known.end()) return;
  graph.assumptions.push_back(std::move(assumption));
}

void add_cable(Graph& graph, int one, int other, int medium, double count) {
  graph.links.push_back({.from = one, .to = other, .medium = medium, .count = count});
  graph.links.push_back({.from = other, .to = one, .medium = medium, .count = count});
}

double capacity_GBps(const Graph& graph, const Link& link, ConstantSet constants, int flows) {
  const Medium& medium = medium_of(graph, link);
  double one = figure_GBps(medium, constants);
  if (one <= 0) return std::numeric_limits<double>::infinity();
  if (flows > 0 && medium.flow_GBps > 0) one = std::min(one, flows * medium.flow_GBps);
  return one * link.count;
}

std::string describe(const Graph& graph, const Link& link) {
  const std::string count = link.count > 1 ? fmt::format("{:g}x ", link.count) : "";
  return fmt::format("{}{} {}→{}", count, medium_of(graph, link).name,
                     node_of(graph, link.from).name, node_of(graph, link.to).name);
}

void remove_nodes(Graph& graph, const std::set<int>& nodes) {
  std::vector<int> numbers;  // of the nodes that stay
  std::vector<Node> left;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    const bool stays = !nodes.contains(static_cast<int>(i));
    numbers.push_back(stays ? static_cast<int>(left.size()) : -1);
    if (stays) left.push_back(std::move(graph.nodes[i]));
  }
  graph.nodes = std::move(left);
  for (Link& link : graph.links) {
    link.from = numbers.at(to_size(link.from));
    link.to = numbers.at(to_size(link.to));
  }
  std::erase_if(graph.links, [](const Link& link) { return link.from < 0 || link.to < 0; });
  for (int& device : graph.devices) device = numbers.at(to_size(device));
}

Graph keep_devices(Graph graph, const std::vector<int>& devices) {
  const Graph whole = graph;
  const auto part = [&](const auto& matrix) {
    return square_matrix(matrix.empty() ? 0 : devices.size(), [&](std::size_t i, std::size_t j) {
      return matrix.at(to_size(devices[i])).at(to_size(devices[j]));
    });
  };
  graph.devices.clear();
  for (const int i : devices) graph.devices.push_back(whole.devices.at(to_size(i)));
  graph.labels = part(whole.labels);
  graph.p2p = part(whole.p2p);
  return graph;
}

std::string uuid_digits(std::string_view uuid) {
  if (uuid.starts_with("GPU-")) uuid.remove_prefix(4);
  std::string digits = lower(uuid);
  std::erase(digits, '-');
  return digits;
}

int find_node(const Graph& graph, const std::string& name) {
  const auto found = std::ranges::find(graph.nodes, name, &Node::name);
  return found == graph.nodes.end() ? -1 : static_cast<int>(found - graph.nodes.begin());
}

std::vector<int> nodes_of_kind(const Graph& graph, NodeKind kind) {
  std::vector<int> nodes;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].kind == kind) nodes.push_back(static_cast<int>(i));
  }
  return nodes;
}

std::string normal_bus_id(const std::string& text) {
  const std::size_t dot = std::min(text.rfind('.'), text.size());
  std::vector<std::string> parts = split(text.substr(0, dot), ':');
  if (parts.size() == 2) parts.insert(parts.begin(), "0");
  parts.push_back(text.substr(std::min(dot + 1, text.size())));
  constexpr std::array kMost{0xffffffffU, 0xffU, 0xffU, 0xfU};
  std::vector<std::uint32_t> numbers;
  for (std::size_t i = 0; i < parts.size() && parts.size() == kMost.size(); ++i) {
    const auto number = to_number<std::uint32_t>(parts[i], 16);
    if (!number || *number > kMost.at(i)) return {};
    numbers.push_back(*number);
  }
  if (numbers.empty()) return {};
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", numbers[0], numbers[1], numbers[2], numbers[3]);
}

std::string gpu_link_label(LinkKind kind, double count) {
  if (kind == LinkKind::NvLink) return fmt::format("NV{:g}", count);
  return count == 1 ? "XGMI" : fmt::format("XGMI{:g}", count);
}

int gpu_link_count(std::string_view label) {
  constexpr std::size_t kMostDigits = 3;
  if (label == "XGMI") return 1;
  for (const std::string_view name : {"NV", "XGMI"}) {
    if (!label.starts_with(name)) continue;
    const std::string_view digits = label.substr(name.size());
    if (digits.size() > kMostDigits || digits.starts_with('0')) return 0;
    return static_cast<int>(to_number<unsigned>(digits).value_or(0));
  }
  return 0;
}

LinkKind gpu_link_kind(const Graph& graph) {
  for (const Link& link : graph.links) {
    if (is_gpu_link(link_kind(graph, link))) return link_kind(graph, link);
  }
  const bool amd = std::ranges::any_of(graph.nodes, [](const Node& node) {
    const auto model = gpu_model(node.model);
    return model && model->xgmi != XgmiGeneration::None;
  });
  return amd ? LinkKind::Xgmi : LinkKind::NvLink;
}

double gpu_links(const Graph& graph, int one, int other) {
  double sum = 0;
  for (const Link& up : graph.links) {
    if (up.from != one || !is_gpu_link(link_kind(graph, up))) continue;
    if (up.to == other) sum += up.count;
    if (node_of(graph, up.to).kind != NodeKind::NvSwitch) continue;
    for (const Link& down : graph.links) {
      if (down.from == up.to && down.to == other) sum += std::min(up.count, down.count);
    }
  }
  return sum;
}

void label_devices(Graph& graph) {
  const std::vector<int>& devices = graph.devices;
  const LinkKind kind = gpu_link_kind(graph);
  graph.labels = square_matrix(devices.size(), [&](std::size_t i, std::size_t j) -> std::string {
    if (i == j) return "X";
    const double links = gpu_links(graph, devices[i], devices[j]);
    if (links > 0) return gpu_link_label(kind, links);
    const bool apart = node_of(graph, devices[i]).host != node_of(graph, devices[j]).host;
    return apart ? "NET" : pcie_label(graph, devices[i], devices[j]);
  });
}

std::vector<const Link*> shortest_way(const Graph& graph, int from, int to) {
  std::vector<const Link*> reached_by(graph.nodes.size(), nullptr);
  std::deque<int> next{from};
  for (; !next.empty() && next.front() != to; next.pop_front()) {
    const int at = next.front();
    if (at != from && !forwards(node_of(graph, at).kind)) continue;
    for (const Link& link : graph.links) {
      auto& reached = reached_by.at(to_size(link.to));
      if (link.from != at || link.to == from || reached != nullptr) continue;
      reached = &link;
      next.push_back(link.to);
    }
  }
  std::vector<const Link*> way;
  for (int at = to; at != from; at = way.back()->from) {
    if (reached_by.at(to_size(at)) == nullptr) return {};
    way.push_back(reached_by[to_size(at)]);
  }
  return way;
}

int nearest(const Graph& graph, int from, NodeKind kind) {
  int best = -1;
  std::size_t hops = std::numeric_limits<std::size_t>::max();
  for (int node = 0; to_size(node) < graph.nodes.size(); ++node) {
    if (node_of(graph, node).kind != kind) continue;
    const std::size_t length = shortest_way(graph, from, node).size();
    if (length == 0 || length >= hops) continue;
    best = node;
    hops = length;
  }
  return best;
}

}  // namespace busbar::topo

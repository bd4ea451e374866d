// SPDX-License-Identifier: BSD-3-Clause
#include "topo/graph/graph.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <deque>
#include <limits>

#include <fmt/format.h>

#include "base/error.hpp"

// The words of `nvidia-smi topo -m`, derived from the graph's links.
namespace busbar::topo {
namespace {

constexpr std::array<std::string_view, 9> kNodeNames{"gpu",         "processor",   "nvswitch",
                                                     "pcie-switch", "host-bridge", "numa",
                                                     "package",     "nic",         "network"};
constexpr std::array<std::string_view, 5> kLinkNames{"nvlink", "pcie", "memory", "smp", "network"};
constexpr std::array<std::string_view, 3> kConstantNames{"nominal", "reported", "nccl"};

double figure_GBps(const Medium& medium, ConstantSet constants) {
  if (constants == ConstantSet::Nccl && medium.nccl_GBps > 0) return medium.nccl_GBps;
  if (constants == ConstantSet::Reported && medium.reported_GBps > 0) return medium.reported_GBps;
  return medium.nominal_GBps;
}

/// Hexadecimal digits at the end of `text`, at most `most`; they are taken off it.
std::string take_hex(std::string_view& text, std::size_t most) {
  std::string digits;
  while (!text.empty() && std::isxdigit(static_cast<unsigned char>(text.back())) != 0) {
    digits.insert(digits.begin(),
                  static_cast<char>(std::tolower(static_cast<unsigned char>(text.back()))));
    text.remove_suffix(1);
  }
  while (digits.size() > most && digits.front() == '0') digits.erase(digits.begin());
  return digits.size() > most ? std::string{} : digits;
}

bool take(std::string_view& text, char wanted) {
  if (text.empty() || text.back() != wanted) return false;
  text.remove_suffix(1);
  return true;
}

}  // namespace

void require_device(int index, std::size_t count, const std::string& machine) {
  if (index >= 0 && static_cast<std::size_t>(index) < count) return;
  std::string has = fmt::format("{} devices, 0 to {}", count, count - 1);
  if (count <= 1) has = count == 0 ? "none" : "device 0 only";
  throw usage_error(
      fmt::format("--devices: {} is no device of '{}', which has {}", index, machine, has));
}

const Node& device(const Graph& graph, int index) {
  return graph.nodes.at(
      static_cast<std::size_t>(graph.devices.at(static_cast<std::size_t>(index))));
}

int add_node(Graph& graph, Node node) {
  graph.nodes.push_back(std::move(node));
  return static_cast<int>(graph.nodes.size()) - 1;
}

int add_medium(Graph& graph, Medium medium) {
  const auto there = std::find_if(graph.media.begin(), graph.media.end(),
                                  [&](const Medium& m) { return m.name == medium.name; });
  if (there != graph.media.end()) return static_cast<int>(there - graph.media.begin());
  graph.media.push_back(std::move(medium));
  return static_cast<int>(graph.media.size()) - 1;
}

void assume(Graph& graph, LinkKind kind, std::string text) {
  Assumption assumption{.kind = kind, .text = std::move(text)};
  const auto& known = graph.assumptions;
  if (std::find(known.begin(), known.end(), assumption) != known.end()) return;
  graph.assumptions.push_back(std::move(assumption));
}

void add_cable(Graph& graph, int one, int other, int medium, double count) {
  graph.links.push_back({.from = one, .to = other, .medium = medium, .count = count});
  graph.links.push_back({.from = other, .to = one, .medium = medium, .count = count});
}

double capacity_GBps(const Graph& graph, const Link& link, ConstantSet constants, int flows) {
  const Medium& medium = graph.media.at(static_cast<std::size_t>(link.medium));
  double one = figure_GBps(medium, constants);
  if (one <= 0) return std::numeric_limits<double>::infinity();
  if (flows > 0 && medium.flow_GBps > 0) one = std::min(one, flows * medium.flow_GBps);
  return one * link.count;
}

std::string describe(const Graph& graph, const Link& link) {
  const Medium& medium = graph.media.at(static_cast<std::size_t>(link.medium));
  const auto node = [&](int index) { return graph.nodes.at(static_cast<std::size_t>(index)).name; };
  const std::string count = link.count > 1 ? fmt::format("{:g}x ", link.count) : "";
  return fmt::format("{}{} {}→{}", count, medium.name, node(link.from), node(link.to));
}

Graph keep_devices(Graph graph, const std::vector<int>& devices) {
  const Graph whole = graph;
  const auto part = [&](const auto& matrix) {
    std::decay_t<decltype(matrix)> kept;
    for (const int i : devices) {
      if (matrix.empty()) break;
      auto& row = kept.emplace_back();
      for (const int j : devices) {
        row.push_back(matrix.at(static_cast<std::size_t>(i)).at(static_cast<std::size_t>(j)));
      }
    }
    return kept;
  };
  graph.devices.clear();
  for (const int i : devices) {
    graph.devices.push_back(whole.devices.at(static_cast<std::size_t>(i)));
  }
  graph.labels = part(whole.labels);
  graph.p2p = part(whole.p2p);
  return graph;
}

std::string uuid_digits(std::string_view uuid) {
  if (uuid.starts_with("GPU-")) uuid.remove_prefix(4);
  std::string digits;
  for (const char c : uuid) {
    if (c != '-') digits += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return digits;
}

int find_node(const Graph& graph, const std::string& name) {
  const auto found = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                  [&](const Node& node) { return node.name == name; });
  return found == graph.nodes.end() ? -1 : static_cast<int>(found - graph.nodes.begin());
}

std::vector<int> nodes_of_kind(const Graph& graph, NodeKind kind) {
  std::vector<int> nodes;
  for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
    if (graph.nodes[i].kind == kind) nodes.push_back(static_cast<int>(i));
  }
  return nodes;
}

std::string_view name(NodeKind kind) { return kNodeNames.at(static_cast<std::size_t>(kind)); }
std::string_view name(LinkKind kind) { return kLinkNames.at(static_cast<std::size_t>(kind)); }
std::string_view name(ConstantSet constants) {
  return kConstantNames.at(static_cast<std::size_t>(constants));
}

std::string normal_bus_id(const std::string& text) {
  std::string_view rest = text;
  const std::string function = take_hex(rest, 1);
  if (function.empty() || !take(rest, '.')) return {};
  const std::string slot = take_hex(rest, 2);
  if (slot.empty() || !take(rest, ':')) return {};
  const std::string bus = take_hex(rest, 2);
  if (bus.empty()) return {};
  std::string domain = "0";
  if (take(rest, ':')) domain = take_hex(rest, 8);
  if (domain.empty() || !rest.empty()) return {};
  while (domain.size() > 4 && domain.front() == '0') domain.erase(domain.begin());
  return fmt::format("{:0>4}:{:0>2}:{:0>2}.{}", domain, bus, slot, function);
}

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

namespace {

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

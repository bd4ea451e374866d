// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <limits>
#include <random>

#include "topo/graph/graph.hpp"

namespace busbar::topo {

struct TreeShape {
  int hosts = 1;
  int gpus = 4;      ///< of each host
  int packages = 2;  ///< 1 or 2
  int switches = 3;
  bool network = true;  ///< a card in each host
  double nvlink = 0.7;  ///< share of the pairs of a host that have NVLink, some of them one way
};

/// Hosts whose PCIe, socket and network links make a single tree, beside which pairs of GPUs have
/// NVLink. Each direction of each link has a width of its own; the same for a seed.
class TreeMachine {
 public:
  TreeMachine(const TreeShape& shape, unsigned seed) : shape_(shape), random_(seed) {
    if (shape.network) add_node(graph_, {.kind = NodeKind::Network, .name = "fabric", .host = -1});
    for (int host = 0; host < shape.hosts; ++host) add_host(host);
  }

  [[nodiscard]] const Graph& graph() const { return graph_; }

 private:
  enum : int { kNvlink, kPcie, kUpi, kEthernet };

  [[nodiscard]] std::size_t below(std::size_t count) { return random_() % count; }

  void join(int one, int other, int medium) {
    const auto width = [&] { return static_cast<double>(1 + below(8)) / 4; };
    graph_.links.push_back({.from = one, .to = other, .medium = medium, .count = width()});
    graph_.links.push_back({.from = other, .to = one, .medium = medium, .count = width()});
  }

  void add_host(int host) {
    const auto node = [&](NodeKind kind, const char* name, int k) {
      const std::string prefix = shape_.hosts > 1 ? fmt::format("host{}/", host) : "";
      return add_node(graph_,
                      {.kind = kind, .name = fmt::format("{}{}{}", prefix, name, k), .host = host});
    };
    std::vector<int> packages;
    std::vector<int> switches;
    for (int k = 0; k < shape_.packages; ++k) {
      packages.push_back(node(NodeKind::Package, "CPU", k));
    }
    if (packages.size() > 1) join(packages[0], packages[1], kUpi);
    for (int k = 0; k < shape_.switches; ++k) {
      switches.push_back(node(NodeKind::PcieSwitch, "PLX", k));
      join(switches.back(), packages[below(packages.size())], kPcie);
    }
    std::vector<int> gpus;
    for (int k = 0; k < shape_.gpus; ++k) {
      gpus.push_back(node(NodeKind::Gpu, "GPU", k));
      graph_.devices.push_back(gpus.back());
      join(gpus.back(), switches[below(switches.size())], kPcie);
      for (int other = 0; other < k; ++other) add_nvlink(gpus[to_size(other)], gpus.back());
    }
    if (!shape_.network) return;
    const int nic = node(NodeKind::Nic, "NIC", 0);
    join(nic, packages[below(packages.size())], kPcie);
    join(nic, find_node(graph_, "fabric"), kEthernet);
  }

  void add_nvlink(int one, int other) {
    if (static_cast<double>(below(1000)) >= shape_.nvlink * 1000) return;
    join(one, other, kNvlink);
    if (below(6) == 0) graph_.links.pop_back();
  }

  TreeShape shape_;
  std::mt19937 random_;
  Graph graph_{.name = "tree",
               .media = {{.name = "NVLink", .nominal_GBps = 25},
                         {.name = "PCIe", .kind = LinkKind::Pcie, .nominal_GBps = 16},
                         {.name = "UPI", .kind = LinkKind::Smp, .nominal_GBps = 20},
                         {.name = "Ethernet", .kind = LinkKind::Network, .nominal_GBps = 10}}};
};

/// GB/s of a link by the figures of a tree machine.
inline double width_GBps(const Graph& graph, std::size_t link) {
  const Link& one = graph.links.at(link);
  return medium_of(graph, one).nominal_GBps * one.count;
}

/// Looks for the only way that the tree has, depth first.
inline bool walk_tree(const Graph& graph, int at, int to, int before, std::vector<int>& links) {
  if (at == to) return true;
  for (std::size_t k = 0; k < graph.links.size(); ++k) {
    const Link& link = graph.links[k];
    const LinkKind kind = link_kind(graph, link);
    if (link.from != at || link.to == before || kind == LinkKind::NvLink) continue;
    links.push_back(static_cast<int>(k));
    if (walk_tree(graph, link.to, to, at, links)) return true;
    links.pop_back();
  }
  return false;
}

/// The links from a device to another: NVLink where there is one, else the tree's; nothing within a
/// host where `nvlink_only`.
inline std::optional<std::vector<int>> way_between(const Graph& graph, int from, int to,
                                                   bool nvlink_only) {
  const int start = graph.devices.at(to_size(from));
  const int end = graph.devices.at(to_size(to));
  for (std::size_t k = 0; k < graph.links.size(); ++k) {
    const Link& link = graph.links[k];
    if (link.from == start && link.to == end) return std::vector<int>{static_cast<int>(k)};
  }
  if (nvlink_only && device(graph, from).host == device(graph, to).host) return std::nullopt;
  std::vector<int> links;
  if (!walk_tree(graph, start, end, -1, links)) return std::nullopt;
  return links;
}

/// What leads out of a part of the nodes over these links, the least of all parts that are
/// admitted.
template <class Admitted>
double least_cut(const Graph& graph, const std::vector<int>& links, const Admitted& admitted) {
  double least = std::numeric_limits<double>::infinity();
  for (unsigned part = 0; part < 1U << graph.nodes.size(); ++part) {
    const auto has = [&](int node) { return (part >> static_cast<unsigned>(node) & 1U) != 0; };
    if (!admitted(has)) continue;
    double crossing = 0;
    for (const int number : links) {
      const Link& link = graph.links.at(to_size(number));
      if (has(link.from) && !has(link.to)) {
        crossing += width_GBps(graph, to_size(number));
      }
    }
    least = std::min(least, crossing);
  }
  return least;
}

}  // namespace busbar::topo

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "topo/graph/graph.hpp"

namespace busbar::topo {

/// Which links a route may take, and what may forward it. Never a GPU.
enum class Ways {
  NvLink,  ///< NVLink, through NVSwitches
  Smp,     ///< NVLink to a package and on between packages: no PCIe
  Bus,     ///< PCIe, memory, and between packages: peer to peer
  Host,    ///< Bus, and NVLink to a package: to memory or a network card
  Network  ///< between hosts
};

/// Routes with the fewest links, and of those the widest, from one node to every other.
class RouteTree {
 public:
  RouteTree(const Graph& graph, const std::vector<std::vector<int>>& links_out,
            const std::vector<double>& capacity, int from, Ways ways);

  /// Number of links; -1 where there is no route, 0 to where it begins.
  [[nodiscard]] int length(int to) const { return length_[static_cast<std::size_t>(to)]; }
  /// Links in order; empty where there is no route.
  [[nodiscard]] std::vector<int> links_to(int to) const;

 private:
  void spread(const Graph& graph, const std::vector<std::vector<int>>& links_out,
              const std::vector<double>& capacity, Ways ways);

  bool reach(const Link& link, int number, double capacity);

  const std::vector<Link>& links_;
  std::vector<int> length_;
  std::vector<double> width_;
  std::vector<int> arrival_;  ///< the link that reaches a node
  std::vector<int> layer_{};
};

/// Links that leave each node.
[[nodiscard]] std::vector<std::vector<int>> links_out_of(const Graph& graph);

}  // namespace busbar::topo

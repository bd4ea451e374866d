// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "topo/bounds/paths.hpp"
#include "topo/bounds/route.hpp"

namespace busbar::topo {

/// Finds the best path of a pair; keeps the routes that it searched for the next pairs. The graph
/// must outlive it.
class PathFinder {
 public:
  PathFinder(const Graph& graph, const std::vector<double>& capacity, ConstantSet constants);

  /// `from` and `to` are devices (indices of Graph::devices), and different.
  [[nodiscard]] std::optional<Path> find(int from, int to, Level level);

 private:
  [[nodiscard]] const RouteTree& tree(int node, Ways ways);
  [[nodiscard]] std::optional<Path> nvlink(int from, int to);
  [[nodiscard]] std::optional<Path> between_hosts(int from, int to);
  [[nodiscard]] std::optional<Path> bus(int from, int to);
  [[nodiscard]] bool peers_work(int from, int to) const;
  [[nodiscard]] int home(int device);
  [[nodiscard]] const std::vector<int>& gates(int device);
  [[nodiscard]] std::vector<int> nearest_gates(int device);
  [[nodiscard]] std::vector<Use> parallel(int from, int to, bool through_switch) const;
  [[nodiscard]] int node_of(int device) const;
  [[nodiscard]] const Node& node(int number) const;
  [[nodiscard]] LinkKind kind(int link) const;

  const Graph& graph_;
  const std::vector<double>& capacity_;
  ConstantSet constants_;
  std::vector<std::vector<int>> out_;
  std::map<std::pair<int, Ways>, RouteTree> trees_{};
  std::map<int, std::vector<int>> gates_{};
  std::map<int, bool> intel_{};  ///< by host: whether its packages are Intel's
};

}  // namespace busbar::topo

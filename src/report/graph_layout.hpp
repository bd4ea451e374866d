// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <vector>

#include "topo/graph/graph.hpp"

namespace busbar {

/// Where a node stands: columns are leaves from left to right, rows count from the processors down.
struct GraphPlace {
  bool drawn = false;
  bool switched = false;  ///< an NVSwitch: a bar below the leaves it joins
  double column = 0;      ///< the middle of what hangs below it
  int row = 0;
};

/// A machine as a tree of processors, switches and leaves (GPUs, NICs), for a picture.
struct GraphLayout {
  std::vector<GraphPlace> places{};  ///< one per node
  std::size_t leaves = 0;            ///< columns
  int leaf_row = 0;                  ///< GPUs, NICs and what has nothing below it stand here
  std::size_t switches = 0;          ///< rows of bars below the leaves
  int hosts_drawn = 0;
  int hosts = 0;
};

/// The layout of as many hosts as have `most_leaves` GPUs together, and of the first host always.
/// The network itself is not placed: a NIC's arrow stands for it.
[[nodiscard]] GraphLayout lay_out(const topo::Graph& graph, std::size_t most_leaves = 20);

/// Whether the link is a branch of the tree: neither between GPUs, nor processors, nor hosts, nor
/// to an NVSwitch.
[[nodiscard]] bool is_branch(const topo::Graph& graph, const topo::Link& link);

}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "topo/graph/graph.hpp"

namespace busbar::topo {

/// Links of a way with the fewest hops between two nodes through the host's own parts (switches,
/// bridges, processors; never another GPU or NIC), told from its end; empty where there is none.
[[nodiscard]] std::vector<const Link*> shortest_way(const Graph& graph, int from, int to);

/// The nearest node of a kind by hops, the lowest of several; -1 where none is reached.
[[nodiscard]] int nearest(const Graph& graph, int from, NodeKind kind);

}  // namespace busbar::topo

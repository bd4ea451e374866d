// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "topo/graph/graph.hpp"

namespace busbar::topo {

/// A system file of this graph, which parse_system reads back to the same graph; or of that many
/// equal hosts of which it is one.
[[nodiscard]] std::string write_system(const Graph& graph, int hosts = 1);

}  // namespace busbar::topo

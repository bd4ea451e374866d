// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "topo/graph/graph.hpp"

namespace busbar::topo {

/// So many equal hosts from a graph of one: its nodes are copied and renamed "host0/GPU0", those of
/// host -1 (a network, a switch between hosts) are there once. Labels are not copied.
[[nodiscard]] Graph copy_hosts(const Graph& one, int hosts);

}  // namespace busbar::topo

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "topo/assemble/sources.hpp"
#include "topo/graph/graph.hpp"

namespace busbar::topo {

/// One graph from all that is known of a machine, joined by PCI bus id. Without a GPU its packages
/// are the devices. What is uncertain is in the graph's warnings.
[[nodiscard]] Graph assemble(const Sources& sources);

}  // namespace busbar::topo

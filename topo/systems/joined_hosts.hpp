// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "topo/graph/graph.hpp"

namespace busbar::topo {

/// The adapters by which a host joins a network.
struct NetworkRequest {
  int adapters = 0;         ///< of each host; 0: all that the graph has, else one for each device
  double adapter_GBps = 0;  ///< per direction, of each
};

/// A host whose adapters are cabled to a network without a bottleneck of its own: those of the
/// graph that are nearest to its devices, or assumed ones beside devices where it has none. Without
/// a request the graph must have a network. Throws Error (Usage) where it has not, or has one
/// already, or fewer adapters than requested, or is of several hosts.
[[nodiscard]] Graph with_network(Graph host, const std::optional<NetworkRequest>& request);

}  // namespace busbar::topo

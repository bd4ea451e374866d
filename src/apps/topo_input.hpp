// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "apps/topo_options.hpp"
#include "topo/graph/graph.hpp"

namespace busbar {

/// The machines that the options name: system files, captures, or this machine. Throws Error
/// (Usage) for input that cannot be read or understood.
[[nodiscard]] std::vector<topo::Graph> read_machines(const TopoOptions& options);

}  // namespace busbar

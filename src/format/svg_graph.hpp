// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "topo/graph/graph.hpp"

namespace busbar {

/// The machine as one SVG element: processors above, switches, GPUs and NICs below, NVLinks as arcs
/// below the GPUs or as lines to their switch; the width of a line shows its bandwidth.
[[nodiscard]] std::string svg_graph(const topo::Graph& graph, topo::ConstantSet constants);

/// The same as a file of its own: with the machine's name, its rates and how to read it.
[[nodiscard]] std::string svg_picture(const topo::Graph& graph, topo::ConstantSet constants);

/// What the picture leaves out and how to read it: for its caption.
[[nodiscard]] std::string svg_graph_caption(const topo::Graph& graph);

}  // namespace busbar

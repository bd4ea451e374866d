// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "format/topo_json.hpp"

namespace busbar {

/// @name For a terminal: several lines, each with its end
/// @{
/// The machine as a tree, its NVLinks, the matrix of `nvidia-smi topo -m`, and warnings.
[[nodiscard]] std::string show_text(const topo::Graph& graph, topo::ConstantSet constants);
[[nodiscard]] std::string bound_text(const topo::Graph& graph, const topo::Bound& bound,
                                     topo::ConstantSet constants);
[[nodiscard]] std::string choice_text(const topo::Graph& graph, const topo::Choice& choice,
                                      topo::ConstantSet constants);
[[nodiscard]] std::string partition_text(const topo::Graph& graph,
                                         std::span<const topo::Choice> blocks);
[[nodiscard]] std::string classes_text(std::span<const ClassesOfSize> sizes);
/// `heading`: of the first column, what is compared.
[[nodiscard]] std::string compare_text(std::span<const topo::SetComparison> rows,
                                       const std::string& heading = "system");
/// The machine on one page: its best and worst sets.
[[nodiscard]] std::string summary_text(const topo::Graph& graph,
                                       std::span<const topo::SetComparison> sets);
/// @}

/// "25 GB/s", "31.5 GB/s", "no limit".
[[nodiscard]] std::string rate_text(double GBps);
/// "0,1,2,3"; "0-71" where long.
[[nodiscard]] std::string devices_text(std::span<const int> devices);

/// How a kind of part is named and drawn.
struct PartLook {
  topo::NodeKind kind;
  std::string_view noun;  ///< "GPU"
  int row;                ///< of a picture, from the processors down
  std::string_view dot;   ///< its attributes for graphviz
  std::string_view fill;  ///< its colour in SVG
};
[[nodiscard]] const PartLook& look_of(topo::NodeKind kind);

/// The machine as a graph for graphviz' dot.
[[nodiscard]] std::string show_dot(const topo::Graph& graph, topo::ConstantSet constants);

/// The machine as one SVG element: processors above, switches, GPUs and NICs below, NVLinks as arcs
/// below the GPUs or as lines to their switch; the width of a line shows its bandwidth.
[[nodiscard]] std::string svg_graph(const topo::Graph& graph, topo::ConstantSet constants);

/// The same as a file of its own: with the machine's name, its rates and how to read it.
[[nodiscard]] std::string svg_picture(const topo::Graph& graph, topo::ConstantSet constants);

/// What the picture leaves out and how to read it: for its caption.
[[nodiscard]] std::string svg_graph_caption(const topo::Graph& graph);

}  // namespace busbar

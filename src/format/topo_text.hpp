// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topo/bounds/bound.hpp"
#include "topo/choice/choose.hpp"
#include "topo/graph/graph.hpp"
#include "topo/systems/recognize.hpp"

namespace busbar {

struct ClassesOfSize {
  int k = 0;
  std::vector<topo::SetClass> classes{};
};

/// @name One JSON document each, two blanks of indentation and a line end; docs/topology.md
/// describes the members
/// @{
[[nodiscard]] std::string show_json(const topo::Graph& graph);
[[nodiscard]] std::string bound_json(const topo::Graph& graph, const topo::Bound& bound);
[[nodiscard]] std::string choice_json(const topo::Graph& graph, const topo::Choice& choice);

/// One size is an object, several are an array.
[[nodiscard]] std::string classes_json(const topo::Graph& graph,
                                       std::span<const ClassesOfSize> sizes);

/// `graphs`: those of the rows, by name.
[[nodiscard]] std::string compare_json(std::span<const topo::Graph> graphs,
                                       std::span<const topo::SetComparison> rows);
/// One object for each set of topo::summarize.
[[nodiscard]] std::string summary_json(const topo::Graph& graph,
                                       std::span<const topo::SetComparison> sets);
/// `match`: none if it is not a built-in system.
[[nodiscard]] std::string recognition_json(const topo::MachineIdentity& identity,
                                           const std::optional<topo::SystemMatch>& match);
/// @}

/// @name For a terminal: several lines, each with its end
/// @{
/// The machine as a tree, its NVLinks, the matrix of `nvidia-smi topo -m`, and warnings.
[[nodiscard]] std::string show_text(const topo::Graph& graph, topo::ConstantSet constants);
[[nodiscard]] std::string bound_text(const topo::Graph& graph, const topo::Bound& bound,
                                     topo::ConstantSet constants);
[[nodiscard]] std::string choice_text(const topo::Graph& graph, const topo::Choice& choice,
                                      topo::ConstantSet constants);
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

/// The machine as one SVG element: processors above, switches, GPUs and NICs below, NVLinks as arcs
/// below the GPUs or as lines to their switch; the width of a line shows its bandwidth.
[[nodiscard]] std::string svg_graph(const topo::Graph& graph, topo::ConstantSet constants);

/// The same as a file of its own: with the machine's name, its rates and how to read it.
[[nodiscard]] std::string svg_picture(const topo::Graph& graph, topo::ConstantSet constants);

/// What the picture leaves out and how to read it: for its caption.
[[nodiscard]] std::string svg_graph_caption(const topo::Graph& graph);

}  // namespace busbar

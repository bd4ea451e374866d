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

/// @name One JSON document each, two blanks of indentation and a line end; docs/topology.md
/// describes the members
/// @{
[[nodiscard]] std::string show_json(const topo::Graph& graph);
[[nodiscard]] std::string bound_json(const topo::Graph& graph, const topo::Bound& bound);
[[nodiscard]] std::string choice_json(const topo::Graph& graph, const topo::Choice& choice);
[[nodiscard]] std::string partition_json(const topo::Graph& graph,
                                         std::span<const topo::Choice> blocks);

/// The classes of all sets of k devices.
struct ClassesOfSize {
  int k = 0;
  std::vector<topo::SetClass> classes{};
};
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

}  // namespace busbar

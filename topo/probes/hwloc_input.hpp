// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

namespace busbar::topo {

/// What hwloc is given of an XML file: hwloc 2.9 reads past null pointers and fails assertions on
/// input that is well-formed, but no machine. So its objects are checked here (sets of processors
/// and nodes that are there and fit into one another, objects in their place, numbers that are
/// numbers), and what is not wanted (other distances, memory attributes, kinds of processors, Misc
/// objects, unknown attributes) is left out. Throws Error (Usage) with FILE:LINE:COLUMN.
[[nodiscard]] std::string hwloc_input(const std::string& text, const std::string& origin);

}  // namespace busbar::topo

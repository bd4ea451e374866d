// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "judge/spec/ceiling.hpp"
#include "model/collective.hpp"

namespace busbar::judge {

/// The ceiling by the graph of the named system; nothing where the graph has none for this
/// collective or has no such hosts. Throws Error (Usage) for an unknown system, or one with fewer
/// devices on a node than the set wants.
[[nodiscard]] std::optional<CeilingFigure> graph_ceiling(const CeilingRule& rule,
                                                         const Collective& collective,
                                                         const SetShape& shape);

}  // namespace busbar::judge

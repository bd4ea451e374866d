// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "judge/spec/specification.hpp"

namespace busbar::judge {

/// The most that a collective can reach, and where that is from.
struct CeilingFigure {
  double GBps = 0;     ///< bus bandwidth
  std::string text{};  ///< "450 of dgx-h100 over nvswitch, limited by its links"
};

/// The ceiling of a collective on a shape, by the graph of the system that [ceiling] names; nothing
/// where it gives none for this collective or has no such hosts, and then a row's own bound_GBps
/// counts. Throws Error (Usage) for a system with fewer devices on a node than the set wants.
/// Computed once for each: a graph's bound takes a while, and a pair of nodes is like another.
using Ceilings =
    std::function<std::optional<CeilingFigure>(const std::string& collective, const SetShape&)>;

/// The rule must outlive what is returned.
[[nodiscard]] Ceilings ceilings_of(const CeilingRule& rule);

}  // namespace busbar::judge

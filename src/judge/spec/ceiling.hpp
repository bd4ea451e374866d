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

/// The ceiling of a collective on a shape, computed once for each; nothing where the system that
/// [ceiling] names gives none or has no such hosts. Throws Error (Usage) for a system with fewer
/// devices on a node than the set wants.
using Ceilings =
    std::function<std::optional<CeilingFigure>(const std::string& collective, const SetShape&)>;

/// The rule must outlive what is returned.
[[nodiscard]] Ceilings ceilings_of(const CeilingRule& rule);

}  // namespace busbar::judge

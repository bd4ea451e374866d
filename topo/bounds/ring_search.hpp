// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "topo/bounds/held_karp.hpp"

namespace busbar::topo {

/// Cheap directed rings by nearest neighbours from up to `starts` devices, each mended by moving
/// stretches of up to three devices and by reversing stretches until neither helps; cheapest
/// first. `cost` is n x n, infinite for absent hops. May miss rings: never a proof.
[[nodiscard]] std::vector<PricedRing> search_rings(std::span<const double> cost, int n, int starts);

}  // namespace busbar::topo

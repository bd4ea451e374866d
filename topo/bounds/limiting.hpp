// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "topo/bounds/packing.hpp"
#include "topo/bounds/ring_problem.hpp"

namespace busbar::topo {

/// What proves that a packing carries no more.
struct Limiting {
  std::vector<int> resources{};
  /// Where not empty: `resources` bound what leaves or reaches each of these devices.
  std::vector<int> devices{};
};

/// The simplest proof of the packing's value that there is: every resource that alone proves it;
/// else every device whose hops out or in together do; else, of an exact packing, the resources
/// with a price. Empty where none of these is a proof.
[[nodiscard]] Limiting limiting(const RingProblem& problem, const RingPacking& packing);

}  // namespace busbar::topo

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "topo/bounds/packing.hpp"
#include "topo/graph/graph.hpp"

namespace busbar::topo {

/// What proves that a packing cannot be better.
struct Limiting {
  std::vector<int> resources{};
  /// Where not empty: `resources` bound what leaves or reaches each of these devices.
  std::vector<int> devices{};
};

/// A limit whose resources are links, short: "X-Bus CPU0→CPU1", "X-Bus CPU0↔CPU1", "NVLink 2 out of
/// GPU4", "NVLink 3 of every GPU", "EDR of host0/NIC0 and host1/NIC0", "the 8 NDR links of every
/// host", "9 of 24 NVLink links". `all`: the links that the rings of the set may take.
[[nodiscard]] std::string limit_text(const Graph& graph, const Limiting& limit,
                                     std::span<const int> all, std::span<const int> set);

/// The simplest proof of the packing's value that there is: every resource that alone proves it;
/// else every device whose hops out or in together do; else, of an exact packing, the resources
/// with a price. Empty where none of these is a proof.
[[nodiscard]] Limiting limiting(const RingProblem& problem, const RingPacking& packing);

}  // namespace busbar::topo

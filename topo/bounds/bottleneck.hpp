// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "topo/bounds/packing.hpp"
#include "topo/bounds/ring_problem.hpp"
#include "topo/graph/graph.hpp"

namespace busbar::topo {

/// Links that limit a set of devices.
struct LimitingLinks {
  std::vector<int> links{};
  std::vector<int> all{};     ///< that the rings of the set may take
  std::vector<int> owners{};  ///< devices that the links belong to, where those are known
};

/// In words, short: "X-Bus CPU0→CPU1", "X-Bus CPU0↔CPU1", "NVLink 2 out of GPU4", "NVLink 3 of
/// every GPU", "EDR of host0/NIC0 and host1/NIC0", "the 8 NDR links of every host", "9 of 24 NVLink
/// links". `devices` is the set.
[[nodiscard]] std::string limit_in_words(const Graph& graph, const LimitingLinks& limit,
                                         std::span<const int> devices);

/// What proves that a packing cannot be better.
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

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <vector>

#include "topo/choice/choose.hpp"

namespace busbar::topo {

/// One line of a comparison: a set of a system against the first line of its table and size.
struct Comparison {
  std::string system{};  ///< the graph's name; of a summary, which set: "best 4"
  Choice choice{};       ///< Policy::List where the set was given
  double ratio = 0;      ///< bound_GBps over that of the first; 0 where the first has none
};

/// The sets, in the order given, against the first of them. Throws Error (Usage) for what is no
/// device or twice in a set.
[[nodiscard]] std::vector<Comparison> compare_sets(const Graph& graph,
                                                   std::span<const std::vector<int>> sets,
                                                   const BoundOptions& options = {});

/// For each k every system's choice, against the first system that has k devices; systems with
/// fewer are left out. Throws Error (Usage) for k < 1.
[[nodiscard]] std::vector<Comparison> compare_systems(std::span<const Graph> graphs,
                                                      std::span<const int> ks, Policy policy,
                                                      const BoundOptions& options = {});

/// All devices, then the best and the worst set of 2, 4, 8 ... from the largest down, one line
/// where they are equal; each against the best of its size. Of several hosts, sets of the first.
/// Nothing for one device.
[[nodiscard]] std::vector<Comparison> summarize(const Graph& graph,
                                                const BoundOptions& options = {});

}  // namespace busbar::topo

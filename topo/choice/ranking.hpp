// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "topo/choice/choose.hpp"
#include "topo/choice/scores.hpp"
#include "topo/choice/sets.hpp"

namespace busbar::topo {

/// A set, or several that differ only in devices that are interchangeable.
struct Candidate {
  DeviceSet set{};          ///< the one with the lowest indices
  std::uint64_t count = 1;  ///< saturates at kManySets
  Tie tie{};
};

/// All sets of k devices, one by one up to kMostSets; beyond that by how many of each class of
/// interchangeable devices they have (those of one NUMA node, one distance to the NICs, and whose
/// swap leaves every path's capacity as it was). Throws Error (Usage) where those classes, too, are
/// more than kMostSets.
[[nodiscard]] std::vector<Candidate> candidates_of(std::size_t k, const Rater& rater,
                                                   const TieBreaker& ties);

/// The sets of the candidates, in their order.
[[nodiscard]] std::vector<DeviceSet> sets_of(std::span<const Candidate> candidates);

/// GB/s of any two or more of the devices, where all have equal ports at the same NVSwitches.
[[nodiscard]] std::optional<double> equal_ports_GBps(const Graph& graph,
                                                     const BoundOptions& options);

/// Of sets with equal bounds the first by NUMA nodes (fewest, or where `spread` most), NIC steps
/// (nearest, or farthest) and lowest indices, without trying them: a dynamic program over NUMA
/// nodes.
[[nodiscard]] DeviceSet pick_by_ties(std::size_t k, const TieBreaker& ties, bool spread);

/// What a policy took and what it was compared with.
struct Ranked {
  DeviceSet set{};
  Scores own{};
  std::uint64_t sets = 0;   ///< compared in all; saturates at kManySets
  std::uint64_t equal = 0;  ///< sets with the scores of the chosen; 0: not counted
  Scores best{};
  DeviceSet best_set{};
  std::optional<Scores> worst{};       ///< nothing: not looked for
  std::vector<std::string> decided{};  ///< what decided between equals, first to last
};

/// Rates sets of k devices and takes one by the policy: Best, Worst or Median (the middle of all
/// sets in order, the better of two). Worst turns NUMA nodes and NIC steps around; the lowest
/// indices win in each. Where hundreds of problems differ, Best counts no equals and looks for no
/// worst.
[[nodiscard]] Ranked rank(const Graph& graph, std::size_t k, Policy policy,
                          const BoundOptions& options);

/// Why a policy took this set: one line. `gpu_link` is the machine's.
[[nodiscard]] std::string reason_of(const Ranked& ranked, Policy policy, LinkKind gpu_link);

}  // namespace busbar::topo

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
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

/// All sets of k of the pool, one by one up to kMostSets; beyond that by how many of each class of
/// interchangeable devices they have (those of one NUMA node, one distance to the NICs, and whose
/// swap leaves every path's capacity as it was). Throws Error (Usage) where those classes, too, are
/// more than kMostSets.
[[nodiscard]] std::vector<Candidate> candidates_of(std::span<const int> pool, std::size_t k,
                                                   const Rater& rater, const TieBreaker& ties);

/// The sets of the candidates, in their order.
[[nodiscard]] std::vector<DeviceSet> sets_of(std::span<const Candidate> candidates);

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

/// Rates all candidates and takes one by the policy: Best, Worst or Median (the middle of all sets
/// in order, the better of two). Worst turns NUMA nodes and NIC steps around; the lowest indices
/// win in each. `cache` has the candidates' sets.
[[nodiscard]] Ranked rank_all(std::span<const Candidate> candidates, ScoreCache& cache,
                              Policy policy);

/// The same set as rank_all gives for Best, sooner; counts no equals and looks for no worst.
[[nodiscard]] Ranked rank_best(std::span<const Candidate> candidates, ScoreCache& cache);

/// Of a switched domain, where the ports say all: by counting.
[[nodiscard]] Ranked rank_by_ports(std::span<const int> pool, std::span<const double> ports,
                                   std::size_t k, const TieBreaker& ties, Policy policy);

/// Why a policy took this set: one line.
[[nodiscard]] std::string reason_of(const Ranked& ranked, Policy policy);

}  // namespace busbar::topo

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "topo/choice/candidates.hpp"
#include "topo/choice/choose.hpp"
#include "topo/choice/rater.hpp"

namespace busbar::topo {

/// What a policy took and what it was compared with.
struct Ranked {
  DeviceSet set{};
  Figures own{};
  std::uint64_t sets = 0;   ///< compared in all; saturates at kManySets
  std::uint64_t equal = 0;  ///< sets with the figures of the chosen; 0: not counted
  Figures best{};
  DeviceSet best_set{};
  std::optional<Figures> worst{};      ///< nothing: not looked for
  std::vector<std::string> decided{};  ///< what decided between equals, first to last
};

/// Rates all candidates and takes one by the policy: Best, Worst or Median (the middle of all sets
/// in order, the better of two). Worst turns NUMA nodes and NIC steps around; the lowest indices
/// win in each.
[[nodiscard]] Ranked rank_all(std::span<const Candidate> candidates, const Groups& groups,
                              const Rater& rater, Policy policy);

/// The same set as rank_all gives for Best, by branch and bound: sets in the order of their quick
/// upper bounds, until no other can be better. Counts no equals and looks for no worst.
[[nodiscard]] Ranked find_best(std::span<const Candidate> candidates, const Groups& groups,
                               const Rater& rater);

/// The sets of the candidates, in their order.
[[nodiscard]] std::vector<DeviceSet> sets_of(std::span<const Candidate> candidates);

/// Of a switched domain, where the ports say all: by counting.
[[nodiscard]] Ranked rank_star(std::span<const int> pool, std::span<const double> ports,
                               std::size_t k, const TieBreaker& ties, Policy policy);

}  // namespace busbar::topo

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "stats/mann_whitney.hpp"

namespace busbar::stats {

/// Outcome of Wilcoxon's signed rank test of paired differences.
struct SignedRank {
  double p = 1;                        ///< two-sided: twice the smaller tail, at most 1
  std::size_t pairs = 0;               ///< that differ
  double shift = 0;                    ///< median of the averages of all two (Hodges-Lehmann)
  std::optional<Interval> interval{};  ///< of the shift, at least 95 %; nullopt below 6 pairs
};

/// Exact for up to 50 pairs, ties included; beyond, the normal approximation. Pairs without a
/// difference are left out of p. Precondition: no NaN.
[[nodiscard]] SignedRank signed_rank(std::span<const double> differences);

/// The fewest pairs with which p can be below `level`: 6 for 0.05.
[[nodiscard]] std::size_t fewest_pairs_for(double level);

}  // namespace busbar::stats

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

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

/// The smallest two-sided p that so many pairs can give: 2^(1 - n), at most 1.
[[nodiscard]] double least_signed_p(std::size_t pairs);

/// Holm's adjusted p of each test of a family, in the family's order: where those below a level are
/// called effects, the chance of any false one is below it, however the tests depend on each other.
[[nodiscard]] std::vector<double> holm(std::span<const double> ps);

}  // namespace busbar::stats

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace busbar::stats {

/// Outcome of the Mann-Whitney (Wilcoxon rank sum) test of two independent samples.
struct MannWhitney {
  double u = 0;  ///< pairs in which the first sample's value is the larger; ties count half
  double p = 1;  ///< two-sided: twice the smaller tail, at most 1
  bool exact = true;
};

/// Exact for up to 60 values in all, ties included (the permutation distribution of the mid-ranks);
/// beyond, the normal approximation with corrections for continuity and ties. Precondition: both
/// have values, none of them NaN.
[[nodiscard]] MannWhitney mann_whitney(std::span<const double> first,
                                       std::span<const double> second);

/// The smallest two-sided p that samples of these sizes can give: 2 / C(n + m, n), at most 1.
[[nodiscard]] double least_p(std::size_t first, std::size_t second);

/// The fewest values in each of two equal samples with which p can be below `level`: 4 for 0.05.
[[nodiscard]] std::size_t fewest_for(double level);

/// An interval, in the values' unit.
struct Interval {
  double low = 0;
  double high = 0;
};

/// At least 95 % confidence interval of the shift from `first` to `second` (Hodges-Lehmann, the
/// inversion of the exact test without ties); nullopt where the samples are too few for it.
[[nodiscard]] std::optional<Interval> shift_interval(std::span<const double> first,
                                                     std::span<const double> second);

}  // namespace busbar::stats

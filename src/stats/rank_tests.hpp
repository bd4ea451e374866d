// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace busbar::stats {

/// Two-sided p of the Mann-Whitney (Wilcoxon rank sum) test of two independent samples: twice the
/// smaller tail, at most 1. Exact for up to 60 values in all, ties included (the permutation
/// distribution of the mid-ranks); beyond, the normal approximation with corrections for continuity
/// and ties. Precondition: both have values, none of them NaN.
[[nodiscard]] double mann_whitney_p(std::span<const double> first, std::span<const double> second);

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

/// The probability of `successes` or more of `trials`, each with `chance`.
[[nodiscard]] double binomial_tail(double successes, double trials, double chance);

/// The rank (precedence) test without scale or distribution: the chance that of `tries` values that
/// are drawn as the `reference` values are at least `low` are as low as those of which `below`
/// reference values are (`below` of them are at most the low-th lowest try).
[[nodiscard]] double precedence_p(std::size_t below, std::size_t reference, std::size_t tries,
                                  std::size_t low);

/// The probability that of `drawn` of `all` things, of which so many are `marked`, `hits` or more
/// are marked.
[[nodiscard]] double hypergeometric_tail(std::size_t hits, std::size_t drawn, std::size_t marked,
                                         std::size_t all);

/// Outcome of Wilcoxon's signed rank test of paired differences.
struct SignedRank {
  double p = 1;                        ///< two-sided: twice the smaller tail, at most 1
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

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace busbar::stats {

/// Two ranks, 1-based: samples number `low` and `high` in ascending order bound the median.
struct RankPair {
  std::size_t low = 0;
  std::size_t high = 0;
  [[nodiscard]] bool operator==(const RankPair&) const = default;
};

/// Ranks of the 95 % interval of the median of `count` samples worth count / iact independent ones;
/// nullopt when those are fewer than 6. With iact 1 the exact binomial ranks of the textbook.
/// `stretch` multiplies the distance from the middle, for an iact that was itself estimated.
[[nodiscard]] std::optional<RankPair> median_ranks(std::size_t count, double iact = 1,
                                                   double stretch = 1);

/// Ranks of the samples that bound a quantile, such as 0.999, of `count` independent samples at
/// 95 %, by the exact binomial distribution; nullopt where so few cannot: 3688 can for 0.999.
[[nodiscard]] std::optional<RankPair> quantile_ranks(std::size_t count, double share);

/// 95 % confidence interval of the median, corrected for autocorrelation.
struct MedianInterval {
  double low = 0;         ///< in the samples' unit
  double high = 0;        ///< in the samples' unit
  double half_width = 0;  ///< (high - low) / 2 / median: a fraction, not percent
  double iact = 1;        ///< estimated integrated autocorrelation time, in samples
};

/// Order statistics at the ranks of `median_ranks`; nullopt where the samples, or the independent
/// samples that they are worth, are fewer than 6 and cannot give 95 %.
[[nodiscard]] std::optional<MedianInterval> median_interval(std::span<const double> samples);

/// The samples of the visits of a row, in the order in which they were taken.
using VisitSamples = std::span<const std::vector<double>>;
[[nodiscard]] std::vector<double> all_samples(VisitSamples visits);

/// Fewer visits say nothing about how a run wanders.
inline constexpr std::size_t kFewestVisits = 4;

/// 95 % confidence interval of the median over a run of which the visits are parts: the wider, on
/// each side, of median_interval of all samples and of Student's interval of the visits' medians
/// about the median of all samples. nullopt for fewer than 4 visits.
[[nodiscard]] std::optional<MedianInterval> run_interval(VisitSamples visits);

}  // namespace busbar::stats

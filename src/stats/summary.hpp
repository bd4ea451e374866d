// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace busbar::stats {

/// What a row says about its samples, in the samples' unit; nothing is trimmed.
struct Summary {
  std::size_t count = 0;
  double mean = 0;
  double min = 0;
  double median = 0;
  double p90 = 0;
  double p99 = 0;
  double max = 0;
  double deviation = 0;  ///< standard deviation of these samples as a whole population
};

/// The standard deviation of a normal sample over the median of its distances from its median.
inline constexpr double kMadScale = 1.4826;

/// The middle sample, or the mean of the two middle ones; precondition: not empty, no NaN.
[[nodiscard]] double median(std::span<const double> samples);

/// The sample of rank ceil(percent / 100 * n) ("nearest rank"), percent in 0..100, 0 giving the
/// minimum; precondition: not empty, no NaN.
[[nodiscard]] double percentile(std::span<const double> samples, double percent);

/// kMadScale times the median distance from the median; the same precondition.
[[nodiscard]] double robust_deviation(std::span<const double> samples);

/// All of it with one sort; nullopt when empty.
[[nodiscard]] std::optional<Summary> summarize(std::span<const double> samples);

}  // namespace busbar::stats

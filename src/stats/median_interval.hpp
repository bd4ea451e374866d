// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>

namespace busbar::stats {

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

}  // namespace busbar::stats

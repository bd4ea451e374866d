// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

namespace busbar::stats {

/// Ranks 1..n less their mean (n + 1) / 2, in the samples' order; equal samples share their
/// mid-rank.
[[nodiscard]] std::vector<double> centered_ranks(std::span<const double> samples);

/// How many samples have the information of one independent sample: 1 + 2 sum of the
/// autocorrelations of the ranks, within [1, n]; n means that the series never forgets where it
/// began.
[[nodiscard]] double integrated_autocorrelation_time(std::span<const double> samples);

/// True when the samples rise or fall with time beyond what their autocorrelation explains; fewer
/// than 10 samples never drift.
[[nodiscard]] bool is_drifting(std::span<const double> samples);

}  // namespace busbar::stats

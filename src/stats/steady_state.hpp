// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

namespace busbar::stats {

/// True when the medians of two successive warm-up windows differ by less than `tolerance` of the
/// smaller one; an empty window is never steady.
[[nodiscard]] bool is_steady(std::span<const double> previous, std::span<const double> current,
                             double tolerance = 0.05);

/// True when the samples rise or fall with time beyond what their autocorrelation explains; fewer
/// than 10 samples never drift.
[[nodiscard]] bool is_drifting(std::span<const double> samples);

}  // namespace busbar::stats

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "report/chart.hpp"
#include "study/plot_curves.hpp"

namespace busbar {

/// @name Figures over the size, a panel per number of ranks; empty where the curves do not allow it
/// @{
/// Bus bandwidth, on an axis as in set_rate_axis, with its interval and with what the topology
/// allows.
[[nodiscard]] Chart busbw_figure(const SizeCurves& curves, std::optional<bool> logarithmic = {});
/// Bus bandwidth as percent of the row's own bound.
[[nodiscard]] Chart share_figure(const SizeCurves& curves);
/// Time: median and 99th percentile.
[[nodiscard]] Chart latency_figure(const SizeCurves& curves);
/// @}

/// Bus bandwidth and time over ranks at `size`, or at the largest size that all curves have. The
/// ideal line keeps the bus bandwidth of the fewest ranks. Sizes that were measured in place only
/// are left out. Empty without two numbers of ranks.
[[nodiscard]] Chart scaling_figure(const SizeCurves& curves, std::optional<Bytes> size,
                                   std::optional<bool> logarithmic = {});

}  // namespace busbar

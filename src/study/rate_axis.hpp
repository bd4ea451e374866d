// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>

namespace busbar {

/// The least and the highest rate of one curve, above 0.
struct RateRange {
  double low = 0;
  double high = 0;
};

/// The peaks of curves on one axis may differ by this factor; beyond, the axis is logarithmic.
inline constexpr double kMostLinear = 30;

/// Where the logarithmic axis of these curves begins; empty where it is linear, which is chosen by
/// the curves' peaks unless the user wants one. Sizes so small that all curves rise alike, to 1/300
/// of the lowest peak, are below it.
[[nodiscard]] std::optional<double> log_axis_low(std::span<const RateRange> curves,
                                                 std::optional<bool> wanted = {});

}  // namespace busbar

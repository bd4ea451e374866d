// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>

#include "report/chart.hpp"
#include "study/dataset.hpp"

namespace busbar {

/// Limits of the colours in GB/s.
struct PlotLimits {
  double low = 0;
  double high = 0;
};

/// The rates of ordered pairs, a panel per system, at `size` or at the largest that each has. A
/// pair without a value is a cell without one. Without limits: the data's, widened to round
/// numbers. Empty where no row has a sender and a receiver.
[[nodiscard]] Chart pairs_figure(std::span<const Dataset> datasets, std::optional<Bytes> size,
                                 std::optional<PlotLimits> limits);

/// The next round numbers around a range: 1, 2 or 5 times a power of ten apart, five to ten steps.
[[nodiscard]] PlotLimits round_limits(double low, double high);

}  // namespace busbar

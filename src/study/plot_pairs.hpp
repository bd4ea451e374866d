// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>

#include "report/chart.hpp"
#include "study/dataset.hpp"

namespace busbar {

/// The rates of ordered pairs, a panel per system, at `size` or at the largest that each has. A
/// pair without a value is a cell without one. `limits`: of the colours in GB/s; without them the
/// data's, widened to round numbers. Empty where no row has a sender and a receiver.
[[nodiscard]] Chart pairs_figure(std::span<const Dataset> datasets, std::optional<Bytes> size,
                                 std::optional<ChartRange> limits);

/// The next round numbers around a range: 1, 2 or 5 times a power of ten apart, five to ten steps.
[[nodiscard]] ChartRange round_limits(double low, double high);

}  // namespace busbar

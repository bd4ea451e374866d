// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string_view>

namespace busbar {

/// How a rate goes with the number of ranks.
enum class Trend {
  None,     ///< fewer than two numbers of ranks
  Flat,     ///< the greatest and the least differ by kFlat of the greatest or less
  Rising,   ///< no step falls by more than kFlat, and the last is the greatest by more than that
  Falling,  ///< the other way round
  Mixed     ///< up and down
};

/// What a rate may change by, as a share of the greater, and still be the same.
inline constexpr double kFlat = 0.05;

[[nodiscard]] std::string_view name(Trend trend);

/// The trend of rates in GB/s, in the order of their numbers of ranks.
[[nodiscard]] Trend trend_of(std::span<const double> rates_GBps);

/// (greatest - least) / greatest; 0 for fewer than two.
[[nodiscard]] double spread_of(std::span<const double> rates_GBps);

}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "study/rate_axis.hpp"

#include <algorithm>

namespace busbar {

std::optional<double> log_axis_low(std::span<const RateRange> curves, std::optional<bool> wanted) {
  if (curves.empty()) return {};
  const auto by_peak = [](const RateRange& a, const RateRange& b) { return a.high < b.high; };
  const auto [lowest, highest] = std::minmax_element(curves.begin(), curves.end(), by_peak);
  if (!wanted.value_or(highest->high > kMostLinear * lowest->high)) return {};
  constexpr double kDepth = 300;
  double low = highest->high;
  for (const RateRange& curve : curves) low = std::min(low, curve.low);
  return std::max(low, lowest->high / kDepth);
}

}  // namespace busbar

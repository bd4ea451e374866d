// SPDX-License-Identifier: BSD-3-Clause
#include "judge/noise_gate.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "stats/summary.hpp"

namespace busbar::judge {

std::optional<double> variation_of(std::span<const double> values) {
  if (values.size() < 2) return {};
  const auto count = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (count - 1)) / mean;
}

std::optional<TwoGroups> two_groups_of(std::span<const double> values) {
  constexpr std::size_t kFewest = 4;
  constexpr double kSeen = 0.01;
  if (values.size() < kFewest) return {};
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  std::size_t upper = 2;  // where the upper group begins
  const auto gap = [&](std::size_t place) { return sorted[place] - sorted[place - 1]; };
  for (std::size_t i = 2; i + 1 < sorted.size(); ++i) {
    if (gap(i) > gap(upper)) upper = i;
  }
  const std::span<const double> all(sorted);
  const auto low = all.first(upper);
  const auto high = all.subspan(upper);
  const double widest = std::max(low.back() - low.front(), high.back() - high.front());
  if (gap(upper) <= widest || gap(upper) <= kSeen * stats::median(all)) return {};
  return TwoGroups{.low = low.size(),
                   .high = high.size(),
                   .low_middle = stats::median(low),
                   .high_middle = stats::median(high)};
}

}  // namespace busbar::judge

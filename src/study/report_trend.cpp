// SPDX-License-Identifier: BSD-3-Clause
#include "study/report_trend.hpp"

#include <algorithm>
#include <array>

namespace busbar {
namespace {

/// Whether the first is greater by more than the tolerance.
bool exceeds(double one, double other) { return one - other > kFlat * std::max(one, other); }

}  // namespace

std::string_view name(Trend trend) {
  constexpr std::array<std::string_view, 5> kNames{"", "flat", "rising", "falling", "mixed"};
  return kNames.at(static_cast<std::size_t>(trend));
}

double spread_of(std::span<const double> rates_GBps) {
  if (rates_GBps.size() < 2) return 0;
  const auto [least, most] = std::minmax_element(rates_GBps.begin(), rates_GBps.end());
  return *most > 0 ? (*most - *least) / *most : 0;
}

Trend trend_of(std::span<const double> rates_GBps) {
  if (rates_GBps.size() < 2) return Trend::None;
  if (spread_of(rates_GBps) <= kFlat) return Trend::Flat;
  bool rises = false;
  bool falls = false;
  for (std::size_t i = 1; i < rates_GBps.size(); ++i) {
    rises = rises || exceeds(rates_GBps[i], rates_GBps[i - 1]);
    falls = falls || exceeds(rates_GBps[i - 1], rates_GBps[i]);
  }
  const bool ends_higher = exceeds(rates_GBps.back(), rates_GBps.front());
  const bool ends_lower = exceeds(rates_GBps.front(), rates_GBps.back());
  if (!falls && ends_higher) return Trend::Rising;
  if (!rises && ends_lower) return Trend::Falling;
  return Trend::Mixed;
}

}  // namespace busbar

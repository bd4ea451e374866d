// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot_style.hpp"

#include <array>
#include <charconv>

namespace busbar {
namespace {

int point_of(Marker marker) {
  switch (marker) {
    case Marker::Diamond: return 13;
    case Marker::Square: return 5;
    case Marker::Triangle: return 9;
    case Marker::Down: return 11;
    case Marker::Pentagon: return 15;
    case Marker::Plus: return 1;
    case Marker::Cross: return 2;
    case Marker::Circle: break;
  }
  return 7;
}

}  // namespace

PlotStyle plot_style(const SeriesStyle& style, bool simulated) {
  constexpr std::array kMeasuredDashes{1, 4, 5};
  constexpr std::array kSimulatedDashes{2, 3, 2};
  constexpr int kHexadecimal = 16;
  PlotStyle result{.point = point_of(style.marker)};
  const std::string_view digits = style.colour.substr(1);
  std::from_chars(digits.data(), digits.data() + digits.size(), result.colour, kHexadecimal);
  const auto dash = static_cast<std::size_t>(style.dash);
  result.dash = simulated ? kSimulatedDashes.at(dash) : kMeasuredDashes.at(dash);
  return result;
}

}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "report/series_style.hpp"

namespace busbar {

/// How a curve looks; the numbers are gnuplot's.
struct PlotStyle {
  int colour = 0;  ///< 0xRRGGBB
  int point = 7;   ///< filled; the number below is the same shape, hollow
  int dash = 1;    ///< 1 is a whole line

  [[nodiscard]] bool operator==(const PlotStyle&) const = default;
};

/// A style of a page in gnuplot's numbers; what is simulated is dashed.
[[nodiscard]] PlotStyle plot_style(const SeriesStyle& style, bool simulated);

}  // namespace busbar

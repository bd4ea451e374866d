// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "report/series_style.hpp"

namespace busbar {

/// A value at a tick; an empty value is a gap in the line, which otherwise goes on to the next
/// point.
struct ChartPoint {
  std::size_t tick = 0;
  std::optional<double> value{};
  bool hollow = false;  ///< the caption says why
};

/// One line of a chart.
struct ChartSeries {
  std::string label{};
  SeriesStyle style{};
  bool simulated = false;            ///< hollow markers
  std::vector<ChartPoint> points{};  ///< by rising tick
  std::optional<double> bound{};     ///< a dotted line in the same colour
};

/// A word below the x axis.
struct ChartTick {
  double position = 0;  ///< in any unit: log2 of a size
  std::string label{};
};

/// Lines over sizes or numbers of ranks.
struct Chart {
  std::string title{};
  std::string x_title{};
  std::string y_title{};
  std::string unit{};              ///< of values, for tooltips: "GB/s", "%"
  std::vector<ChartTick> ticks{};  ///< by rising position
  std::vector<ChartSeries> series{};
  std::optional<double> top{};  ///< of the y axis; else from the values and bounds
  std::optional<double>
      log_low{};  ///< a logarithmic y axis from here on; what is below is not drawn
};

/// The chart as one SVG element; the y axis begins at 0 unless it is logarithmic. Lines of one rate
/// are all drawn, the first on top.
[[nodiscard]] std::string svg_chart(const Chart& chart);

/// The end of an axis that holds `value`, and the distance of its ticks: 1, 2 or 5 times a power of
/// ten.
struct Axis {
  double top = 1;
  double step = 1;
};
[[nodiscard]] Axis axis_for(double value);

}  // namespace busbar

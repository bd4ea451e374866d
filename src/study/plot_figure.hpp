// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "study/plot_style.hpp"
#include "study/rate_axis.hpp"

namespace busbar {

struct PlotPoint {
  double x = 0;
  double y = 0;
  std::optional<double> low{};
  std::optional<double> high{};
  bool gap_before = false;  ///< something is missing between this point and the one before
};

enum class PlotKind {
  Measured,  ///< line, markers, and the band from low to high
  Second,    ///< thin line and small markers: a second value of the same curve
  Bound,     ///< what the topology allows
  Ideal,     ///< what one would wish
  Raw,       ///< points without a line
  Hollow,    ///< points over a curve's own, which are of another placement
  Steps,     ///< a distribution
  Density,   ///< a histogram: each y from its x to the next one's
  Cells,     ///< a matrix: x column, y row, low the value; without a value the cell is missing
};

[[nodiscard]] std::string_view name(PlotKind kind);

struct PlotCurve {
  int panel = 0;
  std::string title{};
  PlotKind kind = PlotKind::Measured;
  PlotStyle style{};
  std::vector<PlotPoint> points{};
};

/// A line with a word at an x: where something changed.
struct PlotMark {
  enum class Place { Above, Below };

  double x = 0;
  std::string text{};          ///< may be empty
  std::optional<int> panel{};  ///< empty: all panels
  Place place = Place::Above;  ///< of the text, in the panel
  bool right = false;          ///< of the line; else left
  int colour = 0x444444;
};

/// One picture, ready to be drawn: what plots/NAME.gp reads.
struct PlotFigure {
  std::string name{};
  std::string title{};
  std::vector<std::string> panels{};
  std::vector<PlotCurve> curves{};
  std::vector<PlotMark> marks{};
  std::vector<std::pair<std::string, std::string>> facts{};  ///< further ones for the script

  [[nodiscard]] bool empty() const { return curves.empty(); }
};

/// An axis of rates: from 0, or logarithmic.
struct RateAxis {
  bool logarithmic = false;
  double low = 0;
  double high = 1;

  /// Where a rate lies on the axis, from 0 to 1.
  [[nodiscard]] double height(double rate) const;
};

/// The axis for the measured curves of a panel, or of all for a negative one, as log_axis_low. Adds
/// it to the figure's facts.
RateAxis add_rate_axis(PlotFigure& figure, std::optional<bool> logarithmic, int panel = -1);

/// The figure as the file that gnuplot reads: blocks of facts, panels, marks, and one per curve.
/// The same figure gives the same bytes.
[[nodiscard]] std::string figure_data(const PlotFigure& figure);

}  // namespace busbar

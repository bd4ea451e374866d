// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace busbar {

/// How a curve looks; the numbers are gnuplot's.
struct CurveStyle {
  int colour = 0;    ///< 0xRRGGBB
  int point = 7;     ///< a filled shape; the number below is the same shape, hollow
  int dash = 1;      ///< 1 is a solid line
  double width = 0;  ///< 0: as the kind of curve has it

  [[nodiscard]] bool operator==(const CurveStyle&) const = default;
};

/// The styles of the systems of one figure or page; the same systems look alike in all of them. The
/// systems of arXiv 1905.08764 keep its colours and shapes under any of their names (green diamond
/// DGX-2, blue square AC922, orange triangle DGX-1V and P3, red circle of the 2080 Ti box); others
/// take, in the order of their names, what is free of the colours. No two systems look alike, and
/// up to eight have colours of their own.
class Palette {
 public:
  explicit Palette(std::span<const std::string> systems);

  /// The style of a system's line number `line` (from 0). The first has the system's style; further
  /// ones have another shape and other dashes, and another colour where no other system has one.
  /// Simulated lines are always dashed. An unknown system gets the first style that no paper has.
  [[nodiscard]] CurveStyle of(const std::string& system, std::size_t line = 0,
                              bool simulated = false) const;

 private:
  std::map<std::string, std::size_t> places_{};  ///< in the table of styles, and beyond it
};

struct ChartPoint {
  double x = 0;
  double y = 0;
  std::optional<double> low{};
  std::optional<double> high{};
  bool gap_before = false;  ///< something is missing between this point and the one before
};

enum class CurveKind {
  Measured,  ///< line, markers, and the band from low to high
  Second,    ///< thin line and small markers: a second value of the same curve
  Bound,     ///< what the topology allows
  Ideal,     ///< perfect scaling
  Line,      ///< a plain line
  Raw,       ///< points without a line
  Hollow,    ///< points over a curve's own, which were measured in place only
  Steps,     ///< a distribution
  Density,   ///< a histogram: each y from its x to the next one's
  Cells,     ///< a matrix: x column, y row, low the value; without a value the cell is missing
};

struct ChartCurve {
  int panel = 0;
  std::string title{};  ///< in the legend; empty: not there
  CurveKind kind = CurveKind::Measured;
  CurveStyle style{};
  std::vector<ChartPoint> points{};
};

/// A line across a panel at an x: where something changed.
struct ChartMark {
  enum class Place { Above, Below };

  double x = 0;
  std::string text{};          ///< may be empty
  std::optional<int> panel{};  ///< empty: all panels
  Place place = Place::Above;  ///< of the text, in the panel
  bool right = false;          ///< of the line; else left
  int colour = 0x444444;
};

/// A lying bar from 0.
struct ChartBox {
  double right = 0;
  double bottom = 0;
  double top = 0;
  int fill = 0xFFFFFF;
  int outline = 0;
};

/// Right of the axes.
struct ChartText {
  double y = 0;
  std::string text{};
  CurveStyle marker{};  ///< a shape in front of the text
};

enum class AxisKind {
  Linear,
  Log,
  Sizes,    ///< powers of two with names such as "1 MiB"
  Powers,   ///< powers of two as numbers
  Time,     ///< seconds since 1970
  Elapsed,  ///< seconds since a begin as hours, minutes and seconds
  Names     ///< `names` alone, at whole numbers
};

struct ChartAxis {
  std::string title{};
  AxisKind kind = AxisKind::Linear;
  double low = 0;                    ///< above `high` for an axis that runs the other way
  double high = 0;                   ///< both 0: as the data are
  std::vector<std::string> names{};  ///< from 0 on; an empty one is not written

  /// Where a value lies on the axis, from 0 to 1.
  [[nodiscard]] double height(double value) const;
};

struct ChartPanel {
  std::string title{};
  ChartAxis x{};
  ChartAxis y{};
  std::optional<double> level{};  ///< a dotted line at this y
};

struct ChartTick {
  double at = 0;
  std::string name{};
  bool minor = false;  ///< without a name
};

struct ColourScale {
  std::string title{};
  std::string unit{};
  double low = 0;
  double high = 1;
  std::vector<ChartTick> names{};  ///< on the scale; none: its numbers
};

/// A figure before it is drawn: one or several panels. chart_script draws it.
struct Chart {
  std::string name{};  ///< of its files: "busbw"
  std::string title{};
  std::vector<ChartPanel> panels{};
  std::vector<ChartCurve> curves{};
  std::vector<ChartMark> marks{};
  std::vector<ChartBox> boxes{};   ///< below the curves of the first panel
  std::vector<ChartText> texts{};  ///< of the first panel
  std::optional<ColourScale> colours{};
  int width = 0;   ///< of a panel in pixels; 0: by the number of panels
  int height = 0;  ///< of a panel without its legend

  [[nodiscard]] bool empty() const { return curves.empty() && boxes.empty(); }
};

struct ChartRange {
  double low = 0;
  double high = 0;
};

/// @name The data of one panel, or of all for a negative one, with their intervals; 0 to 1 where
/// there are none
/// @{
[[nodiscard]] ChartRange x_range(const Chart& chart, int panel = -1);
[[nodiscard]] ChartRange y_range(const Chart& chart, int panel = -1);
/// @}

/// The axis of message sizes for all curves.
[[nodiscard]] ChartAxis bytes_axis(const Chart& chart);

/// A logarithmic axis that exceeds the range by a factor at both ends.
[[nodiscard]] ChartAxis log_axis(std::string title, ChartRange range, double margin,
                                 AxisKind kind = AxisKind::Log);

/// @name The ticks of an axis
/// @{
/// At most `most` names of sizes, powers of two that are a whole power apart.
[[nodiscard]] std::vector<ChartTick> size_ticks(const ChartAxis& axis, int most);
/// Decades, or 1, 2 and 5 where they are few.
[[nodiscard]] std::vector<ChartTick> log_ticks(const ChartAxis& axis);
/// The axis's names, shortened where they would leave no room for what is drawn.
[[nodiscard]] std::vector<ChartTick> name_ticks(const ChartAxis& axis);
/// @}

/// Sets the y axis of a panel, or of all for a negative one, for the measured curves: from 0, or
/// logarithmic, as the user wants, else where peaks differ by more than thirty times. Sizes so
/// small that all curves rise alike, to 1/300 of the lowest peak, are below that one. `headroom`:
/// what the axis has above the highest value, as a factor.
void set_rate_axis(Chart& chart, std::optional<bool> logarithmic, int panel = -1,
                   double headroom = 1);

}  // namespace busbar

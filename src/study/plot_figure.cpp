// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot_figure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar {
namespace {

/// Within double quotes gnuplot knows no escape; the double quote itself is replaced.
std::string quoted(const std::string& text) {
  std::string line = one_line(text);
  std::replace(line.begin(), line.end(), '"', '\'');
  return fmt::format("\"{}\"", line);
}

std::string cell(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? fmt::format("{:.7g}", *value) : "nan";
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  [[nodiscard]] bool is_empty() const { return low > high; }
};

struct Ranges {
  Range x{};
  Range y{};
};

/// Of one panel, or of all for a negative one.
Ranges ranges_of(const PlotFigure& figure, int panel) {
  Ranges ranges;
  for (const PlotCurve& curve : figure.curves) {
    if (panel >= 0 && curve.panel != panel) continue;
    for (const PlotPoint& point : curve.points) {
      ranges.x.add(point.x);
      ranges.y.add(point.y);
      if (curve.kind == PlotKind::Measured && point.high) ranges.y.add(*point.high);
      if (curve.kind == PlotKind::Measured && point.low) ranges.y.add(*point.low);
    }
  }
  return ranges;
}

std::string range_lines(const PlotFigure& figure) {
  const auto [x, y] = ranges_of(figure, -1);
  if (x.is_empty() || y.is_empty()) return {};
  return fmt::format("x_low {:.12g}\nx_high {:.12g}\ny_low {:.7g}\ny_high {:.7g}\n", x.low, x.high,
                     y.low, y.high);
}

std::string panel_line(const PlotFigure& figure, std::size_t panel) {
  const auto [x, y] = ranges_of(figure, static_cast<int>(panel));
  return fmt::format("{} {} {:.12g} {:.12g} {:.7g} {:.7g}\n", panel + 1,
                     quoted(figure.panels[panel]), x.low, x.high, y.low, y.high);
}

std::string mark_line(const PlotMark& mark) {
  return fmt::format("{:.12g} {} {} {}-{} {}\n", mark.x, quoted(mark.text),
                     mark.panel.value_or(-1) + 1,
                     mark.place == PlotMark::Place::Above ? "above" : "below",
                     mark.right ? "right" : "left", mark.colour);
}

std::string point_lines(const PlotCurve& curve) {
  std::string text;
  for (const PlotPoint& point : curve.points) {
    if (point.gap_before && !text.empty()) text += '\n';
    text +=
        fmt::format("{:.12g} {:.7g} {} {}\n", point.x, point.y, cell(point.low), cell(point.high));
  }
  return text;
}

}  // namespace

std::string_view name(PlotKind kind) {
  switch (kind) {
    case PlotKind::Measured: return "measured";
    case PlotKind::Second: return "second";
    case PlotKind::Bound: return "bound";
    case PlotKind::Ideal: return "ideal";
    case PlotKind::Raw: return "raw";
    case PlotKind::Hollow: return "hollow";
    case PlotKind::Steps: return "steps";
    case PlotKind::Density: return "density";
    case PlotKind::Cells: return "cells";
  }
  return {};
}

double RateAxis::height(double rate) const {
  return logarithmic ? std::log(rate / low) / std::log(high / low) : rate / high;
}

RateAxis add_rate_axis(PlotFigure& figure, std::optional<bool> logarithmic, int panel) {
  std::vector<RateRange> curves;
  for (const PlotCurve& curve : figure.curves) {
    if (curve.kind != PlotKind::Measured || (panel >= 0 && curve.panel != panel)) continue;
    Range rates;
    for (const PlotPoint& point : curve.points) {
      if (point.y > 0) rates.add(point.y);
    }
    if (!rates.is_empty()) curves.push_back({.low = rates.low, .high = rates.high});
  }
  const std::optional<double> low = log_axis_low(curves, logarithmic);
  if (low) figure.facts.emplace_back("log_low", fmt::format("{:.7g}", *low));
  return {.logarithmic = low.has_value(),
          .low = low.value_or(0),
          .high = ranges_of(figure, panel).y.high};
}

std::string figure_data(const PlotFigure& figure) {
  std::string text = fmt::format(
      "# Data of the picture {0}, written by busbar plot; drawn by plots/common.gp and "
      "plots/{0}.gp.\n"
      "# Blocks: facts; panels; marks; curves; then each curve's points, where an empty line is a "
      "gap.\n# facts\ntitle {1}\n",
      figure.name, quoted(figure.title));
  for (const auto& [key, value] : figure.facts) {
    text += fmt::format("{} {}\n", key, quoted(value));
  }
  text += range_lines(figure);
  text += fmt::format("panels {}\ncurves {}\nmarks {}\n", figure.panels.size(),
                      figure.curves.size(), figure.marks.size());
  text += "\n\n# panels: number title x_low x_high y_low y_high\n";
  for (std::size_t i = 0; i < figure.panels.size(); ++i) text += panel_line(figure, i);
  text += "\n\n# marks: x text panel (0: all) place colour\n";
  text += "nan \"\" 0 none 0\n";  // never an empty block: gnuplot does not count those
  for (const PlotMark& mark : figure.marks) text += mark_line(mark);
  text += "\n\n# curves: panel kind colour point dash title\n";
  for (const PlotCurve& curve : figure.curves) {
    text +=
        fmt::format("{} {} {} {} {} {}\n", curve.panel + 1, name(curve.kind), curve.style.colour,
                    curve.style.point, curve.style.dash, quoted(curve.title));
  }
  for (std::size_t i = 0; i < figure.curves.size(); ++i) {
    text += fmt::format("\n\n# curve {}: x y low high\n", i + 1);
    text += point_lines(figure.curves[i]);
  }
  return text;
}

}  // namespace busbar

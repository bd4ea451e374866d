// SPDX-License-Identifier: BSD-3-Clause
#include "report/svg_chart.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"

namespace busbar {
namespace {

constexpr double kWidth = 520;
constexpr double kLeft = 62;
constexpr double kRight = 508;
constexpr double kPlotHeight = 250;
constexpr double kLegendLine = 20;

/// Where a chart's parts are.
struct Frame {
  double top = 0;
  double bottom = 0;
  Axis axis{};
  double first = 0;  ///< positions of the first and the last tick
  double last = 0;

  [[nodiscard]] double x(const ChartTick& tick) const {
    if (!(last > first)) return (kLeft + kRight) / 2;
    return kLeft + 14 + (kRight - kLeft - 28) * (tick.position - first) / (last - first);
  }
  [[nodiscard]] double y(double value) const {
    return bottom - (bottom - top) * std::min(value / axis.top, 1.0);
  }
};

double highest(const Chart& chart) {
  double most = 0;
  for (const ChartSeries& series : chart.series) {
    most = std::max(most, series.bound.value_or(0));
    for (const ChartPoint& point : series.points) most = std::max(most, point.value.value_or(0));
  }
  return most;
}

std::string legend_words(const ChartSeries& series) {
  return series.label + (series.simulated ? " (simulated)" : "");
}

struct LegendPlace {
  SvgPoint at{};
  const ChartSeries* series = nullptr;
};

/// Entries from left to right, in as many lines as they need.
std::vector<LegendPlace> legend_places(const Chart& chart) {
  std::vector<LegendPlace> places;
  SvgPoint at{.x = 8, .y = 16};
  for (const ChartSeries& series : chart.series) {
    const double width = 24 + text_width(legend_words(series), 13) + 18;
    if (at.x > 8 && at.x + width > kWidth) at = {.x = 8, .y = at.y + kLegendLine};
    places.push_back({.at = at, .series = &series});
    at.x += width;
  }
  return places;
}

void draw_legend(SvgCanvas& canvas, const std::vector<LegendPlace>& places) {
  for (const LegendPlace& place : places) {
    const ChartSeries& series = *place.series;
    canvas.line(place.at, {.x = place.at.x + 20, .y = place.at.y},
                {.colour = series.style.colour, .width = 2});
    canvas.marker({.x = place.at.x + 10, .y = place.at.y}, series.style.marker, series.style.colour,
                  series.simulated);
    canvas.text({.x = place.at.x + 25, .y = place.at.y + 4.5}, legend_words(series));
  }
}

void draw_axes(SvgCanvas& canvas, const Chart& chart, const Frame& frame) {
  const long lines = std::lround(frame.axis.top / frame.axis.step);
  for (long i = 0; i <= lines; ++i) {
    const double value = static_cast<double>(i) * frame.axis.step;
    const double y = frame.y(value);
    canvas.line({.x = kLeft, .y = y}, {.x = kRight, .y = y},
                {.colour = value > 0 ? "#e0e0e0" : "#555"});
    canvas.text({.x = kLeft - 6, .y = y + 4.5}, fmt::format("{:.6g}", value), {.anchor = "end"});
  }
  double written_to = -1;  // labels that would touch are left out
  for (const ChartTick& tick : chart.ticks) {
    const double x = frame.x(tick);
    const double half = text_width(tick.label, 13) / 2;
    canvas.line({.x = x, .y = frame.bottom}, {.x = x, .y = frame.bottom + 4}, {.colour = "#555"});
    if (x - half < written_to) continue;
    canvas.text({.x = x, .y = frame.bottom + 18}, tick.label, {.anchor = "middle"});
    written_to = x + half + 8;
  }
  canvas.text({.x = (kLeft + kRight) / 2, .y = frame.bottom + 38}, chart.x_title,
              {.anchor = "middle", .colour = "#444"});
  canvas.upright_text({.x = 14, .y = (frame.top + frame.bottom) / 2}, chart.y_title,
                      {.anchor = "middle", .colour = "#444"});
}

std::string line_path(const Chart& chart, const ChartSeries& series, const Frame& frame) {
  std::string path;
  bool down = false;  // the pen: a gap lifts it
  for (const ChartPoint& point : series.points) {
    if (point.value) {
      path +=
          fmt::format("{}{} {}", down ? "L" : "M", svg_number(frame.x(chart.ticks.at(point.tick))),
                      svg_number(frame.y(*point.value)));
    }
    down = point.value.has_value();
  }
  return path;
}

void draw_series(SvgCanvas& canvas, const Chart& chart, const ChartSeries& series,
                 const Frame& frame) {
  const std::string words = legend_words(series);
  if (series.bound) {
    const double y = frame.y(*series.bound);
    canvas.line({.x = kLeft, .y = y}, {.x = kRight, .y = y},
                {.colour = series.style.colour, .width = 2, .dashes = "2 4"},
                fmt::format("{}: bound {:.4g} {}", series.label, *series.bound, chart.unit));
  }
  const std::string path = line_path(chart, series, frame);
  if (!path.empty()) canvas.path(path, {.colour = series.style.colour, .width = 2}, words);
  for (const ChartPoint& point : series.points) {
    if (!point.value) continue;
    const ChartTick& tick = chart.ticks.at(point.tick);
    canvas.marker({.x = frame.x(tick), .y = frame.y(*point.value)}, series.style.marker,
                  series.style.colour, series.simulated,
                  fmt::format("{}, {}: {:.4g} {}", words, tick.label, *point.value, chart.unit));
  }
}

std::string description(const Chart& chart) {
  std::vector<std::string> labels;
  for (const ChartSeries& series : chart.series) labels.push_back(legend_words(series));
  return fmt::format("Lines of {} over {}: {}.", chart.y_title, chart.x_title, join(labels, ", "));
}

}  // namespace

Axis axis_for(double value) {
  if (!(value > 0) || !std::isfinite(value)) return {};
  const double power = std::pow(10, std::floor(std::log10(value / 4)));
  for (const double times : {1.0, 2.0, 5.0, 10.0}) {
    const double step = times * power;
    if (step * 6 >= value) return {.top = step * std::ceil(value / step - 1e-9), .step = step};
  }
  return {.top = value, .step = value};
}

std::string svg_chart(const Chart& chart) {
  const std::vector<LegendPlace> places = legend_places(chart);
  const double top = (places.empty() ? 0 : places.back().at.y) + 24;
  const Frame frame{.top = top,
                    .bottom = top + kPlotHeight,
                    .axis = axis_for(chart.top.value_or(highest(chart))),
                    .first = chart.ticks.empty() ? 0 : chart.ticks.front().position,
                    .last = chart.ticks.empty() ? 0 : chart.ticks.back().position};
  SvgCanvas canvas(kWidth, frame.bottom + 48);
  draw_legend(canvas, places);
  draw_axes(canvas, chart, frame);
  for (auto series = chart.series.rbegin(); series != chart.series.rend(); ++series) {
    draw_series(canvas, chart, *series, frame);
  }
  return canvas.finish(chart.title, description(chart));
}

}  // namespace busbar

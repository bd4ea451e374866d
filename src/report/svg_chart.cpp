// SPDX-License-Identifier: BSD-3-Clause
#include "report/svg_chart.hpp"

#include <algorithm>
#include <array>
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
  std::optional<double> log_low{};
  double first = 0;  ///< positions of the first and the last tick
  double last = 0;

  [[nodiscard]] double x(const ChartTick& tick) const {
    if (!(last > first)) return (kLeft + kRight) / 2;
    return kLeft + 14 + (kRight - kLeft - 28) * (tick.position - first) / (last - first);
  }
  [[nodiscard]] bool shows(const ChartPoint& point) const {
    return point.value && *point.value >= log_low.value_or(0);
  }
  [[nodiscard]] double y(double value) const {
    const double height =
        log_low ? std::log(value / *log_low) / std::log(axis.top / *log_low) : value / axis.top;
    return bottom - (bottom - top) * std::min(height, 1.0);
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

std::string_view dashes_of(const SeriesStyle& style) {
  constexpr std::array<std::string_view, 3> kDashes{"", "9 4", "12 4 3 4"};
  return kDashes.at(static_cast<std::size_t>(style.dash));
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
                {.colour = series.style.colour, .width = 2, .dashes = dashes_of(series.style)});
    canvas.marker({.x = place.at.x + 10, .y = place.at.y}, series.style.marker, series.style.colour,
                  series.simulated);
    canvas.text({.x = place.at.x + 25, .y = place.at.y + 4.5}, legend_words(series));
  }
}

/// Values of the y axis that are written: steps, or of a logarithmic axis the decades, and 2 and 5
/// of them where they are few.
std::vector<double> y_ticks(const Frame& frame) {
  std::vector<double> ticks;
  if (!frame.log_low) {
    const long steps = std::lround(frame.axis.top / frame.axis.step);
    for (long i = 0; i <= steps; ++i) ticks.push_back(static_cast<double>(i) * frame.axis.step);
    return ticks;
  }
  constexpr double kFewDecades = 200;
  const bool few = frame.axis.top / *frame.log_low < kFewDecades;
  const int last = static_cast<int>(std::floor(std::log10(frame.axis.top)));
  for (int power = static_cast<int>(std::floor(std::log10(*frame.log_low))); power <= last;
       ++power) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double value = digit * std::pow(10, power);
      const bool inside = value >= *frame.log_low && value <= frame.axis.top;
      if (inside && (few || digit == 1.0)) ticks.push_back(value);
    }
  }
  return ticks;
}

void draw_axes(SvgCanvas& canvas, const Chart& chart, const Frame& frame) {
  canvas.line({.x = kLeft, .y = frame.bottom}, {.x = kRight, .y = frame.bottom},
              {.colour = "#555"});
  for (const double value : y_ticks(frame)) {
    const double y = frame.y(value);
    if (y < frame.bottom) {
      canvas.line({.x = kLeft, .y = y}, {.x = kRight, .y = y}, {.colour = "#e0e0e0"});
    }
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
    const bool drawn = frame.shows(point);
    if (drawn) {
      path +=
          fmt::format("{}{} {}", down ? "L" : "M", svg_number(frame.x(chart.ticks.at(point.tick))),
                      svg_number(frame.y(*point.value)));
    }
    down = drawn;
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
  if (!path.empty()) {
    canvas.path(path,
                {.colour = series.style.colour, .width = 2, .dashes = dashes_of(series.style)},
                words);
  }
  for (const ChartPoint& point : series.points) {
    if (!frame.shows(point)) continue;
    const ChartTick& tick = chart.ticks.at(point.tick);
    canvas.marker({.x = frame.x(tick), .y = frame.y(*point.value)}, series.style.marker,
                  series.style.colour, series.simulated || point.hollow,
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
                    .axis = chart.log_low ? Axis{.top = highest(chart) * 1.2}
                                          : axis_for(chart.top.value_or(highest(chart))),
                    .log_low = chart.log_low,
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

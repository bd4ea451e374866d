// SPDX-License-Identifier: BSD-3-Clause
#include "report/svg_waterfall.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "report/svg_canvas.hpp"
#include "report/svg_chart.hpp"

namespace busbar {
namespace {

constexpr double kWidth = 900;
constexpr double kLeft = 220;
constexpr double kRight = 690;
constexpr double kTop = 30;
constexpr double kLine = 24;
constexpr double kBarHeight = 14;
constexpr double kTextSize = 12;
constexpr std::string_view kFailColour = "#b00020";
constexpr std::string_view kWarnColour = "#a65d00";
constexpr std::string_view kBarColour = "#9ecae1";

std::string words_of(double value) {
  constexpr double kWhole = 1000;
  return value >= kWhole ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

double highest(const Waterfall& waterfall) {
  double most = 0;
  for (const WaterfallBar& bar : waterfall.bars) {
    const WaterfallLimits& limits = bar.limits;
    for (const auto& value : {bar.value, limits.reference, limits.fail_below, limits.warn_below,
                              limits.warn_above, limits.fail_above}) {
      most = std::max(most, value.value_or(0));
    }
    for (const double point : bar.points) most = std::max(most, point);
  }
  return most;
}

/// Places on the common scale.
class Scale {
 public:
  explicit Scale(double top) : factor_((kRight - kLeft) / top) {}
  [[nodiscard]] double x(double value) const { return kLeft + value * factor_; }

 private:
  double factor_;
};

void draw_axis(SvgCanvas& canvas, const Axis& axis, const Scale& scale, double bottom,
               const std::string& unit) {
  const auto steps = std::lround(axis.top / axis.step);
  for (long step = 0; step <= steps; ++step) {
    const double tick = static_cast<double>(step) * axis.step;
    const double x = scale.x(tick);
    canvas.line({.x = x, .y = kTop - 4}, {.x = x, .y = bottom}, {.colour = "#e2e2e2"});
    canvas.text({.x = x, .y = kTop - 10}, words_of(tick),
                {.size = kTextSize, .anchor = "middle", .colour = "#444"});
  }
  canvas.text({.x = 4, .y = kTop - 10}, unit, {.size = kTextSize, .colour = "#444"});
}

/// A limit as an upright line, with a foot on the side where it is missed.
void draw_limit(SvgCanvas& canvas, double x, double y, bool below, bool fails,
                const std::string& words) {
  const SvgStroke stroke{.colour = fails ? kFailColour : kWarnColour,
                         .width = fails ? 2.4 : 1.6,
                         .dashes = fails ? "" : "3 2"};
  const double foot = below ? -5 : 5;
  canvas.path(fmt::format("M{0} {1}V{2}h{3}", svg_number(x), svg_number(y - 3),
                          svg_number(y + kBarHeight + 3), svg_number(foot)),
              stroke, words);
}

void draw_limits(SvgCanvas& canvas, const WaterfallLimits& limits, const Scale& scale, double y,
                 const std::string& unit) {
  const auto draw = [&](const std::optional<double>& value, bool below, bool fails,
                        std::string_view what) {
    if (!value) return;
    draw_limit(canvas, scale.x(*value), y, below, fails,
               fmt::format("{} {} {}", what, words_of(*value), unit));
  };
  draw(limits.warn_below, true, false, "warns below");
  draw(limits.warn_above, false, false, "warns above");
  draw(limits.fail_below, true, true, "fails below");
  draw(limits.fail_above, false, true, "fails above");
  if (!limits.reference) return;
  canvas.path(
      fmt::format("M{} {}l3.5 -5h-7Z", svg_number(scale.x(*limits.reference)), svg_number(y)),
      {.colour = "#1a1a1a", .width = 1.4},
      fmt::format("reference {} {}", words_of(*limits.reference), unit));
}

void draw_bar(SvgCanvas& canvas, const WaterfallBar& bar, const Scale& scale, double y,
              const std::string& unit) {
  canvas.text({.x = 4, .y = y + 12}, bar.label, {.size = kTextSize});
  if (bar.value) {
    canvas.box({.x = kLeft, .y = y}, *bar.value * (scale.x(1) - scale.x(0)), kBarHeight, kBarColour,
               {.colour = "#4a7fa5"},
               fmt::format("{}: {} {}", bar.label, words_of(*bar.value), unit));
  }
  std::set<std::string> drawn;  // thousands of launches have the same place
  for (const double point : bar.points) {
    if (!drawn.insert(svg_number(scale.x(point))).second) continue;
    canvas.line({.x = scale.x(point), .y = y + 3}, {.x = scale.x(point), .y = y + kBarHeight - 3},
                {.colour = "#08306b", .width = 1.5});
  }
  draw_limits(canvas, bar.limits, scale, y, unit);
  canvas.marker({.x = kRight + 28, .y = y + kBarHeight / 2}, bar.style.marker, bar.style.colour,
                bar.hollow);
  canvas.text(
      {.x = kRight + 42, .y = y + 12},
      bar.value ? fmt::format("{} {} {}", bar.verdict, words_of(*bar.value), unit) : bar.verdict,
      {.size = kTextSize});
}

}  // namespace

std::string svg_waterfall(const Waterfall& waterfall) {
  const double bottom = kTop + kLine * static_cast<double>(waterfall.bars.size());
  SvgCanvas canvas(kWidth, bottom + 6);
  const Axis axis = axis_for(highest(waterfall));
  const Scale scale(axis.top);
  draw_axis(canvas, axis, scale, bottom, waterfall.unit);
  double y = kTop + 4;
  for (const WaterfallBar& bar : waterfall.bars) {
    draw_bar(canvas, bar, scale, y, waterfall.unit);
    y += kLine;
  }
  return canvas.finish(waterfall.title,
                       "Measured values as bars, limits as marks; the table has their values.");
}

}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "report/svg_bars.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace busbar {
namespace {

constexpr double kWidth = 520;
constexpr double kLeft = 124;
constexpr double kBarsRight = 392;
constexpr double kBarHeight = 15;
constexpr double kBarLine = 21;
constexpr double kGroupGap = 30;

double highest(const std::vector<BarGroup>& groups) {
  double most = 0;
  for (const BarGroup& group : groups) {
    for (const Bar& bar : group.bars) most = std::max(most, bar.value.value_or(0));
  }
  return most > 0 ? most : 1;
}

void draw_bar(SvgCanvas& canvas, const Bar& bar, double y, double scale) {
  canvas.marker({.x = 10, .y = y + kBarHeight / 2}, bar.style.marker, bar.style.colour, false);
  canvas.text({.x = 22, .y = y + 12}, bar.label);
  double end = kLeft;
  if (bar.value) {
    const std::string tooltip = fmt::format("{}: {}", bar.label, bar.note);
    const double solid = bar.least.value_or(*bar.value) * scale;
    end = kLeft + *bar.value * scale;
    canvas.box({.x = kLeft, .y = y}, *bar.value * scale, kBarHeight, "#fff",
               {.colour = bar.style.colour, .width = 1.5}, tooltip);
    canvas.box({.x = kLeft, .y = y}, solid, kBarHeight, bar.style.colour,
               {.colour = bar.style.colour, .width = 1.5}, tooltip);
  }
  canvas.text({.x = end + 6, .y = y + 12}, bar.note, {.size = 12});
}

/// From dark to light, by how much of the highest a part carries; each with the colour of its
/// words.
struct Shade {
  std::string_view fill;
  std::string_view ink;
};
Shade shade_of(double share_of_highest) {
  constexpr std::array<Shade, 5> kShades{{{"#08306b", "#fff"},
                                          {"#2b7bba", "#fff"},
                                          {"#8fc1de", "#111"},
                                          {"#d3e3f3", "#111"},
                                          {"#f7f7f7", "#111"}}};
  constexpr std::array<double, 4> kFrom{0.95, 0.5, 0.25, 0.1};
  std::size_t at = 0;
  while (at < kFrom.size() && share_of_highest < kFrom.at(at)) ++at;
  return kShades.at(at);
}

double highest(const std::vector<Strip>& strips) {
  double most = 0;
  for (const Strip& strip : strips) {
    for (const StripPart& part : strip.parts) most = std::max(most, part.value);
  }
  return most > 0 ? most : 1;
}

}  // namespace

std::string svg_bars(const std::string& title, const std::vector<BarGroup>& groups) {
  double height = 4;
  for (const BarGroup& group : groups) {
    height += kGroupGap + kBarLine * static_cast<double>(group.bars.size());
  }
  SvgCanvas canvas(kWidth, height + 4);
  const double scale = (kBarsRight - kLeft) / highest(groups);
  double y = 4;
  for (const BarGroup& group : groups) {
    canvas.text({.x = 2, .y = y + 16}, group.heading, {.bold = true});
    y += kGroupGap - 5;
    for (const Bar& bar : group.bars) {
      draw_bar(canvas, bar, y, scale);
      y += kBarLine;
    }
    y += 5;
  }
  return canvas.finish(title, "Bars; the table has their values.");
}

std::string svg_strips(const std::string& title, const std::vector<Strip>& strips) {
  constexpr double kStripLeft = 66;
  constexpr double kStripHeight = 24;
  constexpr double kStripLine = 32;
  const double room = kWidth - kStripLeft - 4;
  const double most = highest(strips);
  SvgCanvas canvas(kWidth, kStripLine * static_cast<double>(strips.size()) + 6);
  double y = 4;
  for (const Strip& strip : strips) {
    canvas.text({.x = 2, .y = y + 16.5}, strip.label);
    double x = kStripLeft;
    for (const StripPart& part : strip.parts) {
      const double width = room * part.share;
      const Shade shade = shade_of(part.value / most);
      const std::string figure = fmt::format("{:.4g}", part.value);
      canvas.box({.x = x, .y = y}, width, kStripHeight, shade.fill, {.colour = "#333"}, part.words);
      if (text_width(figure, 12) + 6 <= width) {
        canvas.text({.x = x + width / 2, .y = y + 16.5}, figure,
                    {.size = 12, .anchor = "middle", .colour = shade.ink});
      }
      x += width;
    }
    y += kStripLine;
  }
  return canvas.finish(title, "Strips divided by shares of all sets; the table has their counts.");
}

}  // namespace busbar

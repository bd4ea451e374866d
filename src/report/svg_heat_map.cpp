// SPDX-License-Identifier: BSD-3-Clause
#include "report/svg_heat_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "report/svg_canvas.hpp"

namespace busbar {
namespace {

constexpr double kLegendHeight = 62;
constexpr double kTextSize = 12;
constexpr std::size_t kFiguresUpTo = 16;
constexpr std::string_view kSuspectColour = "#b00020";

/// From light to dark; words on it are black or white.
std::string colour_at(double share) {
  struct Colour {
    double red;
    double green;
    double blue;
  };
  constexpr std::array<Colour, 4> kStops{
      {{255, 247, 214}, {120, 198, 186}, {38, 120, 172}, {12, 38, 92}}};
  const double at = std::clamp(share, 0.0, 1.0) * static_cast<double>(kStops.size() - 1);
  const auto low = std::min(static_cast<std::size_t>(at), kStops.size() - 2);
  const double part = at - static_cast<double>(low);
  const auto mix = [&](double Colour::*channel) {
    const double from = kStops.at(low).*channel;
    return static_cast<int>(std::lround(from + part * (kStops.at(low + 1).*channel - from)));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", mix(&Colour::red), mix(&Colour::green),
                     mix(&Colour::blue));
}

std::string_view ink_on(double share) {
  constexpr double kDark = 0.55;
  return share > kDark ? "#fff" : "#111";
}

/// Places of cells and words.
struct Grid {
  double cell = 0;
  double left = 0;
  double top = 0;
  double side = 0;
  std::size_t label_every = 1;
};

Grid grid_of(const HeatMap& map) {
  constexpr double kRoom = 620;
  constexpr double kWidest = 46;
  constexpr double kReadable = 11;
  const auto members = static_cast<double>(map.labels.size());
  Grid grid;
  grid.cell = std::min(kWidest, std::floor(kRoom / members));
  double label = 0;
  for (const std::string& words : map.labels) label = std::max(label, text_width(words, kTextSize));
  grid.left = label + 12;
  grid.top = kLegendHeight + label + 12;
  grid.side = grid.cell * members;
  while (grid.cell * static_cast<double>(grid.label_every) < kReadable) ++grid.label_every;
  return grid;
}

double at(double origin, const Grid& grid, std::size_t member) {
  return origin + grid.cell * static_cast<double>(member);
}

void draw_labels(SvgCanvas& canvas, const HeatMap& map, const Grid& grid) {
  for (std::size_t i = 0; i < map.labels.size(); ++i) {
    const bool suspect = i < map.suspects.size() && map.suspects[i];
    if (i % grid.label_every != 0 && !suspect) continue;
    const SvgTextStyle style{.size = std::min(kTextSize, std::max(9.0, grid.cell)),
                             .anchor = "end",
                             .colour = suspect ? kSuspectColour : "#1a1a1a",
                             .bold = suspect};
    const double middle = grid.cell / 2 + 4;
    canvas.text({.x = grid.left - 6, .y = at(grid.top, grid, i) + middle}, map.labels[i], style);
    SvgTextStyle upright = style;
    upright.anchor = "start";
    canvas.upright_text({.x = at(grid.left, grid, i) + middle, .y = grid.top - 6}, map.labels[i],
                        upright);
  }
}

void draw_hatching(SvgCanvas& canvas, double x, double y, double side, std::string_view tooltip) {
  const std::string half = svg_number(side / 2);
  const std::string whole = svg_number(side);
  canvas.path(fmt::format("M{0} {1}m0 {2}l{2} -{2}m{2} 0l-{3} {3}m{2} 0l{2} -{2}", svg_number(x),
                          svg_number(y), half, whole),
              {.colour = kSuspectColour, .width = side > kTextSize ? 1.6 : 1}, tooltip);
}

/// At most five letters, as a cell is wide: "101", "12.1", "0.024".
std::string cell_figure(double value) {
  return value < 0.1 ? fmt::format("{:.2g}", value) : fmt::format("{:.3g}", value);
}

void draw_half(SvgCanvas& canvas, const HeatMap& map, const Grid& grid, const HeatCell& cell,
               std::size_t line, std::size_t column) {
  const double x = at(grid.left, grid, column);
  const double y = at(grid.top, grid, line);
  const std::string value = cell.value ? cell_figure(*cell.value) : "no data";
  const std::string words =
      fmt::format("{} - {}: {}{} {}", map.labels[cell.first], map.labels[cell.second], value,
                  cell.value ? " " + map.unit : "", cell.verdict);
  const double share = cell.value.value_or(0) / map.top;
  canvas.box({.x = x, .y = y}, grid.cell, grid.cell, cell.value ? colour_at(share) : "#fff",
             {.colour = cell.value ? "#fff" : "#777", .width = grid.cell > kTextSize ? 1.0 : 0.0},
             words);
  if (cell.failed && cell.value) draw_hatching(canvas, x, y, grid.cell, words);
  const SvgPoint middle{.x = x + grid.cell / 2, .y = y + grid.cell / 2 + 4};
  if (!cell.value) {
    canvas.text(middle, "?", {.size = std::min(kTextSize, grid.cell), .anchor = "middle"});
  } else if (map.labels.size() <= kFiguresUpTo) {
    if (cell.failed) {
      constexpr double kPlate = 16;
      canvas.box({.x = x + 4, .y = middle.y - kTextSize}, grid.cell - 8, kPlate, "#fff", {});
    }
    canvas.text(middle, value,
                {.size = 11, .anchor = "middle", .colour = cell.failed ? "#111" : ink_on(share)});
  }
}

void draw_frames(SvgCanvas& canvas, const HeatMap& map, const Grid& grid) {
  const SvgStroke stroke{.colour = kSuspectColour, .width = 2};
  for (std::size_t i = 0; i < map.suspects.size() && i < map.labels.size(); ++i) {
    if (!map.suspects[i]) continue;
    canvas.box({.x = grid.left, .y = at(grid.top, grid, i)}, grid.side, grid.cell, "none", stroke);
    canvas.box({.x = at(grid.left, grid, i), .y = grid.top}, grid.cell, grid.side, "none", stroke);
  }
}

void draw_legend(SvgCanvas& canvas, const HeatMap& map, double width) {
  constexpr double kBand = 14;
  constexpr int kSteps = 24;
  const double left = 8;
  const double length = std::min(260.0, width - 24);
  for (int i = 0; i < kSteps; ++i) {
    const double part = static_cast<double>(i) / kSteps;
    canvas.box({.x = left + part * length, .y = 6}, length / kSteps + 0.5, kBand,
               colour_at(part + 0.5 / kSteps), {.width = 0});
  }
  const auto mark = [&](double value, std::string_view anchor, bool named) {
    const double x = left + value / map.top * length;
    canvas.line({.x = x, .y = 6}, {.x = x, .y = 6 + kBand + 4}, {.colour = "#111"});
    if (!named) return;
    canvas.text({.x = x, .y = 36}, fmt::format("{:.3g}", value),
                {.size = kTextSize, .anchor = anchor});
  };
  mark(0, "start", true);
  if (map.floor) mark(*map.floor, "end", true);
  // Where both are one the figure stands there once.
  if (map.reference) mark(*map.reference, "start", map.floor != map.reference);
  canvas.text({.x = left + length + 10, .y = 18}, map.unit, {.size = kTextSize});
  std::string words = "hatched: failed";
  if (map.floor && map.reference) words = "marks: fail bound, reference; " + words;
  canvas.text({.x = left, .y = 53}, words + "; framed: suspect; ?: no data", {.size = kTextSize});
}

}  // namespace

std::string svg_heat_map(const HeatMap& map) {
  constexpr double kLegendWidth = 500;
  if (map.labels.empty() || map.top <= 0) return {};
  const Grid grid = grid_of(map);
  const double width = std::max(kLegendWidth, grid.left + grid.side + 6);
  SvgCanvas canvas(width, grid.top + grid.side + 6);
  draw_legend(canvas, map, width);
  draw_labels(canvas, map, grid);
  for (const HeatCell& cell : map.cells) {
    if (cell.first >= map.labels.size() || cell.second >= map.labels.size()) continue;
    draw_half(canvas, map, grid, cell, cell.first, cell.second);
    draw_half(canvas, map, grid, cell, cell.second, cell.first);
  }
  draw_frames(canvas, map, grid);
  return canvas.finish(map.title, "Pairs as a square; failed pairs are hatched, suspects framed.");
}

}  // namespace busbar

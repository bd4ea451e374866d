// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>

namespace busbar {

struct SvgPoint {
  double x = 0;
  double y = 0;
};

/// How a line or an outline is drawn.
struct SvgStroke {
  std::string_view colour = "#444";
  double width = 1;
  std::string_view dashes{};  ///< "4 3"; empty: solid
};

struct SvgTextStyle {
  double size = 13;
  std::string_view anchor = "start";  ///< start, middle or end
  std::string_view colour = "#1a1a1a";
  bool bold = false;
};

enum class Marker { Diamond, Square, Triangle, Circle, Down, Cross, Plus, Pentagon };

/// Collects the parts of one picture, in its own units (a pixel where the page is wide); text is
/// escaped here. Styles are attributes, which every content policy lets through.
class SvgCanvas {
 public:
  SvgCanvas(double width, double height) : width_(width), height_(height) {}

  void line(SvgPoint from, SvgPoint to, const SvgStroke& stroke, std::string_view tooltip = {});
  /// `path` is SVG's path data.
  void path(std::string_view path, const SvgStroke& stroke, std::string_view tooltip = {});
  void box(SvgPoint corner, double width, double height, std::string_view fill,
           const SvgStroke& stroke, std::string_view tooltip = {}, double radius = 0);
  void text(SvgPoint at, std::string_view words, const SvgTextStyle& style = {});
  /// Words from the bottom up, around this point.
  void upright_text(SvgPoint at, std::string_view words, const SvgTextStyle& style = {});
  /// `hollow` shows what is simulated, or measured in place only.
  void marker(SvgPoint at, Marker shape, std::string_view colour, bool hollow,
              std::string_view tooltip = {});

  /// The whole element, with a title and a description for those who do not see it.
  [[nodiscard]] std::string finish(std::string_view title, std::string_view description) const;

 private:
  void add(std::string_view element, std::string_view attributes, std::string_view tooltip);

  double width_;
  double height_;
  std::string parts_{};
};

/// Width of words in units of the picture, about: for placing what follows.
[[nodiscard]] double text_width(std::string_view words, double size);
/// "12.5", "100": a coordinate or a figure without needless digits.
[[nodiscard]] std::string svg_number(double value);

}  // namespace busbar

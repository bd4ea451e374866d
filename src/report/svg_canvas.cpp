// SPDX-License-Identifier: BSD-3-Clause
#include "report/svg_canvas.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/markup_text.hpp"

namespace busbar {
namespace {

std::string stroke_attributes(const SvgStroke& stroke) {
  if (stroke.width <= 0) return {};
  std::string text = fmt::format(" stroke=\"{}\"", stroke.colour);
  if (std::abs(stroke.width - 1) > 0.01) {
    text += fmt::format(" stroke-width=\"{}\"", svg_number(stroke.width));
  }
  if (!stroke.dashes.empty()) text += fmt::format(" stroke-dasharray=\"{}\"", stroke.dashes);
  return text;
}

std::string text_attributes(const SvgTextStyle& style) {
  return fmt::format(
      R"(font-size="{}" fill="{}"{}{})", svg_number(style.size), style.colour,
      style.anchor == "start" ? "" : fmt::format(R"( text-anchor="{}")", style.anchor),
      style.bold ? R"( font-weight="600")" : "");
}

/// Path data of a marker around 0, 0.
std::string_view outline(Marker shape) {
  switch (shape) {
    case Marker::Diamond: return "M0-6L6 0L0 6L-6 0Z";
    case Marker::Square: return "M-4.5-4.5H4.5V4.5H-4.5Z";
    case Marker::Triangle: return "M0-6L5.5 4.5H-5.5Z";
    case Marker::Circle: return "M-4.8 0A4.8 4.8 0 1 1 4.8 0A4.8 4.8 0 1 1-4.8 0Z";
    case Marker::Down: return "M0 6L5.5-4.5H-5.5Z";
    case Marker::Cross: return "M-5-3L-3-5L0-2L3-5L5-3L2 0L5 3L3 5L0 2L-3 5L-5 3L-2 0Z";
    case Marker::Plus: return "M-1.6-6H1.6V-1.6H6V1.6H1.6V6H-1.6V1.6H-6V-1.6H-1.6Z";
    case Marker::Pentagon: break;
  }
  return "M0-6L5.7-1.9L3.5 4.9H-3.5L-5.7-1.9Z";
}

}  // namespace

std::string svg_number(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) return text == "-0.0" ? "0" : text.substr(0, text.size() - 2);
  return text;
}

double text_width(std::string_view words, double size) {
  const auto characters = std::count_if(words.begin(), words.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  });
  return static_cast<double>(characters) * size * 0.55;
}

void SvgCanvas::add(std::string_view element, std::string_view attributes,
                    std::string_view tooltip) {
  parts_ += tooltip.empty() ? fmt::format("<{} {}/>\n", element, attributes)
                            : fmt::format("<{0} {1}><title>{2}</title></{0}>\n", element,
                                          attributes, markup_text(tooltip));
}

void SvgCanvas::line(SvgPoint from, SvgPoint to, const SvgStroke& stroke,
                     std::string_view tooltip) {
  add("line",
      fmt::format(R"(x1="{}" y1="{}" x2="{}" y2="{}"{})", svg_number(from.x), svg_number(from.y),
                  svg_number(to.x), svg_number(to.y), stroke_attributes(stroke)),
      tooltip);
}

void SvgCanvas::path(std::string_view path, const SvgStroke& stroke, std::string_view tooltip) {
  add("path", fmt::format(R"(d="{}" fill="none"{})", path, stroke_attributes(stroke)), tooltip);
}

void SvgCanvas::box(SvgPoint corner, double width, double height, std::string_view fill,
                    const SvgStroke& stroke, std::string_view tooltip, double radius) {
  add("rect",
      fmt::format(R"(x="{}" y="{}" width="{}" height="{}" fill="{}"{}{})", svg_number(corner.x),
                  svg_number(corner.y), svg_number(width), svg_number(height), fill,
                  radius > 0 ? fmt::format(R"( rx="{}")", svg_number(radius)) : "",
                  stroke_attributes(stroke)),
      tooltip);
}

void SvgCanvas::text(SvgPoint at, std::string_view words, const SvgTextStyle& style) {
  parts_ += fmt::format("<text x=\"{}\" y=\"{}\" {}>{}</text>\n", svg_number(at.x),
                        svg_number(at.y), text_attributes(style), markup_text(words));
}

void SvgCanvas::upright_text(SvgPoint at, std::string_view words, const SvgTextStyle& style) {
  parts_ +=
      fmt::format("<text transform=\"translate({} {}) rotate(-90)\" {}>{}</text>\n",
                  svg_number(at.x), svg_number(at.y), text_attributes(style), markup_text(words));
}

void SvgCanvas::marker(SvgPoint at, Marker shape, std::string_view colour, bool hollow,
                       std::string_view tooltip) {
  add("path",
      fmt::format("transform=\"translate({} {})\" d=\"{}\" fill=\"{}\" stroke=\"{}\" "
                  "stroke-width=\"1.6\"",
                  svg_number(at.x), svg_number(at.y), outline(shape), hollow ? "#fff" : colour,
                  colour),
      tooltip);
}

std::string SvgCanvas::finish(std::string_view title, std::string_view description) const {
  return fmt::format(
      "<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" aria-label=\"{2}\" "
      "font-family=\"system-ui, -apple-system, Segoe UI, Roboto, Liberation Sans, sans-serif\">\n"
      "<title>{2}</title>\n<desc>{3}</desc>\n{4}</svg>",
      svg_number(width_), svg_number(height_), markup_text(title), markup_text(description),
      parts_);
}

}  // namespace busbar

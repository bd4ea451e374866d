// SPDX-License-Identifier: BSD-3-Clause
#include "report/svg_graph.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/graph_layout.hpp"
#include "report/markup_text.hpp"
#include "report/topo_text.hpp"

namespace busbar {
namespace {

using topo::Graph;
using topo::LinkKind;
using topo::NodeKind;

constexpr double kRowHeight = 78;
constexpr double kBoxHeight = 30;
constexpr double kTop = 46;

std::string_view colour_of(LinkKind kind) {
  switch (kind) {
    case LinkKind::NvLink: return "#1b7837";
    case LinkKind::Smp: return "#2166ac";
    case LinkKind::Network: return "#c2570c";
    default: return "#6b6b6b";
  }
}

std::string_view dashes_of(LinkKind kind) {
  if (kind == LinkKind::Smp) return "9 3";
  return kind == LinkKind::Network ? "3 3" : "";
}

std::string_view fill_of(NodeKind kind) {
  switch (kind) {
    case NodeKind::Gpu: return "#d5efd8";
    case NodeKind::NvSwitch: return "#b5dfbb";
    case NodeKind::Nic: return "#fde3c8";
    case NodeKind::Package:
    case NodeKind::Processor: return "#d6e6f4";
    default: return "#efefef";
  }
}

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

/// "12.5", "100": a coordinate without needless digits.
std::string svg_number(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) return text == "-0.0" ? "0" : text.substr(0, text.size() - 2);
  return text;
}

/// About the width of a text in units of the drawing.
double text_width(std::string_view text, double size) {
  const auto characters = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  });
  return static_cast<double>(characters) * size * 0.55;
}

/// Collects the parts of the drawing; text is escaped here. Styles are attributes, which every
/// content policy lets through.
class SvgCanvas {
 public:
  SvgCanvas(double width, double height) : width_(width), height_(height) {}

  /// `path` is SVG's path data.
  void path(std::string_view path, const SvgStroke& stroke, std::string_view tooltip = {}) {
    add("path", fmt::format(R"(d="{}" fill="none"{})", path, attributes_of(stroke)), tooltip);
  }
  void line(SvgPoint from, SvgPoint to, const SvgStroke& stroke, std::string_view tooltip) {
    add("line",
        fmt::format(R"(x1="{}" y1="{}" x2="{}" y2="{}"{})", svg_number(from.x), svg_number(from.y),
                    svg_number(to.x), svg_number(to.y), attributes_of(stroke)),
        tooltip);
  }
  void box(SvgPoint corner, double width, double height, std::string_view fill, double radius,
           std::string_view tooltip) {
    add("rect",
        fmt::format(R"(x="{}" y="{}" width="{}" height="{}" fill="{}"{}{})", svg_number(corner.x),
                    svg_number(corner.y), svg_number(width), svg_number(height), fill,
                    radius > 0 ? fmt::format(R"( rx="{}")", svg_number(radius)) : "",
                    attributes_of({})),
        tooltip);
  }
  /// Around this point.
  void text(SvgPoint at, double size, std::string_view text) {
    parts_ += fmt::format(
        "<text x=\"{}\" y=\"{}\" font-size=\"{}\" fill=\"#1a1a1a\" "
        "text-anchor=\"middle\">{}</text>\n",
        svg_number(at.x), svg_number(at.y), svg_number(size), markup_text(text));
  }

  /// The whole element, with a title and a description for those who do not see it.
  [[nodiscard]] std::string finish(std::string_view title, std::string_view description) const {
    return fmt::format(
        "<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
        "aria-label=\"{2}\" font-family=\"system-ui, -apple-system, Segoe UI, Roboto, Liberation "
        "Sans, sans-serif\">\n<title>{2}</title>\n<desc>{3}</desc>\n{4}</svg>",
        svg_number(width_), svg_number(height_), markup_text(title), markup_text(description),
        parts_);
  }

 private:
  static std::string attributes_of(const SvgStroke& stroke) {
    std::string text = fmt::format(" stroke=\"{}\"", stroke.colour);
    if (std::abs(stroke.width - 1) > 0.01) {
      text += fmt::format(" stroke-width=\"{}\"", svg_number(stroke.width));
    }
    if (!stroke.dashes.empty()) text += fmt::format(" stroke-dasharray=\"{}\"", stroke.dashes);
    return text;
  }
  void add(std::string_view element, std::string_view attributes, std::string_view tooltip) {
    parts_ += tooltip.empty() ? fmt::format("<{} {}/>\n", element, attributes)
                              : fmt::format("<{0} {1}><title>{2}</title></{0}>\n", element,
                                            attributes, markup_text(tooltip));
  }

  double width_;
  double height_;
  std::string parts_{};
};

class Drawing {
 public:
  Drawing(const Graph& graph, topo::ConstantSet constants)
      : graph_(graph),
        constants_(constants),
        layout_(lay_out(graph)),
        pitch_(std::clamp(900.0 / static_cast<double>(std::max<std::size_t>(layout_.leaves, 1)),
                          52.0, 120.0)),
        width_(std::max(pitch_ * static_cast<double>(layout_.leaves), 300.0) + 20),
        below_(box_top(layout_.leaf_row) + kBoxHeight + (has_network_stub() ? 26 : 0)),
        canvas_(width_, height()) {}

  std::string draw() {
    for (std::size_t i = 0; i < graph_.links.size(); ++i) {
      if (is_first_direction(i)) draw_link(graph_.links[i]);
    }
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (layout_.places[i].drawn) draw_node(i);
    }
    return canvas_.finish(fmt::format("The parts of {} and their links", graph_.name),
                          fmt::format("{}. {}", graph_.title, svg_graph_caption(graph_)));
  }

 private:
  [[nodiscard]] const GraphPlace& place(int node) const {
    return layout_.places[static_cast<std::size_t>(node)];
  }
  [[nodiscard]] double x_of(const GraphPlace& at) const { return 10 + pitch_ * (at.column + 0.5); }
  [[nodiscard]] static double box_top(int row) { return kTop + kRowHeight * row; }
  [[nodiscard]] double bar_top(int index) const { return below_ + 50 + 40.0 * index; }

  [[nodiscard]] bool has_network_stub() const {
    return std::any_of(graph_.links.begin(), graph_.links.end(),
                       [&](const topo::Link& link) { return kind_of(link) == LinkKind::Network; });
  }

  [[nodiscard]] LinkKind kind_of(const topo::Link& link) const {
    return graph_.media[static_cast<std::size_t>(link.medium)].kind;
  }
  [[nodiscard]] bool drawn(int node) const { return place(node).drawn; }

  /// Whether both ends stand in one row at the bottom: such links are arcs below it.
  [[nodiscard]] bool is_arc(const topo::Link& link) const {
    const GraphPlace& from = place(link.from);
    const GraphPlace& to = place(link.to);
    return from.drawn && to.drawn && !from.switched && !to.switched &&
           from.row == layout_.leaf_row && to.row == layout_.leaf_row;
  }
  [[nodiscard]] double arc_depth(const topo::Link& link) const {
    return 26 + 0.2 * std::abs(x_of(place(link.from)) - x_of(place(link.to)));
  }

  [[nodiscard]] double height() const {
    double deepest = below_ + 6;
    for (const topo::Link& link : graph_.links) {
      if (is_arc(link)) deepest = std::max(deepest, below_ + arc_depth(link) + 10);
    }
    if (layout_.switches > 0) {
      deepest = std::max(deepest, bar_top(static_cast<int>(layout_.switches)));
    }
    return deepest;
  }

  /// Of a cable's two links the first; a link without a partner stands for itself.
  [[nodiscard]] bool is_first_direction(std::size_t index) const {
    const topo::Link& link = graph_.links[index];
    return std::none_of(
        graph_.links.begin(), graph_.links.begin() + static_cast<std::ptrdiff_t>(index),
        [&](const topo::Link& other) {
          return other.from == link.to && other.to == link.from && other.medium == link.medium;
        });
  }

  [[nodiscard]] std::string words(const topo::Link& link, double rate_GBps) const {
    const auto& from = graph_.nodes[static_cast<std::size_t>(link.from)].name;
    const auto& to = graph_.nodes[static_cast<std::size_t>(link.to)].name;
    const std::string times = link.count > 1 ? fmt::format("{:g}x ", link.count) : "";
    return fmt::format("{}{} between {} and {}: {} each way", times,
                       graph_.media[static_cast<std::size_t>(link.medium)].name, from, to,
                       rate_words(rate_GBps));
  }

  void draw_link(const topo::Link& link) {
    const double rate_GBps = capacity_GBps(graph_, link, constants_);
    const LinkKind kind = kind_of(link);
    const SvgStroke stroke{
        .colour = colour_of(kind),
        .width = std::isfinite(rate_GBps) ? std::clamp(0.7 + rate_GBps / 24, 0.9, 8.0) : 0.9,
        .dashes = dashes_of(kind)};
    if (kind == LinkKind::Network) {
      draw_stub(link, stroke, words(link, rate_GBps));
    } else if (drawn(link.from) && drawn(link.to)) {
      draw_inner(link, stroke, words(link, rate_GBps));
    }
  }

  /// A NIC's way out: an arrow down.
  void draw_stub(const topo::Link& link, const SvgStroke& stroke, const std::string& tooltip) {
    for (const int end : {link.from, link.to}) {
      const GraphPlace& at = place(end);
      if (!at.drawn || at.switched) continue;
      const double x = x_of(at);
      const double from = box_top(at.row) + kBoxHeight;
      canvas_.line({.x = x, .y = from}, {.x = x, .y = from + 20}, stroke, tooltip);
      canvas_.path(fmt::format("M{0} {1}L{2} {3}L{4} {1}", svg_number(x - 5), svg_number(from + 14),
                               svg_number(x), svg_number(from + 22), svg_number(x + 5)),
                   {.colour = stroke.colour, .width = 1.5});
    }
  }

  void draw_inner(const topo::Link& link, const SvgStroke& stroke, const std::string& tooltip) {
    const GraphPlace& from = place(link.from);
    const GraphPlace& to = place(link.to);
    if (from.switched || to.switched) {
      draw_to_switch(link, stroke, tooltip);
    } else if (is_arc(link)) {
      const double y = box_top(layout_.leaf_row) + kBoxHeight;
      const double bow = (below_ - y) + arc_depth(link) * 4 / 3;
      curve({.x = x_of(from), .y = y}, {.x = x_of(to), .y = y}, bow, stroke, tooltip);
    } else if (from.row == to.row) {
      curve({.x = x_of(from), .y = box_top(from.row)}, {.x = x_of(to), .y = box_top(to.row)}, -40,
            stroke, tooltip);
    } else {
      const GraphPlace& upper = from.row < to.row ? from : to;
      const GraphPlace& lower = from.row < to.row ? to : from;
      canvas_.line({.x = x_of(upper), .y = box_top(upper.row) + kBoxHeight},
                   {.x = x_of(lower), .y = box_top(lower.row)}, stroke, tooltip);
    }
  }

  void curve(SvgPoint from, SvgPoint to, double bow, const SvgStroke& stroke,
             const std::string& tooltip) {
    canvas_.path(fmt::format("M{} {}C{} {} {} {} {} {}", svg_number(from.x), svg_number(from.y),
                             svg_number(from.x), svg_number(from.y + bow), svg_number(to.x),
                             svg_number(to.y + bow), svg_number(to.x), svg_number(to.y)),
                 stroke, tooltip);
  }

  void draw_to_switch(const topo::Link& link, const SvgStroke& stroke, const std::string& tooltip) {
    const bool first = place(link.from).switched;
    const GraphPlace& bar = place(first ? link.from : link.to);
    const GraphPlace& other = place(first ? link.to : link.from);
    if (other.switched) return;
    const double x = x_of(other);
    canvas_.line({.x = x, .y = box_top(other.row) + kBoxHeight}, {.x = x, .y = bar_top(bar.row)},
                 stroke, tooltip);
  }

  void draw_node(std::size_t index) {
    const topo::Node& node = graph_.nodes[index];
    const GraphPlace& at = layout_.places[index];
    const std::string numa = node.numa >= 0 ? fmt::format(", NUMA node {}", node.numa) : "";
    const std::string tooltip =
        fmt::format("{}{}{}{}", node.name, node.model.empty() ? "" : ": ", node.model, numa);
    const double size = pitch_ < 60 ? 11 : 12.5;
    const double wide = at.switched ? width_ - 20
                                    : std::clamp(text_width(node.name, size) + 14, 44.0,
                                                 std::max(pitch_ - 6, 44.0));
    const double x = at.switched ? width_ / 2 : x_of(at);
    const double y = at.switched ? bar_top(at.row) : box_top(at.row);
    canvas_.box({.x = x - wide / 2, .y = y}, wide, kBoxHeight, fill_of(node.kind),
                node.kind == NodeKind::Gpu ? 0 : 6, tooltip);
    canvas_.text({.x = x, .y = y + 19.5}, size, node.name);
  }

  const Graph& graph_;
  topo::ConstantSet constants_;
  GraphLayout layout_;
  double pitch_;
  double width_;
  double below_;  ///< the y below all leaves and their arrows
  SvgCanvas canvas_;
};

}  // namespace

std::string svg_graph(const Graph& graph, topo::ConstantSet constants) {
  return Drawing(graph, constants).draw();
}

std::string svg_graph_caption(const Graph& graph) {
  const GraphLayout layout = lay_out(graph);
  std::string text =
      "The wider a line, the higher its bandwidth. Solid green: NVLink; solid grey: PCIe; long "
      "dashes, blue: between processors; short dashes with an arrow, orange: to the network.";
  if (layout.hosts_drawn < layout.hosts) {
    text += fmt::format(" Drawn: {} of {}.", layout.hosts_drawn,
                        counted(static_cast<std::size_t>(layout.hosts), "host"));
  }
  return text;
}

}  // namespace busbar

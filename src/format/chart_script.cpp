// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "format/gnuplot.hpp"
#include "format/markup_text.hpp"
#include "format/timeline_text.hpp"

namespace busbar {
namespace {

/// Within single quotes gnuplot knows one escape and replaces nothing. Two quotes at the beginning
/// are an empty text to it, whatever follows.
std::string gnuplot_text(std::string_view text) {
  const char* begin = text.starts_with('\'') ? "' " : "'";
  return begin + doubled(clean_text(one_line(text)), '\'') + "'";
}

std::string cell(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? fmt::format("{:.7g}", *value) : "nan";
}

int panels_across(const Chart& chart) {
  const auto panels = static_cast<int>(chart.panels.size());
  if (panels == 4) return 2;
  return std::clamp(panels, 1, 3);
}

std::pair<int, int> panel_size(const Chart& chart, int across) {
  std::pair size{across == 1 ? 900 : across == 2 ? 560 : 480, across == 1 ? 430 : 330};
  if (chart.colours) size = across == 1 ? std::pair{760, 620} : std::pair{600, 500};
  if (chart.width > 0) size.first = chart.width;
  if (chart.height > 0) size.second = chart.height;
  return size;
}

/// A scale of colours, dark to light, for gnuplot's `set palette defined`: cividis.
std::string scale_definition() {
  constexpr std::array<unsigned, 9> kCividis{0x00224E, 0x123570, 0x3B496C, 0x575D6D, 0x707173,
                                             0x8A8678, 0xA59C74, 0xC3B369, 0xFEE838};
  constexpr auto kLast = static_cast<double>(kCividis.size() - 1);
  std::string stops;
  for (std::size_t i = 0; i < kCividis.size(); ++i) {
    stops += fmt::format("{}{} \"#{:06x}\"", i == 0 ? "" : ", ", static_cast<double>(i) / kLast,
                         kCividis.at(i));
  }
  return stops;
}

constexpr double kDay = 86400;

class Script {
 public:
  Script(const Chart& chart, ChartForm form, TextSize size)
      : chart_(chart),
        form_(form),
        size_(size),
        across_(panels_across(chart)),
        down_((std::max(static_cast<int>(chart.panels.size()), 1) + across_ - 1) / across_),
        width_(panel_size(chart, across_).first),
        height_(panel_size(chart, across_).second) {
    measure_legend();
  }

  std::string text() {
    head();
    data();
    settings();
    const bool sheet =
        form_ == ChartForm::File || (form_ == ChartForm::Page && chart_.panels.size() > 1);
    if (sheet) {
      add("set multiplot layout {}, {}", down_, across_);
      if (form_ == ChartForm::File) {
        add(" title {} font \",15\" noenhanced", gnuplot_text(chart_.title));
      }
      add("\n");
    }
    for (std::size_t i = 0; i < chart_.panels.size(); ++i) panel(static_cast<int>(i));
    if (sheet) add("unset multiplot\n");
    return std::move(text_);
  }

 private:
  template <class... Parts>
  void add(fmt::format_string<Parts...> format, Parts&&... parts) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Parts>(parts)...);
  }
  void measure_legend() {
    std::size_t longest = 1;
    std::map<int, int> entries;  // of each panel
    for (const ChartCurve& curve : chart_.curves) {
      if (!curve.title.empty()) legend_ = std::max(legend_, ++entries[curve.panel]);
      longest = std::max(longest, curve.title.size());
    }
    legend_columns_ = std::max(1, (width_ - 80) / (static_cast<int>(longest) * 8 + 55));
  }

  [[nodiscard]] bool is_text() const { return form_ == ChartForm::Text; }

  void head() {
    constexpr int kLegendLine = 19;
    const int legend = (legend_ + legend_columns_ - 1) / legend_columns_ * kLegendLine;
    const int width = width_ * across_;
    const int height = (height_ + legend) * down_;
    if (form_ == ChartForm::File) {
      add("# A figure of busbar plot. Edit it and draw it: gnuplot {0}.gp\n"
          "# As a PNG: gnuplot -e \"out='{0}.png'\" {0}.gp\n"
          "if (!exists(\"out\")) {{ out = \"{0}.svg\" }}\n"
          "png = out[strlen(out) - 3:] eq \".png\"\n"
          "mark = png ? 1.3 : 0.75  # the size of a point, which SVG draws larger\n"
          "set encoding utf8\n"
          "if (png) {{ set terminal pngcairo noenhanced size {1}, {2} font \"DejaVu Sans,10\" "
          "background rgb \"white\"\n"
          "}} else {{ set terminal svg noenhanced size {1}, {2} font \"DejaVu Sans,13\" background "
          "rgb \"white\" }}\nset output out\n",
          chart_.name, width, height + 40);
    } else if (form_ == ChartForm::Page) {
      add("set encoding utf8\nmark = 0.75\n"
          "set terminal svg noenhanced size {}, {} font \"DejaVu Sans,13\"\n",
          width, height);
    } else {
      add("set encoding utf8\nset terminal dumb mono noenhanced size {}, {}\n", size_.columns,
          size_.lines);
    }
    add("set datafile missing \"nan\"\n");
  }

  /// Of a curve an empty line is a gap; of boxes the middle and half the sides, by their outline.
  void data() {
    int index = 0;
    for (const ChartCurve& curve : chart_.curves) {
      add("$curve{} << EOD\n", ++index);
      for (const ChartPoint& point : curve.points) {
        if (point.gap_before && &point != &curve.points.front()) add("\n");
        add("{:.12g} {} {} {}\n", point.x, cell(point.y), cell(point.low), cell(point.high));
      }
      add("EOD\n");
    }
    for (const ChartBox& box : chart_.boxes) {
      boxes_[box.outline] +=
          fmt::format("{:.7g} {:.7g} {:.7g} {:.7g} {}\n", box.right / 2, (box.bottom + box.top) / 2,
                      box.right / 2, (box.top - box.bottom) / 2, box.fill);
    }
    index = 0;
    for (const auto& [outline, rows] : boxes_) add("$boxes{} << EOD\n{}EOD\n", ++index, rows);
  }

  void settings() {
    // Bars and matrices have names alone.
    bordered_ = chart_.panels.empty() || chart_.panels.front().y.kind != AxisKind::Names;
    add("set border {} lc rgb \"#666666\"\nset tics nomirror out\n", bordered_ ? 3 : 0);
    if (!is_text()) {
      add("set grid {} lc rgb \"#e4e4e4\" lw 1 lt 1 dt 1\n"
          "set style fill transparent solid 0.18 noborder\n",
          bordered_ ? "xtics ytics" : "xtics");
    }
    if (chart_.colours) {
      const ColourScale& scale = *chart_.colours;
      add("set palette defined ({})\nset cbrange [{:.7g}:{:.7g}]\nset cblabel {} offset 1, 0\n"
          "set style fill solid 1 noborder  # of the colour box\nunset grid\n",
          scale_definition(), scale.low, scale.high, gnuplot_text(scale.title));
      if (!scale.names.empty()) ticks("cb", scale.names);
    }
    if (legend_ == 0) {
      add("unset key\n");
    } else if (is_text()) {
      add("set key below center vertical maxcols 1 reverse Left samplen 4 spacing 1.1\n");
    } else {
      add("set key below left horizontal maxcols {} reverse Left samplen 2 spacing 1.2 width -1\n",
          legend_columns_);
    }
  }

  void panel(int index) {
    const ChartPanel& panel = chart_.panels[static_cast<std::size_t>(index)];
    if (is_text()) {
      const std::string unit = chart_.colours ? fmt::format(" ({})", chart_.colours->unit) : "";
      add("set title {}\n", gnuplot_text(chart_.title + ", " + panel.title + unit));
    } else if (form_ == ChartForm::File || chart_.panels.size() > 1) {
      add("set title {}\n", gnuplot_text(panel.title));
    }
    axis("x", panel.x);
    axis("y", panel.y);
    if (chart_.colours && !is_text()) add("set size ratio 1\n");
    add("unset arrow\nunset label\n");
    if (panel.level) {
      add("set arrow from graph 0, first {0:.7g} to graph 1, first {0:.7g} nohead dt 3 lw 2 lc rgb "
          "\"#555555\"\n",
          *panel.level);
    }
    if (!is_text()) {
      marks(index, panel.x);
      if (index == 0) texts();
    }
    plot(index);
  }

  void axis(std::string_view name, const ChartAxis& axis) {
    const bool across = name == "x";
    add("set {0}label {1} offset {2} textcolor rgb \"#444444\"\nunset logscale {0}\n", name,
        gnuplot_text(axis.title),
        is_text() ? "0, 0"
        : across  ? "0, 0.8"
                  : "1, 0");
    if (axis.kind == AxisKind::Log) add("set logscale {} 10\n", name);
    if (axis.kind == AxisKind::Sizes || axis.kind == AxisKind::Powers) {
      add("set logscale {} 2\n", name);
    }
    add("unset {0}tics\nset {0}tics out nomirror textcolor rgb \"#1a1a1a\"", name);
    if (!is_text()) add(" offset {} scale {}", across ? "0, 0.4" : "0.5, 0", bordered_ ? 0.5 : 0);
    add("\n");
    if (axis.low != axis.high) add("set {}range [{:.12g}:{:.12g}]\n", name, axis.low, axis.high);
    switch (axis.kind) {
      case AxisKind::Linear: break;
      case AxisKind::Powers: add("set format {} \"%g\"\n", name); break;
      case AxisKind::Sizes: ticks(name, size_ticks(axis, is_text() ? 6 : width_ / 75)); break;
      case AxisKind::Log: ticks(name, log_ticks(axis)); break;
      case AxisKind::Time: time_ticks(name, axis); break;
      case AxisKind::Elapsed: elapsed_ticks(name, axis); break;
      case AxisKind::Names: names(name, axis); break;
    }
  }

  /// gnuplot takes a tick's name for a format.
  void ticks(std::string_view axis, const std::vector<ChartTick>& ticks,
             std::string_view options = {}) {
    add("set {}tics {}({})\n", axis, options, join_each(ticks, ", ", [](const ChartTick& tick) {
          return fmt::format("{} {:.12g}{}", gnuplot_text(doubled(tick.name, '%')), tick.at,
                             tick.minor ? " 1" : "");
        }));
  }

  /// At least a tick's name apart, in seconds, minutes, hours or days.
  [[nodiscard]] double time_step(const ChartAxis& axis) const {
    const double least = (axis.high - axis.low) / (across_ == 1 ? 7 : 4);
    double apart = std::ceil(least / kDay) * kDay;
    for (const double step :
         {43200, 21600, 10800, 7200, 3600, 1800, 900, 600, 300, 120, 60, 30, 15, 10, 5, 2, 1}) {
      if (step >= least) apart = step;
    }
    return apart;
  }

  void time_ticks(std::string_view name, const ChartAxis& axis) {
    const double apart = time_step(axis);
    add("set {0}data time\nset timefmt \"%s\"\nset {0}tics {1}\nset format {0} \"{2}\"\n", name,
        apart,
        apart < 60     ? "%H:%M:%S"
        : apart < kDay ? "%m-%d\\n%H:%M"
                       : "%Y-%m-%d");
  }

  void elapsed_ticks(std::string_view name, const ChartAxis& axis) {
    std::vector<ChartTick> marked;
    const double step = time_step(axis);
    for (int i = 0; i * step <= axis.high; ++i) {
      marked.push_back({.at = i * step, .name = clock_text(i * step)});
    }
    ticks(name, marked);
  }

  void names(std::string_view name, const ChartAxis& axis) {
    const bool crowded =
        std::ranges::any_of(axis.names, [](const std::string& label) { return label.size() > 3; });
    ticks(name, name_ticks(axis),
          name == "x" && crowded ? "scale 0 rotate by 90 right " : "scale 0 ");
  }

  /// Thin lines, and text along them where no curve is.
  void marks(int panel, const ChartAxis& x) {
    int number = 0;
    for (const ChartMark& mark : chart_.marks) {
      if (mark.panel.value_or(panel) != panel) continue;
      add("set arrow from {0:.12g}, graph 0 to {0:.12g}, graph 1 nohead back dt 3 lw 1 lc rgb "
          "\"#{1:06x}\"\n",
          mark.x, mark.colour);
      if (mark.text.empty()) continue;
      add("set label {} at {:.12g}, graph {} front font \",11\" tc rgb \"#{:06x}\"\n",
          gnuplot_text(mark.text), mark.x, place_of(mark, x, number++), mark.colour);
    }
  }

  /// Over time one mark's text stands below another's, on the side where there is more room.
  static std::string place_of(const ChartMark& mark, const ChartAxis& x, int number) {
    if (x.kind == AxisKind::Time || x.kind == AxisKind::Elapsed) {
      const bool late = mark.x > (x.low + x.high) / 2;
      return fmt::format("{:.3g} {} 0", 0.97 - 0.07 * (number % 5),
                         late ? "right offset character -0.6," : "left offset character 0.6,");
    }
    return fmt::format("{} offset character {}, 0",
                       mark.place == ChartMark::Place::Above ? "0.98 rotate by 90 right"
                                                             : "0.02 rotate by 90 left",
                       mark.right ? 1.1 : -1.1);
  }

  void texts() {
    std::size_t longest = 0;
    for (const ChartText& text : chart_.texts) {
      add("set label {} at graph 1.03, first {:.7g} left front font \",12\" tc rgb \"#1a1a1a\" "
          "point "
          "pt {} ps 1.2 * mark lw 2.5 lc rgb \"#{:06x}\" offset character 1.2, -0.25\n",
          gnuplot_text(text.text), text.y, text.marker.point, text.marker.colour);
      longest = std::max(longest, text.text.size());
    }
    if (longest > 0) add("set rmargin {:.3g}\n", static_cast<double>(longest) * 0.9 + 6);
  }

  /// Boxes, then bands, so that lines are above them.
  void plot(int panel) {
    std::vector<std::string> below;
    std::vector<std::string> lines;
    std::vector<std::string> single;  // above the points of others
    for (const auto& [outline, rows] : boxes_) {
      below.push_back(fmt::format(
          "$boxes{} using 1:2:3:4:5 with boxxyerror fs solid 1 border lc rgb \"#{:06x}\" lc rgb "
          "variable notitle",
          below.size() + 1, outline));
    }
    for (std::size_t i = 0; i < chart_.curves.size(); ++i) {
      const ChartCurve& curve = chart_.curves[i];
      if (curve.panel != panel || curve.points.empty()) continue;
      const std::string block = fmt::format("$curve{} using", i + 1);
      if (curve.kind == CurveKind::Cells) {
        add_cells(block, lines);
        continue;
      }
      add_bands(curve, block, below);
      const std::string look = looks_of(curve);
      const std::string title = "title " + gnuplot_text(curve.title);
      if (is_text()) {
        lines.push_back(
            fmt::format("{} 1:2 with {} {}", block, look.substr(0, look.find(' ')), title));
        continue;
      }
      if (curve.kind == CurveKind::Hollow) {
        lines.push_back(fmt::format("{} 1:2 with points pt {} ps 1.2 * mark lc rgb 'white' notitle",
                                    block, curve.style.point));
      }
      (is_single(curve) ? single : lines)
          .push_back(fmt::format("{} 1:2 with {} lc rgb \"#{:06x}\" {}", block, look,
                                 curve.style.colour, title));
    }
    append(lines, single);
    append(below, lines);
    add("plot {}\n", join(below, ", \\\n  "));
  }

  void add_bands(const ChartCurve& curve, const std::string& block,
                 std::vector<std::string>& parts) const {
    const std::string colour = fmt::format("lc rgb \"#{:06x}\" notitle", curve.style.colour);
    const bool ranged = curve.kind == CurveKind::Measured &&
                        std::ranges::any_of(curve.points, [](const ChartPoint& point) {
                          return point.low.has_value();
                        });
    if (is_text()) return;
    if (curve.kind == CurveKind::Density) {
      parts.push_back(fmt::format("{} 1:2 with fillsteps {}", block, colour));
    } else if (ranged) {
      parts.push_back(fmt::format("{} 1:3:4 with filledcurves {}", block, colour));
      parts.push_back(fmt::format("{} 1:2:3:4 with yerrorbars pt -1 dt 1 lw 1 {}", block, colour));
    }
  }

  /// A curve of one point, which a neighbour's could hide: a large hollow mark.
  [[nodiscard]] static bool is_single(const ChartCurve& curve) {
    return curve.kind == CurveKind::Measured && curve.points.size() == 1;
  }

  /// What gnuplot draws a curve with; the first word is all of it in text.
  [[nodiscard]] static std::string looks_of(const ChartCurve& curve) {
    const CurveStyle& style = curve.style;
    const auto width = [&](double usual) { return style.width > 0 ? style.width : usual; };
    switch (curve.kind) {
      case CurveKind::Bound: return fmt::format("lines dt 3 lw {}", width(2));
      case CurveKind::Ideal: return fmt::format("lines dt 2 lw {}", width(1.5));
      case CurveKind::Line: return fmt::format("lines dt {} lw {}", style.dash, width(2));
      case CurveKind::Second:
        return fmt::format("linespoints dt 3 lw 1.2 pt {} ps 0.5 * mark", style.point);
      case CurveKind::Raw: return fmt::format("points pt {} ps 0.9 * mark", style.point);
      case CurveKind::Hollow:
        return fmt::format("points pt {} ps 1.3 * mark lw 1.8", style.point - 1);
      case CurveKind::Steps: return fmt::format("steps dt {} lw 1.8", style.dash);
      case CurveKind::Density: return fmt::format("steps dt {} lw 1.6", style.dash);
      default:
        if (is_single(curve)) {
          return fmt::format("points pt {} ps 2.4 * mark lw 2.2", style.point - 1);
        }
        return fmt::format("linespoints dt {} lw {} pt {} ps mark", style.dash, width(1.8),
                           style.point);
    }
  }

  /// A cell without a value is hatched; up to 16 columns cells have their values.
  void add_cells(const std::string& block, std::vector<std::string>& parts) const {
    constexpr double kFigures = 16;
    const std::string value = fmt::format(
        "(valid(3) ? sprintf(column(3) >= 100 ? \"%.0f\" : column(3) >= 10 ? \"%.1f\" : column(3) "
        ">= 0.1 ? \"%.2f\" : \"%.2g\", column(3)) : \"{}\")",
        is_text() ? "-" : "");
    if (is_text()) {
      parts.push_back(fmt::format("{} 1:2:{} with labels", block, value));
      return;
    }
    const ColourScale& scale = *chart_.colours;
    parts.push_back(
        fmt::format("{} (valid(3) ? NaN : column(1)):2:(0.48):(0.48) with boxxyerror fs pattern 4 "
                    "lc rgb \"#999999\" notitle",
                    block));
    parts.push_back(fmt::format(
        "{0} (valid(3) ? column(1) : NaN):2:(0.5):(0.5):(column(3) < {1:.7g} ? {1:.7g} : column(3) "
        "> {2:.7g} ? {2:.7g} : column(3)) with boxxyerror fs solid 1 noborder lc palette notitle",
        block, scale.low, scale.high));
    if (x_range(chart_).high >= kFigures) return;
    parts.push_back(
        fmt::format("{} 1:2:{}:(valid(3) && column(3) > {:.7g} ? 0x000000 : 0xffffff) with labels "
                    "font \",11\" tc rgb variable notitle",
                    block, value, scale.low + 0.55 * (scale.high - scale.low)));
  }

  const Chart& chart_;
  ChartForm form_;
  TextSize size_;
  int across_;
  int down_;
  int legend_ = 0;  ///< entries of the fullest panel's legend
  int legend_columns_ = 1;
  int width_;  ///< of a panel
  int height_;
  bool bordered_ = true;                ///< whether it has axes
  std::map<int, std::string> boxes_{};  ///< rows by the colour of the outline
  std::string text_{};
};

}  // namespace

std::string chart_script(const Chart& chart, ChartForm form, TextSize size) {
  return Script(chart, form, size).text();
}

}  // namespace busbar

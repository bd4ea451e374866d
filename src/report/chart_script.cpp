// SPDX-License-Identifier: BSD-3-Clause
#include "report/chart_script.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/markup_text.hpp"

namespace busbar {
namespace {

/// Within single quotes gnuplot knows one escape and replaces nothing.
std::string quoted(std::string_view text) {
  std::string result = "'";
  for (const char c : clean_text(one_line(text))) {
    result += c;
    if (c == '\'') result += c;
  }
  return result + "'";
}

/// The name of a tick, which gnuplot takes for a format.
std::string quoted_tick(const std::string& text) {
  std::string doubled;
  for (const char c : text) doubled += c == '%' ? std::string("%%") : std::string(1, c);
  return quoted(doubled);
}

std::string cell(const std::optional<double>& value) {
  return value && std::isfinite(*value) ? fmt::format("{:.7g}", *value) : "nan";
}

enum class Form { File, Page, Text };

class Script {
 public:
  Script(const Chart& chart, Form form, TextSize size = {})
      : chart_(chart), form_(form), size_(size) {
    const auto panels = static_cast<int>(chart.panels.size());
    across_ = std::max(1, panels <= 3 ? panels : panels == 4 ? 2 : 3);
    down_ = (std::max(panels, 1) + across_ - 1) / across_;
    for (int panel = 0; panel < panels; ++panel) legend_ = std::max(legend_, entries_of(panel));
    width_ = across_ == 1 ? 900 : across_ == 2 ? 560 : 480;
    height_ = across_ == 1 ? 430 : 330;
    if (chart.colours) {
      width_ = across_ == 1 ? 760 : 600;
      height_ = across_ == 1 ? 620 : 500;
    }
    if (chart.width > 0) width_ = chart.width;
    if (chart.height > 0) height_ = chart.height;
  }

  std::string text() {
    head();
    for (std::size_t i = 0; i < chart_.curves.size(); ++i) data(i);
    boxes_data();
    settings();
    const bool sheet = form_ == Form::File || (form_ == Form::Page && chart_.panels.size() > 1);
    if (sheet) {
      add("set multiplot layout {}, {}", down_, across_);
      if (form_ == Form::File) add(" title {} font \",15\" noenhanced", quoted(chart_.title));
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
  [[nodiscard]] bool is_text() const { return form_ == Form::Text; }

  [[nodiscard]] int entries_of(int panel) const {
    return static_cast<int>(std::count_if(
        chart_.curves.begin(), chart_.curves.end(),
        [&](const ChartCurve& curve) { return curve.panel == panel && !curve.title.empty(); }));
  }
  /// Entries of the legend side by side.
  [[nodiscard]] int legend_columns() const {
    if (form_ != Form::Page) return 1;
    std::size_t longest = 1;
    for (const ChartCurve& curve : chart_.curves) longest = std::max(longest, curve.title.size());
    return std::max(1, (width_ - 80) / (static_cast<int>(longest) * 8 + 55));
  }

  void head() {
    constexpr int kLegendLine = 19;
    const int rows = (legend_ + legend_columns() - 1) / legend_columns();
    // A file's legend has an empty title, for room above it.
    const int keys = form_ == Form::File && !chart_.colours ? rows + 1 : rows;
    const int width = width_ * across_;
    const int height = (height_ + kLegendLine * keys) * down_ + (form_ == Form::File ? 40 : 0);
    if (form_ == Form::File) {
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
          chart_.name, width, height);
    } else if (form_ == Form::Page) {
      add("reset\nset encoding utf8\nmark = 0.75\n"
          "set terminal svg noenhanced size {}, {} font \"DejaVu Sans,13\"\n",
          width, height);
    } else {
      add("set encoding utf8\nset terminal dumb mono noenhanced size {}, {}\n", size_.columns,
          size_.lines);
    }
    add("set datafile missing \"nan\"\n");
  }

  /// An empty line is a gap.
  void data(std::size_t index) {
    add("$curve{} << EOD\n", index + 1);
    bool first = true;
    for (const ChartPoint& point : chart_.curves[index].points) {
      if (point.gap_before && !first) add("\n");
      add("{:.12g} {} {} {}\n", point.x, cell(point.y), cell(point.low), cell(point.high));
      first = false;
    }
    add("EOD\n");
  }

  /// The middle and half the sides of each, by their outline.
  void boxes_data() {
    for (const ChartBox& box : chart_.boxes) {
      std::string& rows = boxes_[box.outline.value_or(-1)];
      rows += fmt::format("{:.7g} {:.7g} {:.7g} {:.7g} {}\n", (box.left + box.right) / 2,
                          (box.bottom + box.top) / 2, (box.right - box.left) / 2,
                          (box.top - box.bottom) / 2, box.fill);
    }
    int index = 0;
    for (const auto& [outline, rows] : boxes_) add("$boxes{} << EOD\n{}EOD\n", ++index, rows);
  }

  void settings() {
    add("set border {}\nset tics nomirror out\n", bordered() ? 3 : 0);
    if (form_ == Form::Page) {
      add("set border lc rgb \"#666666\"\n");
    }
    if (is_text()) {
      add("unset grid\n");
    } else {
      add("set grid {} lc rgb \"#e4e4e4\" lw 1 lt 1 dt 1\n"
          "set style fill transparent solid 0.18 noborder\n",
          !bordered()           ? "xtics"
          : form_ == Form::Page ? "ytics"
                                : "xtics ytics");
    }
    if (chart_.colours) {
      const ColourScale& scale = *chart_.colours;
      add("set palette defined ({})\nset cbrange [{:.7g}:{:.7g}]\nset cblabel {} offset 1, 0\n"
          "set style fill solid 1 noborder  # of the colour box\nunset grid\n",
          scale_definition(), scale.low, scale.high, quoted(scale.title));
      if (!scale.names.empty()) ticks("cb", scale.names);
    }
    if (legend_ == 0) {
      add("unset key\n");
    } else if (form_ == Form::Page) {
      add("set key above left horizontal maxcols {} reverse Left samplen 2 spacing 1.2 width -1\n",
          legend_columns());
    } else {
      add("set key below center vertical maxcols 1 reverse Left samplen 4 spacing 1.1\n");
      // room above it; text would lose the middle of the axis's names
      if (form_ == Form::File) add("set key title \" \"\n");
    }
  }

  /// Whether it has axes; bars and matrices have names alone.
  [[nodiscard]] bool bordered() const {
    return chart_.panels.empty() || chart_.panels.front().y.kind != AxisKind::Names;
  }

  void panel(int index) {
    const ChartPanel& panel = chart_.panels[static_cast<std::size_t>(index)];
    if (is_text()) {
      const std::string unit = chart_.colours ? fmt::format(" ({})", chart_.colours->unit) : "";
      add("set title {} noenhanced\n", quoted(chart_.title + ", " + panel.title + unit));
    } else if (form_ == Form::File || chart_.panels.size() > 1) {
      add("set title {} noenhanced\n", quoted(panel.title));
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
    const bool logarithmic =
        axis.kind == AxisKind::Log || axis.kind == AxisKind::Sizes || axis.kind == AxisKind::Powers;
    const bool across = name == "x";
    const bool page = form_ == Form::Page;
    add("set {}label {}", name, quoted(axis.title));
    if (page) {
      add(" offset {} textcolor rgb \"#444444\"\n", across ? "0, 0.8" : "1, 0");
    } else {
      add("{}\n", across && axis.kind != AxisKind::Time ? " offset 0, 0.3" : "");
    }
    add("unset logscale {}\n", name);
    if (logarithmic) add("set logscale {} {}\n", name, axis.kind == AxisKind::Log ? 10 : 2);
    add("unset {0}tics\nset {0}tics out nomirror{1}{2}\n", name,
        !page    ? ""
        : across ? " offset 0, 0.4 textcolor rgb \"#1a1a1a\" scale "
                 : " offset 0.5, 0 textcolor rgb \"#1a1a1a\" scale ",
        !page        ? ""
        : bordered() ? "0.5"
                     : "0");
    if (axis.low != axis.high) add("set {}range [{:.12g}:{:.12g}]\n", name, axis.low, axis.high);
    switch (axis.kind) {
      case AxisKind::Linear:
        if (axis.step > 0) add("set {}tics {:.7g}\n", name, axis.step);
        break;
      case AxisKind::Powers: add("set format {} \"%g\"\n", name); break;
      case AxisKind::Sizes: ticks(name, size_ticks(axis, most_sizes())); break;
      case AxisKind::Log: ticks(name, log_ticks(axis)); break;
      case AxisKind::Time: time_ticks(name, axis); break;
      case AxisKind::Names: names(name, axis); break;
    }
  }

  void ticks(std::string_view axis, const std::vector<ChartTick>& ticks,
             std::string_view options = {}) {
    std::vector<std::string> list;
    for (const ChartTick& tick : ticks) {
      list.push_back(
          fmt::format("{} {:.12g}{}", quoted_tick(tick.name), tick.at, tick.minor ? " 1" : ""));
    }
    add("set {}tics {}({})\n", axis, options, join(list, ", "));
  }

  /// How many names of sizes an axis has room for.
  [[nodiscard]] int most_sizes() const {
    if (is_text()) return 6;
    if (form_ == Form::Page) return 8;
    return across_ == 1 ? 11 : across_ == 2 ? 7 : 6;
  }

  /// At least a tick's name apart, in seconds, minutes, hours or days.
  void time_ticks(std::string_view name, const ChartAxis& axis) {
    constexpr double kDay = 86400;
    const double least = (axis.high - axis.low) / (across_ == 1 ? 7 : 4);
    double apart = std::ceil(least / kDay) * kDay;
    for (const double step :
         {43200, 21600, 10800, 7200, 3600, 1800, 900, 600, 300, 120, 60, 30, 15, 10, 5, 2, 1}) {
      if (step >= least) apart = step;
    }
    add("set {0}data time\nset timefmt \"%s\"\nset {0}tics {1}\nset format {0} \"{2}\"\n", name,
        apart,
        apart < 60     ? "%H:%M:%S"
        : apart < kDay ? "%m-%d\\n%H:%M"
                       : "%Y-%m-%d");
  }

  void names(std::string_view name, const ChartAxis& axis) {
    constexpr std::size_t kUpright = 3;
    constexpr std::size_t kFew = 16;
    const bool crowded =
        axis.names.size() > kFew ||
        std::any_of(axis.names.begin(), axis.names.end(),
                    [](const std::string& label) { return label.size() > kUpright; });
    ticks(name, name_ticks(axis),
          name == "x" && crowded ? "scale 0 rotate by 90 right " : "scale 0 ");
  }

  /// Thin lines, and words along them where no curve is. In text there is no room for them.
  void marks(int panel, const ChartAxis& x) {
    int number = 0;
    for (const ChartMark& mark : chart_.marks) {
      if (mark.panel.value_or(panel) != panel) continue;
      if (x.kind == AxisKind::Time) {
        time_mark(mark, x, number++);
        continue;
      }
      add("set arrow from {0:.12g}, graph 0 to {0:.12g}, graph 1 nohead back dt 3 lw 1 lc rgb "
          "\"#{1:06x}\"\n",
          mark.x, mark.colour);
      if (mark.text.empty()) continue;
      const bool above = mark.place == ChartMark::Place::Above;
      add("set label {} at {:.12g}, graph {} rotate by 90 {} noenhanced front font \",11\" tc rgb "
          "\"#{:06x}\" offset character {}, 0\n",
          quoted(mark.text), mark.x, above ? 0.98 : 0.02, above ? "right" : "left", mark.colour,
          mark.right ? 1.1 : -1.1);
    }
  }

  void time_mark(const ChartMark& mark, const ChartAxis& x, int number) {
    const bool late = mark.x > (x.low + x.high) / 2;
    add("set arrow from {0:.12g}, graph 0 to {0:.12g}, graph 1 nohead dt 2 lw 1.2 lc rgb "
        "\"#444444\"\n",
        mark.x);
    add("set label {} at {:.12g}, graph {:.3g} {} noenhanced front tc rgb \"#222222\" offset "
        "character {}, 0\n",
        quoted(mark.text), mark.x, 0.97 - 0.07 * (number % 5), late ? "right" : "left",
        late ? -0.6 : 0.6);
  }

  void texts() {
    std::size_t longest = 0;  // of those beside the axes
    for (const ChartText& text : chart_.texts) {
      const std::string at =
          text.beside ? std::string("graph 1.03, first") : fmt::format("{:.7g},", text.x);
      const char* align = text.align == ChartText::Align::Left     ? "left"
                          : text.align == ChartText::Align::Centre ? "center"
                                                                   : "right";
      add("set label {} at {} {:.7g} {} noenhanced front font \"{},12\" tc rgb \"#{:06x}\"",
          quoted(text.text), at, text.y, align, text.bold ? "DejaVu Sans Bold" : "", text.colour);
      if (!text.marker && text.align == ChartText::Align::Left) add(" offset character 0.6, 0");
      if (text.marker) {
        add(" point pt {} ps 1.2 * mark lw 2.5 lc rgb \"#{:06x}\" offset character 1.2, -0.25",
            text.marker->point, text.marker->colour);
      }
      add("\n");
      if (text.beside) longest = std::max(longest, text.text.size());
    }
    if (longest > 0) add("set rmargin {:.3g}\n", static_cast<double>(longest) * 0.9 + 6);
  }

  /// Bands first, so that lines are above them.
  void plot(int panel) {
    std::vector<std::string> parts;
    int index = 0;
    for (const auto& [outline, rows] : boxes_) {
      const std::string border =
          outline < 0 ? "noborder" : fmt::format("border lc rgb \"#{:06x}\"", outline);
      parts.push_back(
          fmt::format("$boxes{} using 1:2:3:4:5 with boxxyerror fs solid 1 {} lc rgb variable "
                      "notitle",
                      ++index, border));
    }
    for (const bool bands : {true, false}) {
      for (std::size_t i = 0; i < chart_.curves.size(); ++i) {
        const ChartCurve& curve = chart_.curves[i];
        if (curve.panel != panel || curve.points.empty()) continue;
        const std::string block = fmt::format("$curve{}", i + 1);
        std::vector<std::string> more = bands ? bands_of(curve, block) : lines_of(curve, block);
        std::move(more.begin(), more.end(), std::back_inserter(parts));
      }
    }
    add("plot {}\n", join(parts, ", \\\n  "));
  }

  [[nodiscard]] std::vector<std::string> bands_of(const ChartCurve& curve,
                                                  const std::string& block) const {
    const std::string colour = fmt::format("lc rgb \"#{:06x}\" notitle", curve.style.colour);
    const bool ranged = std::any_of(curve.points.begin(), curve.points.end(),
                                    [](const ChartPoint& point) { return point.low.has_value(); });
    if (is_text()) return {};
    if (curve.kind == CurveKind::Density) {
      return {fmt::format("{} using 1:2 with fillsteps {}", block, colour)};
    }
    if (curve.kind != CurveKind::Measured || !ranged) return {};
    return {fmt::format("{} using 1:3:4 with filledcurves {}", block, colour),
            fmt::format("{} using 1:2:3:4 with yerrorbars pt -1 dt 1 lw 1 {}", block, colour)};
  }

  [[nodiscard]] std::vector<std::string> lines_of(const ChartCurve& curve,
                                                  const std::string& block) const {
    if (curve.kind == CurveKind::Cells) return cells_of(block);
    const std::string title = "title " + quoted(curve.title);
    const CurveStyle& style = curve.style;
    if (is_text())
      return {fmt::format("{} using 1:2 with {} {}", block, how_in_text(curve), title)};
    const std::string look = fmt::format("lc rgb \"#{:06x}\" {}", style.colour, title);
    if (curve.kind != CurveKind::Hollow) {
      return {fmt::format("{} using 1:2 with {} {}", block, how(curve), look)};
    }
    return {fmt::format("{} using 1:2 with points pt {} ps 1.2 * mark lc rgb 'white' notitle",
                        block, style.point),
            fmt::format("{} using 1:2 with points pt {} ps 1.3 * mark lw 1.8 {}", block,
                        style.point - 1, look)};
  }

  /// Text has neither colours nor bands.
  [[nodiscard]] static std::string_view how_in_text(const ChartCurve& curve) {
    switch (curve.kind) {
      case CurveKind::Density: return "steps dt 1 lw 1.6";
      case CurveKind::Hollow: return "points";
      case CurveKind::Bound:
      case CurveKind::Ideal:
      case CurveKind::Line:
      case CurveKind::Steps: return "lines";
      default: return "linespoints";
    }
  }

  [[nodiscard]] static std::string how(const ChartCurve& curve) {
    const CurveStyle& style = curve.style;
    const auto width = [&](double usual) { return style.width > 0 ? style.width : usual; };
    switch (curve.kind) {
      case CurveKind::Bound: return fmt::format("lines dt 3 lw {}", width(2));
      case CurveKind::Ideal: return fmt::format("lines dt 2 lw {}", width(1.5));
      case CurveKind::Line: return fmt::format("lines dt {} lw {}", style.dash, width(2));
      case CurveKind::Second:
        return fmt::format("linespoints dt 3 lw 1.2 pt {} ps 0.5 * mark", style.point);
      case CurveKind::Raw: return fmt::format("points pt {} ps 0.9 * mark", style.point);
      case CurveKind::Steps: return fmt::format("steps dt {} lw 1.8", style.dash);
      case CurveKind::Density: return fmt::format("steps dt {} lw 1.6", style.dash);
      default:
        return fmt::format("linespoints dt {} lw {} pt {} ps mark", style.dash, width(1.8),
                           style.point);
    }
  }

  /// A cell without a value is hatched; up to 16 columns cells have their values.
  [[nodiscard]] std::vector<std::string> cells_of(const std::string& block) const {
    constexpr double kFigures = 16;
    constexpr std::string_view kValue =
        "(valid(3) ? sprintf(column(3) >= 100 ? \"%.0f\" : column(3) >= 10 ? \"%.1f\" : column(3) "
        ">= 0.1 ? \"%.2f\" : \"%.2g\", column(3)) : \"{}\")";
    const std::string value = fmt::format(fmt::runtime(kValue), is_text() ? "-" : "");
    if (is_text()) return {fmt::format("{} using 1:2:{} with labels", block, value)};
    const ColourScale& scale = *chart_.colours;
    std::vector<std::string> parts{
        fmt::format("{} using (valid(3) ? NaN : column(1)):2:(0.48):(0.48) with boxxyerror fs "
                    "pattern 4 lc rgb \"#999999\" notitle",
                    block),
        fmt::format("{} using (valid(3) ? column(1) : NaN):2:(0.5):(0.5):(column(3) < {:.7g} ? "
                    "{:.7g} : column(3) > {:.7g} ? {:.7g} : column(3)) with boxxyerror fs solid 1 "
                    "noborder lc palette notitle",
                    block, scale.low, scale.low, scale.high, scale.high)};
    if (x_range(chart_).high >= kFigures) return parts;
    parts.push_back(fmt::format(
        "{} using 1:2:{}:(valid(3) && column(3) > {:.7g} ? 0x000000 : 0xffffff) with labels font "
        "\",11\" tc rgb variable notitle",
        block, value, scale.low + 0.55 * (scale.high - scale.low)));
    return parts;
  }

  const Chart& chart_;
  Form form_;
  TextSize size_;
  int across_ = 1;
  int down_ = 1;
  int legend_ = 0;  ///< entries of the fullest panel's legend
  int width_ = 0;   ///< of a panel
  int height_ = 0;
  std::map<int, std::string> boxes_{};  ///< rows by the colour of the outline; -1: none
  std::string text_{};
};

}  // namespace

std::string chart_script(const Chart& chart) { return Script(chart, Form::File).text(); }

std::string page_chart_script(const Chart& chart) { return Script(chart, Form::Page).text(); }

std::string text_chart_script(const Chart& chart, TextSize size) {
  return Script(chart, Form::Text, size).text();
}

}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot_size_figures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "study/plot_choices.hpp"

namespace busbar {
namespace {

std::string title_of(const std::string& what, const SizeCurves& curves) {
  return curves.common.empty() ? what : fmt::format("{}: {}", what, curves.common);
}

/// Panels by the number of ranks, rising.
std::vector<int> panels_of(const SizeCurves& curves) {
  std::set<int> ranks;
  for (const SizeCurve& curve : curves.curves) ranks.insert(curve.key.ranks);
  return {ranks.begin(), ranks.end()};
}

std::string panel_title(const SizeCurves& curves, int ranks) {
  std::set<int> nodes;
  for (const SizeCurve& curve : curves.curves) {
    if (curve.key.ranks == ranks) nodes.insert(curve.key.nodes);
  }
  std::string title = counted(static_cast<std::size_t>(ranks), "rank");
  if (nodes.size() != 1 || *nodes.begin() < 1) return title;
  return fmt::format("{} on {}", title, counted(static_cast<std::size_t>(*nodes.begin()), "node"));
}

PlotFigure figure_over_sizes(std::string name, const std::string& what, const SizeCurves& curves) {
  PlotFigure figure{.name = std::move(name), .title = title_of(what, curves)};
  for (const int ranks : panels_of(curves)) figure.panels.push_back(panel_title(curves, ranks));
  return figure;
}

int panel_of(const SizeCurves& curves, const SizeCurve& curve) {
  const std::vector<int> panels = panels_of(curves);
  return static_cast<int>(
      std::distance(panels.begin(), std::find(panels.begin(), panels.end(), curve.key.ranks)));
}

std::vector<PlotPoint> bound_points(const SizeCurve& curve) {
  std::vector<PlotPoint> points;
  bool gap = false;
  for (const SizePoint& point : curve.points) {
    gap = gap || point.gap_before || !point.bound_GBps;
    if (!point.bound_GBps) continue;
    points.push_back({.x = static_cast<double>(point.size),
                      .y = *point.bound_GBps,
                      .gap_before = gap && !points.empty()});
    gap = false;
  }
  return points;
}

/// Both placements have one bound, and so may systems: each line is drawn once.
void add_bound(PlotFigure& figure, const SizeCurve& curve, int panel, bool several_systems) {
  PlotCurve bound{.panel = panel,
                  .title = several_systems ? "bound, in the colour of its system" : "bound",
                  .kind = PlotKind::Bound,
                  .style = curve.style};
  if (!several_systems) bound.style = {.colour = 0x555555};
  bound.points = bound_points(curve);
  if (bound.points.empty()) return;
  for (const PlotCurve& other : figure.curves) {
    if (other.kind != PlotKind::Bound || other.panel != panel) continue;
    bound.title.clear();  // one legend for all
    const bool equal = std::equal(
        bound.points.begin(), bound.points.end(), other.points.begin(), other.points.end(),
        [](const PlotPoint& a, const PlotPoint& b) { return a.x == b.x && a.y == b.y; });
    if (equal && other.style.colour == bound.style.colour) return;
  }
  figure.curves.push_back(bound);
}

bool has_several_systems(const SizeCurves& curves) {
  return std::any_of(curves.curves.begin(), curves.curves.end(), [&](const SizeCurve& curve) {
    return curve.key.label != curves.curves.front().key.label;
  });
}

/// The times of all points, wider as in plots/latency.gp.
std::pair<double, double> time_range(const SizeCurves& curves) {
  double low = std::numeric_limits<double>::max();
  double high = 0;
  for (const SizeCurve& curve : curves.curves) {
    for (const SizePoint& point : curve.points) {
      low = std::min(low, point.time_us);
      high = std::max(high, point.time_p99_us.value_or(point.time_us));
    }
  }
  constexpr double kMargin = 1.5;
  return {low / kMargin, high * kMargin};
}

bool has_bound(const SizePoint& point) { return point.bound_GBps.value_or(0) > 0; }

/// What makes a bandwidth a percentage of its bound; nan where there is none.
double percent_of_bound(const SizePoint& point) {
  return has_bound(point) ? 100 / *point.bound_GBps : std::numeric_limits<double>::quiet_NaN();
}

/// Marks the points of curves out of place that were measured in place only; one legend for all of
/// a panel.
void add_in_place_only(PlotFigure& figure, const SizeCurves& curves,
                       double (*height)(const SizePoint&)) {
  std::set<int> named;
  for (const SizeCurve& curve : curves.curves) {
    PlotCurve marks{
        .panel = panel_of(curves, curve), .kind = PlotKind::Hollow, .style = curve.style};
    for (const SizePoint& point : curve.points) {
      if (!point.in_place_only) continue;
      marks.points.push_back({.x = static_cast<double>(point.size), .y = height(point)});
    }
    if (marks.points.empty()) continue;
    if (named.insert(marks.panel).second) marks.title = "hollow: measured in place only";
    figure.curves.push_back(std::move(marks));
  }
}

/// Ranks without any bound have no panel.
void drop_empty_panels(PlotFigure& figure) {
  for (int panel = static_cast<int>(figure.panels.size()) - 1; panel >= 0; --panel) {
    const bool used = std::any_of(figure.curves.begin(), figure.curves.end(),
                                  [&](const PlotCurve& curve) { return curve.panel == panel; });
    if (used) continue;
    figure.panels.erase(figure.panels.begin() + panel);
    for (PlotCurve& curve : figure.curves) curve.panel -= curve.panel > panel ? 1 : 0;
  }
}

}  // namespace

PlotFigure busbw_figure(const SizeCurves& curves, std::optional<bool> logarithmic) {
  PlotFigure figure = figure_over_sizes("busbw", "Bus bandwidth", curves);
  for (const SizeCurve& curve : curves.curves) {
    PlotCurve drawn{.panel = panel_of(curves, curve), .title = curve.title, .style = curve.style};
    for (const SizePoint& point : curve.points) {
      drawn.points.push_back({.x = static_cast<double>(point.size),
                              .y = point.busbw_GBps,
                              .low = point.busbw_low,
                              .high = point.busbw_high,
                              .gap_before = point.gap_before});
    }
    figure.curves.push_back(std::move(drawn));
  }
  for (const SizeCurve& curve : curves.curves) {
    add_bound(figure, curve, panel_of(curves, curve), has_several_systems(curves));
  }
  const RateAxis axis = add_rate_axis(figure, logarithmic);
  add_choice_marks(figure, curves,
                   [axis](const SizePoint& point) { return axis.height(point.busbw_GBps); });
  add_in_place_only(figure, curves, [](const SizePoint& point) { return point.busbw_GBps; });
  return figure;
}

PlotFigure share_figure(const SizeCurves& curves) {
  PlotFigure figure = figure_over_sizes("share", "Share of its own bound", curves);
  for (const SizeCurve& curve : curves.curves) {
    PlotCurve drawn{.panel = panel_of(curves, curve), .title = curve.title, .style = curve.style};
    bool gap = false;
    for (const SizePoint& point : curve.points) {
      gap = gap || point.gap_before;
      if (!has_bound(point)) {
        gap = true;
        continue;
      }
      const double percent = percent_of_bound(point);
      const auto scaled = [&](const std::optional<double>& value) {
        return value ? std::optional<double>(*value * percent) : std::nullopt;
      };
      drawn.points.push_back({.x = static_cast<double>(point.size),
                              .y = point.busbw_GBps * percent,
                              .low = scaled(point.busbw_low),
                              .high = scaled(point.busbw_high),
                              .gap_before = gap && !drawn.points.empty()});
      gap = false;
    }
    if (!drawn.points.empty()) figure.curves.push_back(std::move(drawn));
  }
  add_in_place_only(figure, curves, [](const SizePoint& point) {
    return point.busbw_GBps * percent_of_bound(point);
  });
  drop_empty_panels(figure);
  return figure;
}

PlotFigure latency_figure(const SizeCurves& curves) {
  const auto has_tail = [](const SizeCurve& curve) {
    return std::any_of(curve.points.begin(), curve.points.end(),
                       [](const SizePoint& point) { return point.time_p99_us.has_value(); });
  };
  const bool tailed = std::any_of(curves.curves.begin(), curves.curves.end(), has_tail);
  PlotFigure figure =
      figure_over_sizes("latency", tailed ? "Time, median and 99th percentile" : "Time", curves);
  std::vector<PlotCurve> tails;
  for (const SizeCurve& curve : curves.curves) {
    PlotCurve middle{.panel = panel_of(curves, curve), .title = curve.title, .style = curve.style};
    PlotCurve tail{.panel = middle.panel,
                   .title = "99th percentile, in the colour of its median",
                   .kind = PlotKind::Second,
                   .style = curve.style};
    bool tail_gap = false;
    for (const SizePoint& point : curve.points) {
      const auto x = static_cast<double>(point.size);
      middle.points.push_back({.x = x,
                               .y = point.time_us,
                               .low = point.time_low,
                               .high = point.time_high,
                               .gap_before = point.gap_before});
      tail_gap = tail_gap || point.gap_before || !point.time_p99_us;
      if (!point.time_p99_us) continue;
      tail.points.push_back(
          {.x = x, .y = *point.time_p99_us, .gap_before = tail_gap && !tail.points.empty()});
      tail_gap = false;
    }
    figure.curves.push_back(std::move(middle));
    if (!tail.points.empty()) tails.push_back(std::move(tail));
  }
  const auto [low, high] = time_range(curves);
  add_choice_marks(figure, curves, [low = low, high = high](const SizePoint& point) {
    return std::log(point.time_us / low) / std::log(high / low);
  });
  std::set<int> named;  // one legend for all of a panel
  for (PlotCurve& tail : tails) {
    if (!named.insert(tail.panel).second) tail.title.clear();
    figure.curves.push_back(std::move(tail));
  }
  add_in_place_only(figure, curves, [](const SizePoint& point) { return point.time_us; });
  return figure;
}

}  // namespace busbar

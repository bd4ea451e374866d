// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot_size_figures.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"

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

Chart figure_over_sizes(std::string name, const std::string& what, const SizeCurves& curves) {
  Chart figure{.name = std::move(name), .title = title_of(what, curves)};
  for (const int ranks : panels_of(curves)) {
    figure.panels.push_back({.title = panel_title(curves, ranks)});
  }
  return figure;
}

int panel_of(const SizeCurves& curves, const SizeCurve& curve) {
  const std::vector<int> panels = panels_of(curves);
  return static_cast<int>(
      std::distance(panels.begin(), std::find(panels.begin(), panels.end(), curve.key.ranks)));
}

std::vector<ChartPoint> bound_points(const SizeCurve& curve) {
  std::vector<ChartPoint> points;
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
void add_bound(Chart& figure, const SizeCurve& curve, int panel, bool several_systems) {
  ChartCurve bound{.panel = panel,
                   .title = several_systems ? "bound, in the colour of its system" : "bound",
                   .kind = CurveKind::Bound,
                   .style = curve.style};
  if (!several_systems) bound.style = {.colour = 0x555555};
  bound.points = bound_points(curve);
  if (bound.points.empty()) return;
  for (const ChartCurve& other : figure.curves) {
    if (other.kind != CurveKind::Bound || other.panel != panel) continue;
    bound.title.clear();  // one legend for all
    const bool equal = std::equal(
        bound.points.begin(), bound.points.end(), other.points.begin(), other.points.end(),
        [](const ChartPoint& a, const ChartPoint& b) { return a.x == b.x && a.y == b.y; });
    if (equal && other.style.colour == bound.style.colour) return;
  }
  figure.curves.push_back(bound);
}

void set_size_axis(Chart& figure) {
  for (ChartPanel& panel : figure.panels) panel.x = bytes_axis(figure);
}

bool has_several_systems(const SizeCurves& curves) {
  return std::any_of(curves.curves.begin(), curves.curves.end(), [&](const SizeCurve& curve) {
    return curve.key.label != curves.curves.front().key.label;
  });
}

constexpr double kTimeMargin = 1.5;

/// The times of all points, wider as their axis.
std::pair<double, double> time_range(const SizeCurves& curves) {
  double low = std::numeric_limits<double>::max();
  double high = 0;
  for (const SizeCurve& curve : curves.curves) {
    for (const SizePoint& point : curve.points) {
      low = std::min(low, point.time_us);
      high = std::max(high, point.time_p99_us.value_or(point.time_us));
    }
  }
  return {low / kTimeMargin, high * kTimeMargin};
}

bool has_bound(const SizePoint& point) { return point.bound_GBps.value_or(0) > 0; }

/// What makes a bandwidth a percentage of its bound; nan where there is none.
double percent_of_bound(const SizePoint& point) {
  return has_bound(point) ? 100 / *point.bound_GBps : std::numeric_limits<double>::quiet_NaN();
}

/// Marks the points of curves out of place that were measured in place only; one legend for all of
/// a panel.
void add_in_place_only(Chart& figure, const SizeCurves& curves,
                       double (*height)(const SizePoint&)) {
  std::set<int> named;
  for (const SizeCurve& curve : curves.curves) {
    ChartCurve marks{
        .panel = panel_of(curves, curve), .kind = CurveKind::Hollow, .style = curve.style};
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
void drop_empty_panels(Chart& figure) {
  for (int panel = static_cast<int>(figure.panels.size()) - 1; panel >= 0; --panel) {
    const bool used = std::any_of(figure.curves.begin(), figure.curves.end(),
                                  [&](const ChartCurve& curve) { return curve.panel == panel; });
    if (used) continue;
    figure.panels.erase(figure.panels.begin() + panel);
    for (ChartCurve& curve : figure.curves) curve.panel -= curve.panel > panel ? 1 : 0;
  }
}

constexpr int kGrey = 0x555555;
constexpr std::size_t kMostLabels = 10;  // in a panel; more of them are lines alone

using Height = std::function<double(const SizePoint&)>;

/// One change in a panel, of one curve or several; its key is the size and the text.
struct Change {
  std::string after{};
  int colour = 0;
  std::size_t curves = 0;
};
using Changes = std::map<std::pair<double, std::string>, Change>;

std::vector<const SizeCurve*> curves_of_panel(const Chart& figure, const SizeCurves& curves,
                                              int panel) {
  std::vector<const SizeCurve*> found;
  for (std::size_t i = 0; i < curves.curves.size(); ++i) {
    if (figure.curves[i].panel == panel) found.push_back(&curves.curves[i]);
  }
  return found;
}

void add_changes(const SizeCurve& curve, Changes& found) {
  for (std::size_t i = 1; i < curve.points.size(); ++i) {
    const SizePoint& before = curve.points[i - 1];
    const SizePoint& after = curve.points[i];
    if (before.choice.empty() || after.choice.empty() || before.choice == after.choice) continue;
    const double x = std::sqrt(static_cast<double>(before.size) * static_cast<double>(after.size));
    Change& change = found[{x, fmt::format("{} → {}", before.choice, after.choice)}];
    change.after = after.choice;
    if (change.curves++ == 0) change.colour = curve.style.colour;
  }
}

/// Shares of a panel's height that are free of curves near an x.
struct Room {
  double above = 1;
  double below = 1;

  [[nodiscard]] double most() const { return std::max(above, below); }
};

Room room_at(const std::vector<const SizeCurve*>& curves, double x, const Height& height) {
  constexpr double kNear = 1.1;  // powers of two: the points at both sides, with a factor of 2
  Room room;
  for (const SizeCurve* curve : curves) {
    for (const SizePoint& point : curve->points) {
      if (std::abs(std::log2(static_cast<double>(point.size) / x)) > kNear) continue;
      room.above = std::min(room.above, 1 - height(point));
      room.below = std::min(room.below, height(point));
    }
  }
  return room;
}

/// Both choices where they fit into the panel, else the later one.
std::string label(const std::string& both, const Change& change, const Room& room) {
  constexpr std::size_t kLongest = 32;  // bytes, of which the arrow is three
  constexpr double kEnough = 0.55;
  return both.size() <= kLongest && room.most() >= kEnough ? both : "→ " + change.after;
}

/// Left to right, so that the second of two labels at one size goes to the line's other side. There
/// is no place for a third.
void add_marks(Chart& figure, const Changes& changes, int panel,
               const std::vector<const SizeCurve*>& curves, const Height& height) {
  std::size_t at_same_size = 0;
  double last_x = 0;
  for (const auto& [key, change] : changes) {
    const auto& [x, both] = key;
    at_same_size = x == last_x ? at_same_size + 1 : 0;
    last_x = x;
    const Room room = room_at(curves, x, height);
    const bool labelled = changes.size() <= kMostLabels && at_same_size < 2;
    figure.marks.push_back(
        {.x = x,
         .text = labelled ? label(both, change, room) : std::string(),
         .panel = panel,
         .place = room.above >= room.below ? ChartMark::Place::Above : ChartMark::Place::Below,
         .right = at_same_size == 1,
         .colour = change.curves == curves.size() ? kGrey : change.colour});
  }
}

using Group = std::vector<const SizeCurve*>;

/// Curves that differ by their ranks alone, and by what follows from them.
std::map<CurveKey, Group> groups_of(const SizeCurves& curves) {
  std::map<CurveKey, Group> groups;
  for (const SizeCurve& curve : curves.curves) {
    CurveKey key = curve.key;
    key.ranks = 0;
    key.nodes = 0;
    key.device_set.clear();
    groups[key].push_back(&curve);
  }
  std::erase_if(groups, [](const auto& group) {
    return std::all_of(group.second.begin(), group.second.end(), [&](const SizeCurve* curve) {
      return curve->key.ranks == group.second.front()->key.ranks;
    });
  });
  return groups;
}

std::optional<Bytes> largest_common_size(const std::map<CurveKey, Group>& groups) {
  std::optional<std::set<Bytes>> common;
  for (const auto& [key, group] : groups) {
    for (const SizeCurve* curve : group) {
      std::set<Bytes> sizes;
      for (const SizePoint& point : curve->points) {
        const bool shared = !common || common->contains(point.size);
        if (shared && !point.in_place_only) sizes.insert(point.size);
      }
      common = std::move(sizes);
    }
  }
  if (!common || common->empty()) return {};
  return *common->rbegin();
}

const SizePoint* point_at(const SizeCurve& curve, Bytes size) {
  const auto found = std::find_if(
      curve.points.begin(), curve.points.end(),
      [&](const SizePoint& point) { return point.size == size && !point.in_place_only; });
  return found == curve.points.end() ? nullptr : &*found;
}

/// Of several device sets of one number of ranks the best; nothing where the size is missing.
std::map<int, const SizePoint*> best_by_ranks(const Group& group, Bytes size) {
  std::map<int, const SizePoint*> best;
  for (const SizeCurve* curve : group) {
    const SizePoint*& known = best[curve->key.ranks];
    const SizePoint* point = point_at(*curve, size);
    if (point && (!known || point->busbw_GBps > known->busbw_GBps)) known = point;
  }
  return best;
}

struct ScalingCurves {
  ChartCurve rate{.panel = 0};
  ChartCurve time{.panel = 1};
  ChartCurve ideal_rate{.panel = 0, .kind = CurveKind::Ideal};
  ChartCurve ideal_time{.panel = 1, .kind = CurveKind::Ideal};
};

/// The ideal time moves the bytes of that many ranks at the bus bandwidth of the fewest.
ScalingCurves scaling_of(const std::map<int, const SizePoint*>& by_ranks) {
  ScalingCurves curves;
  const SizePoint* first = nullptr;
  bool gap = false;
  for (const auto& [ranks, point] : by_ranks) {
    if (!point) {
      gap = first != nullptr;
      continue;
    }
    if (!first) first = point;
    const auto x = static_cast<double>(ranks);
    curves.rate.points.push_back({.x = x,
                                  .y = point->busbw_GBps,
                                  .low = point->busbw_low,
                                  .high = point->busbw_high,
                                  .gap_before = gap});
    curves.time.points.push_back({.x = x,
                                  .y = point->time_us,
                                  .low = point->time_low,
                                  .high = point->time_high,
                                  .gap_before = gap});
    curves.ideal_rate.points.push_back({.x = x, .y = first->busbw_GBps});
    curves.ideal_time.points.push_back(
        {.x = x, .y = point->time_us * point->busbw_GBps / first->busbw_GBps});
    gap = false;
  }
  return curves;
}

void add_curves(Chart& figure, ScalingCurves drawn, const SizeCurve& of, bool several) {
  const bool named = !figure.empty();  // one legend for all ideal lines
  for (ChartCurve* curve : {&drawn.rate, &drawn.time}) {
    curve->title = of.title;
    curve->style = of.style;
    figure.curves.push_back(std::move(*curve));
  }
  for (ChartCurve* curve : {&drawn.ideal_rate, &drawn.ideal_time}) {
    curve->title = named ? "" : "ideal: bus bandwidth of the fewest ranks";
    curve->style = {.colour = several ? of.style.colour : 0x777777};
    figure.curves.push_back(std::move(*curve));
  }
}

/// Marks where NCCL's algorithm or protocol changes along a curve: between the two sizes, once for
/// all curves of a panel that change alike. `height` returns where a value lies in a panel, from 0
/// to 1, so that a label stands where no curve is.
void add_choice_marks(Chart& figure, const SizeCurves& curves, const Height& height) {
  for (int panel = 0; panel < static_cast<int>(figure.panels.size()); ++panel) {
    const std::vector<const SizeCurve*> drawn = curves_of_panel(figure, curves, panel);
    Changes changes;
    for (const SizeCurve* curve : drawn) add_changes(*curve, changes);
    add_marks(figure, changes, panel, drawn, height);
  }
}

}  // namespace

Chart busbw_figure(const SizeCurves& curves, std::optional<bool> logarithmic) {
  Chart figure = figure_over_sizes("busbw", "Bus bandwidth", curves);
  for (const SizeCurve& curve : curves.curves) {
    ChartCurve drawn{.panel = panel_of(curves, curve), .title = curve.title, .style = curve.style};
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
  set_size_axis(figure);
  const RateAxis axis = set_rate_axis(figure, logarithmic);
  add_choice_marks(figure, curves,
                   [axis](const SizePoint& point) { return axis.height(point.busbw_GBps); });
  add_in_place_only(figure, curves, [](const SizePoint& point) { return point.busbw_GBps; });
  return figure;
}

Chart share_figure(const SizeCurves& curves) {
  Chart figure = figure_over_sizes("share", "Share of its own bound", curves);
  for (const SizeCurve& curve : curves.curves) {
    ChartCurve drawn{.panel = panel_of(curves, curve), .title = curve.title, .style = curve.style};
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
  set_size_axis(figure);
  const double most = std::max(y_range(figure).high, 100.0);
  for (ChartPanel& panel : figure.panels) {
    panel.y = {.title = "share of its own bound (%)", .high = most * 1.05};
    panel.level = 100;
  }
  return figure;
}

Chart latency_figure(const SizeCurves& curves) {
  const auto has_tail = [](const SizeCurve& curve) {
    return std::any_of(curve.points.begin(), curve.points.end(),
                       [](const SizePoint& point) { return point.time_p99_us.has_value(); });
  };
  const bool tailed = std::any_of(curves.curves.begin(), curves.curves.end(), has_tail);
  Chart figure =
      figure_over_sizes("latency", tailed ? "Time, median and 99th percentile" : "Time", curves);
  std::vector<ChartCurve> tails;
  for (const SizeCurve& curve : curves.curves) {
    ChartCurve middle{.panel = panel_of(curves, curve), .title = curve.title, .style = curve.style};
    ChartCurve tail{.panel = middle.panel,
                    .title = "99th percentile, in the colour of its median",
                    .kind = CurveKind::Second,
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
  for (ChartCurve& tail : tails) {
    if (!named.insert(tail.panel).second) tail.title.clear();
    figure.curves.push_back(std::move(tail));
  }
  add_in_place_only(figure, curves, [](const SizePoint& point) { return point.time_us; });
  set_size_axis(figure);
  for (ChartPanel& panel : figure.panels) {
    panel.y = log_axis("time (\u00b5s)", y_range(figure), kTimeMargin);
  }
  return figure;
}

Chart scaling_figure(const SizeCurves& curves, std::optional<Bytes> size,
                     std::optional<bool> logarithmic) {
  const auto groups = groups_of(curves);
  if (!size) size = largest_common_size(groups);
  if (groups.empty() || !size) return {.name = "scaling"};
  Chart figure{.name = "scaling",
               .title = fmt::format("Scaling at {}{}{}", format_bytes(*size),
                                    curves.common.empty() ? "" : ": ", curves.common),
               .panels = {{.title = "bus bandwidth (GB/s)"}, {.title = "time (\u00b5s)"}}};
  for (const auto& [key, group] : groups) {
    ScalingCurves drawn = scaling_of(best_by_ranks(group, *size));
    if (drawn.rate.points.size() < 2) continue;
    add_curves(figure, std::move(drawn), *group.front(), groups.size() > 1);
  }
  if (figure.empty()) return figure;
  const ChartRange ranks = x_range(figure);
  for (ChartPanel& panel : figure.panels) panel.x = powers_axis("ranks", ranks);
  static_cast<void>(set_rate_axis(figure, logarithmic, 0, 1.05));
  figure.panels[1].y = log_axis(figure.panels[1].title, y_range(figure, 1), kTimeMargin);
  return figure;
}

}  // namespace busbar

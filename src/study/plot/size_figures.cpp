// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "study/plot/figures.hpp"

namespace busbar::study {
namespace {

constexpr double kTimeMargin = 1.5;
constexpr int kGrey = 0x555555;

/// What is drawn of a point; nothing where it has no such value.
using Value = std::optional<Spread> (*)(const SizePoint&);

std::optional<Spread> rate_of(const SizePoint& point) { return point.busbw_GBps; }
std::optional<Spread> time_of(const SizePoint& point) { return point.time_us; }

template <std::optional<double> SizePoint::*Member>
std::optional<Spread> single(const SizePoint& point) {
  return point.*Member ? std::optional(Spread{*(point.*Member)}) : std::nullopt;
}

std::optional<Spread> percent_of_bound(const SizePoint& point) {
  if (point.bound_GBps.value_or(0) <= 0) return {};
  const double percent = 100 / *point.bound_GBps;
  Spread share{.median = point.busbw_GBps.median * percent};
  if (point.busbw_GBps.low) share.low = *point.busbw_GBps.low * percent;
  if (point.busbw_GBps.high) share.high = *point.busbw_GBps.high * percent;
  return share;
}

/// A figure over sizes, a panel per number of ranks.
class SizeFigure {
 public:
  /// Panels are of the ranks that have a value.
  SizeFigure(std::string name, const std::string& what, const SizeCurves& curves, Value value)
      : curves_(curves.curves), value_(value) {
    chart_.name = std::move(name);
    chart_.title = with_common(what, curves.common);
    std::map<int, std::set<int>> nodes;  // by ranks
    for (const SizeCurve& curve : curves_) {
      const bool any = std::ranges::any_of(
          curve.points, [&](const SizePoint& point) { return value(point).has_value(); });
      if (any) nodes[curve.key.ranks].insert(curve.key.nodes);
    }
    for (const auto& [ranks, counts] : nodes) {
      std::string title = counted(ranks, "rank");
      if (counts.size() == 1 && *counts.begin() > 0) {
        title += " on " + counted(*counts.begin(), "node");
      }
      ranks_.push_back(ranks);
      chart_.panels.push_back({.title = std::move(title)});
    }
    for (const SizeCurve& curve : curves_) {
      ChartCurve line = line_of(curve, value);
      if (line.points.size() == 1) {
        line.title += fmt::format(": {:.4g} at {}", line.points.front().y,
                                  format_bytes(static_cast<Bytes>(line.points.front().x)));
      }
      add(std::move(line));
    }
    for (ChartPanel& panel : chart_.panels) panel.x = bytes_axis(chart_);
  }

  [[nodiscard]] Chart& chart() { return chart_; }

  /// Both placements have one bound, and so may systems: each line is drawn once.
  void add_bounds() {
    const bool several = std::ranges::any_of(curves_, [&](const SizeCurve& curve) {
      return curve.key.label != curves_.front().key.label;
    });
    for (const SizeCurve& curve : curves_) {
      ChartCurve bound = line_of(curve, single<&SizePoint::bound_GBps>, CurveKind::Bound);
      bound.title = several ? "bound, in the colour of its system" : "bound";
      if (!several) bound.style = {.colour = kGrey};
      const bool drawn = std::ranges::any_of(chart_.curves, [&](const ChartCurve& other) {
        return other.kind == CurveKind::Bound && other.panel == bound.panel &&
               other.style.colour == bound.style.colour && same_points(other, bound);
      });
      if (!drawn) add(std::move(bound), true);
    }
  }

  void add_second(Value value, std::string_view title) {
    for (const SizeCurve& curve : curves_) {
      ChartCurve second = line_of(curve, value, CurveKind::Second);
      second.title = title;
      add(std::move(second), true);
    }
  }

  /// Marks the points of curves out of place that were measured in place only.
  void add_in_place_only() {
    for (const SizeCurve& curve : curves_) {
      SizeCurve in_place = curve;
      std::erase_if(in_place.points, [](const SizePoint& point) { return !point.in_place_only; });
      ChartCurve marks = line_of(in_place, value_, CurveKind::Hollow);
      marks.title = "hollow: measured in place only";
      add(std::move(marks), true);
    }
  }

  /// Marks where NCCL's algorithm or protocol changes along a curve: between the two sizes, once
  /// for all curves of a panel that change alike. The y axes must be set.
  void add_choice_marks() {
    for (std::size_t panel = 0; panel < ranks_.size(); ++panel) {
      Changes changes;
      std::size_t curves = 0;
      for (const SizeCurve& curve : curves_) {
        if (curve.key.ranks != ranks_[panel]) continue;
        ++curves;
        add_changes(curve, changes);
      }
      add_marks(changes, static_cast<int>(panel), curves);
    }
  }

 private:
  /// The curves of a change, by its size and text.
  using Changes = std::map<std::pair<double, std::string>, std::vector<const SizeCurve*>>;

  static void add_changes(const SizeCurve& curve, Changes& changes) {
    for (std::size_t i = 1; i < curve.points.size(); ++i) {
      const SizePoint& before = curve.points[i - 1];
      const SizePoint& after = curve.points[i];
      if (before.choice.empty() || after.choice.empty() || before.choice == after.choice) continue;
      const double x =
          std::sqrt(static_cast<double>(before.size) * static_cast<double>(after.size));
      changes[{x, fmt::format("{} → {}", before.choice, after.choice)}].push_back(&curve);
    }
  }

  static bool same_points(const ChartCurve& one, const ChartCurve& other) {
    return std::equal(
        one.points.begin(), one.points.end(), other.points.begin(), other.points.end(),
        [](const ChartPoint& a, const ChartPoint& b) { return a.x == b.x && a.y == b.y; });
  }

  [[nodiscard]] ChartCurve line_of(const SizeCurve& curve, Value value,
                                   CurveKind kind = CurveKind::Measured) const {
    const auto panel = std::ranges::find(ranks_, curve.key.ranks);
    ChartCurve line{.panel = static_cast<int>(panel - ranks_.begin()),
                    .title = curve.title,
                    .kind = kind,
                    .style = curve.style};
    bool gap = false;
    for (const SizePoint& point : curve.points) {
      const std::optional<Spread> spread = value(point);
      gap = gap || point.gap_before || !spread;
      if (!spread) continue;
      line.points.push_back(
          chart_point(static_cast<double>(point.size), *spread, gap && !line.points.empty()));
      gap = false;
    }
    return line;
  }

  /// `one_title`: the first of its kind in a panel stands for all in the legend.
  void add(ChartCurve line, bool one_title = false) {
    if (line.points.empty()) return;
    const bool named = std::ranges::any_of(chart_.curves, [&](const ChartCurve& other) {
      return other.kind == line.kind && other.panel == line.panel && !other.title.empty();
    });
    if (one_title && named) line.title.clear();
    chart_.curves.push_back(std::move(line));
  }

  /// Left to right, so that the second of two labels at one size goes to the line's other side;
  /// there is no place for a third. A label stands where the curves near it leave more room.
  void add_marks(const Changes& changes, int panel, std::size_t curves) {
    constexpr std::size_t kMostLabels = 10;  // in a panel; more of them are lines alone
    constexpr std::size_t kLongest = 32;     // bytes, of which the arrow is three
    std::size_t at_same_size = 0;
    double last_x = 0;
    for (const auto& [key, changed] : changes) {
      const auto& [x, text] = key;
      at_same_size = x == last_x ? at_same_size + 1 : 0;
      last_x = x;
      ChartMark mark{.x = x,
                     .panel = panel,
                     .place = place_of(x, panel),
                     .right = at_same_size == 1,
                     .colour = changed.size() == curves ? kGrey : changed.front()->style.colour};
      if (changes.size() <= kMostLabels && at_same_size < 2) {
        mark.text = text.size() <= kLongest ? text : text.substr(text.find("→"));
      }
      chart_.marks.push_back(std::move(mark));
    }
  }

  [[nodiscard]] ChartMark::Place place_of(double x, int panel) const {
    constexpr double kNear = 1.1;  // powers of two: the points at both sides, with a factor of 2
    const ChartAxis& axis = chart_.panels[static_cast<std::size_t>(panel)].y;
    double highest = 0;
    double lowest = 1;
    for (const ChartCurve& curve : chart_.curves) {
      if (curve.panel != panel || curve.kind != CurveKind::Measured) continue;
      for (const ChartPoint& point : curve.points) {
        if (std::abs(std::log2(point.x / x)) > kNear) continue;
        highest = std::max(highest, axis.height(point.y));
        lowest = std::min(lowest, axis.height(point.y));
      }
    }
    return 1 - highest >= lowest ? ChartMark::Place::Above : ChartMark::Place::Below;
  }

  const std::vector<SizeCurve>& curves_;
  Value value_;
  Chart chart_{};
  std::vector<int> ranks_{};  ///< by panel, rising
};

/// Curves that differ by their ranks alone, and by what follows from them.
using CurvesByRanks = std::map<int, std::vector<const SizeCurve*>>;

std::optional<Bytes> largest_common_size(const std::map<CurveKey, CurvesByRanks>& groups) {
  std::vector<const SizeCurve*> curves;
  for (const auto& [key, by_ranks] : groups) {
    for (const auto& [ranks, sets] : by_ranks) append(curves, sets);
  }
  std::map<Bytes, std::size_t> counts;
  for (const SizeCurve* curve : curves) {
    for (const SizePoint& point : curve->points) counts[point.size] += point.in_place_only ? 0 : 1;
  }
  std::optional<Bytes> largest;
  for (const auto& [size, count] : counts) {
    if (count == curves.size()) largest = size;
  }
  return largest;
}

/// The best of each number of ranks at a size, out of place; null where the size is missing.
std::map<int, const SizePoint*> best_points(const CurvesByRanks& by_ranks, Bytes size) {
  std::map<int, const SizePoint*> points;
  for (const auto& [ranks, sets] : by_ranks) {
    const SizePoint*& best = points[ranks];
    for (const SizeCurve* curve : sets) {
      const SizePoint* point = point_at(*curve, size);
      if (point == nullptr || point->in_place_only) continue;
      if (best == nullptr || point->busbw_GBps.median > best->busbw_GBps.median) best = point;
    }
  }
  return points;
}

/// The ideal time moves the bytes of that many ranks at the bus bandwidth of the fewest.
void add_scaling(Chart& figure, const std::string& title, const CurveStyle& style,
                 const std::map<int, const SizePoint*>& points, bool several) {
  ChartCurve rate{.panel = 0, .title = title, .style = style};
  ChartCurve time = rate;
  time.panel = 1;
  ChartCurve ideal_rate{
      .panel = 0, .kind = CurveKind::Ideal, .style = {.colour = several ? style.colour : 0x777777}};
  if (figure.empty()) ideal_rate.title = "ideal: bus bandwidth of the fewest ranks";
  ChartCurve ideal_time = ideal_rate;
  ideal_time.panel = 1;
  bool gap = false;
  for (const auto& [ranks, point] : points) {
    if (point == nullptr) {
      gap = !rate.points.empty();
      continue;
    }
    const auto x = static_cast<double>(ranks);
    rate.points.push_back(chart_point(x, point->busbw_GBps, gap));
    time.points.push_back(chart_point(x, point->time_us, gap));
    gap = false;
    const double first_GBps = rate.points.front().y;
    ideal_rate.points.push_back({.x = x, .y = first_GBps});
    ideal_time.points.push_back(
        {.x = x, .y = point->time_us.median * point->busbw_GBps.median / first_GBps});
  }
  if (rate.points.size() < 2) return;
  for (ChartCurve* curve : {&rate, &time, &ideal_rate, &ideal_time}) {
    figure.curves.push_back(std::move(*curve));
  }
}

}  // namespace

Chart busbw_figure(const SizeCurves& curves, std::optional<bool> logarithmic) {
  SizeFigure figure("busbw", "Bus bandwidth", curves, rate_of);
  figure.add_bounds();
  set_rate_axis(figure.chart(), logarithmic);
  figure.add_choice_marks();
  figure.add_in_place_only();
  return std::move(figure.chart());
}

Chart share_figure(const SizeCurves& curves) {
  SizeFigure figure("share", "Share of its own bound", curves, percent_of_bound);
  figure.add_in_place_only();
  const double most = std::max(y_range(figure.chart()).high, 100.0);
  for (ChartPanel& panel : figure.chart().panels) {
    panel.y = {.title = "share of its own bound (%)", .high = most * 1.05};
    panel.level = 100;
  }
  return std::move(figure.chart());
}

Chart latency_figure(const SizeCurves& curves) {
  SizeFigure figure("latency", "Time", curves, time_of);
  figure.add_second(single<&SizePoint::time_p99_us>,
                    "99th percentile, in the colour of its median");
  for (ChartPanel& panel : figure.chart().panels) {
    panel.y = log_axis("time (\u00b5s)", y_range(figure.chart()), kTimeMargin);
  }
  figure.add_choice_marks();
  figure.add_in_place_only();
  return std::move(figure.chart());
}

Chart scaling_figure(const SizeCurves& curves, std::optional<Bytes> size,
                     std::optional<bool> logarithmic) {
  std::map<CurveKey, CurvesByRanks> groups;
  for (const SizeCurve& curve : curves.curves) {
    groups[without_ranks(curve.key)][curve.key.ranks].push_back(&curve);
  }
  std::erase_if(groups, [](const auto& group) { return group.second.size() < 2; });
  if (!size) size = largest_common_size(groups);
  Chart figure{.name = "scaling",
               .panels = {{.title = "bus bandwidth (GB/s)"}, {.title = "time (\u00b5s)"}}};
  if (!size) return figure;
  const CurveLooks looks =
      curve_looks(mapped(groups, [](const auto& group) { return group.first; }));
  figure.title = with_common("Scaling at " + format_bytes(*size), looks.common);
  auto title = looks.titles.begin();
  for (const auto& [key, by_ranks] : groups) {
    add_scaling(figure, *title++, by_ranks.begin()->second.front()->style,
                best_points(by_ranks, *size), groups.size() > 1);
  }
  if (figure.empty()) return figure;
  const ChartRange ranks = x_range(figure);
  for (ChartPanel& panel : figure.panels) {
    panel.x = log_axis("ranks", ranks, 1.15, AxisKind::Powers);
  }
  set_rate_axis(figure, logarithmic, 0, 1.05);
  figure.panels[1].y = log_axis(figure.panels[1].title, y_range(figure, 1), kTimeMargin);
  return figure;
}

}  // namespace busbar::study

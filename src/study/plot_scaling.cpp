// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "study/plot_size_figures.hpp"

namespace busbar {
namespace {

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
  PlotCurve rate{.panel = 0};
  PlotCurve time{.panel = 1};
  PlotCurve ideal_rate{.panel = 0, .kind = PlotKind::Ideal};
  PlotCurve ideal_time{.panel = 1, .kind = PlotKind::Ideal};
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

void add_curves(PlotFigure& figure, ScalingCurves drawn, const SizeCurve& of, bool several) {
  const bool named = !figure.empty();  // one legend for all ideal lines
  for (PlotCurve* curve : {&drawn.rate, &drawn.time}) {
    curve->title = of.title;
    curve->style = of.style;
    figure.curves.push_back(std::move(*curve));
  }
  for (PlotCurve* curve : {&drawn.ideal_rate, &drawn.ideal_time}) {
    curve->title = named ? "" : "ideal: bus bandwidth of the fewest ranks";
    curve->style = {.colour = several ? of.style.colour : 0x777777};
    figure.curves.push_back(std::move(*curve));
  }
}

}  // namespace

PlotFigure scaling_figure(const SizeCurves& curves, std::optional<Bytes> size,
                          std::optional<bool> logarithmic) {
  const auto groups = groups_of(curves);
  if (!size) size = largest_common_size(groups);
  if (groups.empty() || !size) return {.name = "scaling"};
  PlotFigure figure{.name = "scaling",
                    .title = fmt::format("Scaling at {}{}{}", format_bytes(*size),
                                         curves.common.empty() ? "" : ": ", curves.common),
                    .panels = {"bus bandwidth (GB/s)", "time (\u00b5s)"}};
  for (const auto& [key, group] : groups) {
    ScalingCurves drawn = scaling_of(best_by_ranks(group, *size));
    if (drawn.rate.points.size() < 2) continue;
    add_curves(figure, std::move(drawn), *group.front(), groups.size() > 1);
  }
  static_cast<void>(add_rate_axis(figure, logarithmic, 0));
  return figure;
}

}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot_curves.hpp"

#include <algorithm>

#include "stats/summary.hpp"
#include "study/plot_gaps.hpp"

namespace busbar {
namespace {

/// Median of what the launches have; empty where one of them has nothing.
std::optional<double> median_of(std::span<const Record> launches,
                                std::optional<double> Record::*member) {
  std::vector<double> values;
  for (const Record& launch : launches) {
    if (!(launch.*member)) return {};
    values.push_back(*(launch.*member));
  }
  return stats::median(values);
}

std::string choice_of(std::span<const Record> launches) {
  const Record& first = launches.front();
  const bool same = std::all_of(launches.begin(), launches.end(), [&](const Record& launch) {
    return launch.algorithm == first.algorithm && launch.protocol == first.protocol;
  });
  if (!same || first.protocol.empty()) return same ? first.algorithm : std::string();
  return first.algorithm + '/' + first.protocol;
}

void set_range_of_launches(SizePoint& point, std::span<const Record> launches) {
  const auto [low, high] = std::minmax_element(
      launches.begin(), launches.end(),
      [](const Record& a, const Record& b) { return *a.busbw_GBps < *b.busbw_GBps; });
  point.busbw_low = low->busbw_GBps;
  point.busbw_high = high->busbw_GBps;
  point.time_low = high->time_median_us;
  point.time_high = low->time_median_us;
}

/// The interval of a time becomes one of the bandwidth: bandwidth * median / limit.
void set_interval(SizePoint& point, const Record& record) {
  if (!record.time_ci_low_us || !record.time_ci_high_us) return;
  if (*record.time_ci_low_us <= 0) return;
  const double work = *record.busbw_GBps * *record.time_median_us;
  point.busbw_low = work / *record.time_ci_high_us;
  point.busbw_high = work / *record.time_ci_low_us;
  point.time_low = record.time_ci_low_us;
  point.time_high = record.time_ci_high_us;
}

SizePoint point_of(std::span<const Record> launches) {
  SizePoint point{.size = launches.front().size,
                  .busbw_GBps = median_of(launches, &Record::busbw_GBps).value_or(0),
                  .time_us = median_of(launches, &Record::time_median_us).value_or(0),
                  .time_p99_us = median_of(launches, &Record::time_p99_us),
                  .bound_GBps = median_of(launches, &Record::bound_GBps),
                  .choice = choice_of(launches)};
  if (launches.size() > 1) {
    set_range_of_launches(point, launches);
  } else {
    set_interval(point, launches.front());
  }
  return point;
}

std::vector<SizePoint> points_of(const Curve& curve, const PlannedSizes& planned) {
  std::vector<SizePoint> points;
  auto first = curve.points.begin();
  while (first != curve.points.end()) {
    const auto last = std::find_if(first, curve.points.end(),
                                   [&](const Record& r) { return r.size != first->size; });
    SizePoint point = point_of({first, last});
    point.gap_before =
        !points.empty() && planned.missing_between(curve.key, points.back().size, point.size);
    point.in_place_only = first->in_place && !curve.key.in_place;
    points.push_back(point);
    first = last;
  }
  return points;
}

}  // namespace

void keep_collective_rows(std::vector<Dataset>& datasets, PlotPlacement placement) {
  for (Dataset& dataset : datasets) {
    std::erase_if(dataset.records, [&](const Record& record) {
      const bool other =
          placement != PlotPlacement::Both && record.in_place != (placement == PlotPlacement::In);
      return other || record.sender || record.receiver;
    });
  }
}

SizeCurves size_curves(std::vector<Dataset> datasets, PlotPlacement placement) {
  const bool out = placement == PlotPlacement::Out;
  keep_collective_rows(datasets, out ? PlotPlacement::Both : placement);
  const PlannedSizes planned(datasets);
  std::vector<CurveKey> keys;
  SizeCurves result;
  std::vector<Curve> curves = curves_of(datasets);
  if (out) prefer_out_of_place(curves);
  for (const Curve& curve : curves) {
    keys.push_back(curve.key);
    result.curves.push_back({.key = curve.key, .points = points_of(curve, planned)});
  }
  CurveNames names = curve_names(keys);
  const std::vector<PlotStyle> styles = curve_styles(keys);
  for (std::size_t i = 0; i < result.curves.size(); ++i) {
    result.curves[i].title = std::move(names.titles[i]);
    result.curves[i].style = styles[i];
  }
  result.common = std::move(names.common);
  return result;
}

}  // namespace busbar

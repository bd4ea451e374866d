// SPDX-License-Identifier: BSD-3-Clause
#include "stats/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/lists.hpp"

namespace busbar::stats {
namespace {

TimelinePoint join_points(const TimelinePoint& earlier, const TimelinePoint& later) {
  return {.at_s = later.at_s,
          .median_us = std::midpoint(earlier.median_us, later.median_us),
          .p99_us = std::max(earlier.p99_us, later.p99_us)};
}

double join_rates(double earlier, double later) { return std::midpoint(earlier, later); }

/// Neighbours become one; the number of values is even.
template <class Value, class Join>
void halve(std::vector<Value>& values, Join join) {
  for (std::size_t i = 0; 2 * i < values.size(); ++i) {
    values[i] = join(values[2 * i], values[2 * i + 1]);
  }
  values.resize(values.size() / 2);
}

}  // namespace

template <class Value>
template <class Join>
void Timeline::Series<Value>::add(const Value& value, std::size_t most, Join join) {
  waiting.push_back(value);
  if (waiting.size() < together) return;
  while (waiting.size() > 1) halve(waiting, join);
  kept.push_back(waiting.front());
  waiting.clear();
  if (kept.size() < most) return;
  halve(kept, join);
  together *= 2;
}

void Timeline::add(const TimelinePoint& point, std::span<const double> rates) {
  points_.add(point, kMostPoints, join_points);
  for (const double rate : rates) rates_.add(rate, kMostRates, join_rates);
}

void Timeline::add(const Timeline& later, double begin_s) {
  for (TimelinePoint point : later.points()) {
    point.at_s += begin_s;
    add(point, {});
  }
  for (const double rate : later.rates()) rates_.add(rate, kMostRates, join_rates);
}

TimelineEvents find_events(const Timeline& timeline) {
  const auto& points = timeline.points();
  TimelineEvents events{.level = find_level_changes(mapped(points, &TimelinePoint::median_us)),
                        .drift = find_drift(mapped(points, &TimelinePoint::median_us)),
                        .slowdowns = find_slowdowns(timeline.rates())};
  const auto dips = filtered(events.slowdowns.slowdowns, &Slowdown::is_dip);
  events.period = find_period(mapped(dips, &Slowdown::at));
  return events;
}

double highest_error_rate(double checked) {
  constexpr double kMissed = 0.05;
  return checked > 0 ? -std::expm1(std::log(kMissed) / checked) : 1;
}

}  // namespace busbar::stats

// SPDX-License-Identifier: BSD-3-Clause
#include "stats/timeline.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>

#include "base/lists.hpp"
#include "stats/summary.hpp"

namespace busbar::stats {
namespace {

constexpr std::size_t kReference = 30;  // values before
constexpr std::size_t kFewestRates = 60;

using RateSeries = std::span<const double>;

/// How far the logarithm of the time, the inverse of the rate, must rise.
double threshold_of(RateSeries rates) {
  constexpr double kScores = 8;
  std::vector<double> rises;
  for (std::size_t i = kReference; i < rates.size(); ++i) {
    rises.push_back(std::log(median(rates.subspan(i - kReference, kReference)) / rates[i]));
  }
  return std::max(std::log(1.25), kScores * robust_deviation(rises));
}

/// Of the next `most` rates, or all that are left, those that are at least `bound`.
double share_above(RateSeries rates, std::size_t from, std::size_t most, double bound) {
  const RateSeries next = rates.subspan(from, std::min(most, rates.size() - from));
  const std::size_t above = count_of(next, [=](double rate) { return rate >= bound; });
  return static_cast<double>(above) / static_cast<double>(next.size());
}

void follow(RateSeries rates, Slowdown& slowdown) {
  constexpr std::size_t kBefore = 60;
  constexpr std::size_t kWindow = 20;
  constexpr std::size_t kHeld = 100;
  constexpr double kMost = 0.8;
  const std::size_t before = std::min(slowdown.at, kBefore);
  const RateSeries old = rates.subspan(slowdown.at - before, before);
  slowdown.before = median(old);
  const double scatter = robust_deviation(old) / slowdown.before;
  slowdown.tolerance = std::max(0.02, 3 * scatter);
  const double bound = (1 - slowdown.tolerance) * slowdown.before;
  std::size_t from = slowdown.at + slowdown.length;
  const std::size_t last = std::min(rates.size(), slowdown.at + kLongestRecovery);
  for (std::size_t i = slowdown.at; i + kWindow <= last && !slowdown.recovery; ++i) {
    if (rates[i] < bound || share_above(rates, i, kWindow, bound) < kMost) continue;
    slowdown.recovery = i - slowdown.at;
    from = i;
    if (i + kHeld <= rates.size()) slowdown.held = share_above(rates, i, kHeld, bound) >= kMost;
  }
  from = std::min(from, rates.size() - 1);
  slowdown.settled = median(rates.subspan(from, std::min(kHeld, rates.size() - from)));
}

/// The slowdown that begins here: it goes on until half of the threshold.
Slowdown slowdown_at(RateSeries rates, std::size_t at, double reference, double threshold) {
  const double high = reference / std::exp(threshold / 2);
  Slowdown slowdown{.at = at, .lowest = rates[at]};
  std::size_t end = at;
  for (; end < rates.size() && end - at < kLongestRecovery && rates[end] < high; ++end) {
    slowdown.lowest = std::min(slowdown.lowest, rates[end]);
  }
  slowdown.length = end - at;
  follow(rates, slowdown);
  return slowdown;
}

}  // namespace

SlowdownScan find_slowdowns(std::span<const double> rates) {
  if (rates.size() < kFewestRates) {
    return {.least = -std::expm1(-std::log(1.25)), .needed = kFewestRates};
  }
  const double threshold = threshold_of(rates);
  SlowdownScan scan{.least = -std::expm1(-threshold)};
  for (std::size_t i = kReference; i < rates.size(); ++i) {
    const double reference = median(rates.subspan(i - kReference, kReference));
    if (rates[i] >= reference / std::exp(threshold)) continue;
    scan.slowdowns.push_back(slowdown_at(rates, i, reference, threshold));
    i += scan.slowdowns.back().length - 1;
  }
  return scan;
}

std::optional<EventPeriod> find_period(std::span<const std::size_t> events) {
  constexpr std::size_t kFewest = 4;
  constexpr double kChance = 0.01;
  constexpr double kNear = 0.1;
  if (events.size() < kFewest) return std::nullopt;
  std::vector<double> gaps;
  for (std::size_t i = 1; i < events.size(); ++i) {
    gaps.push_back(static_cast<double>(events[i] - events[i - 1]));
  }
  const double period = median(gaps);
  if (period <= 0) return std::nullopt;
  std::complex<double> sum;
  for (const std::size_t event : events) {
    sum += std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(event) / period);
  }
  const auto count = static_cast<double>(events.size());
  if (std::exp(-std::norm(sum) / count) >= kChance) return std::nullopt;
  return EventPeriod{
      .length = period,
      .on_time =
          count_of(gaps, [=](double gap) { return std::abs(gap - period) <= kNear * period; }),
      .gaps = gaps.size()};
}

namespace {

TimelinePoint joined(const TimelinePoint& earlier, const TimelinePoint& later) {
  return {.at_s = later.at_s,
          .median_us = std::midpoint(earlier.median_us, later.median_us),
          .p99_us = std::max(earlier.p99_us, later.p99_us)};
}

double joined(double earlier, double later) { return std::midpoint(earlier, later); }

/// Neighbours become one; the number of values is even.
template <class Value>
void halve(std::vector<Value>& values) {
  for (std::size_t i = 0; 2 * i < values.size(); ++i) {
    values[i] = joined(values[2 * i], values[2 * i + 1]);
  }
  values.resize(values.size() / 2);
}

}  // namespace

template <class Value>
void Timeline::Series<Value>::add(const Value& value, std::size_t most) {
  waiting.push_back(value);
  if (waiting.size() < together) return;
  while (waiting.size() > 1) halve(waiting);
  kept.push_back(waiting.front());
  waiting.clear();
  if (kept.size() < most) return;
  halve(kept);
  together *= 2;
}

void Timeline::add(const TimelinePoint& point, std::span<const double> rates) {
  points_.add(point, kMostPoints);
  for (const double rate : rates) rates_.add(rate, kMostRates);
}

void Timeline::add(const Timeline& later, double begin_s) {
  for (TimelinePoint point : later.points()) {
    point.at_s += begin_s;
    add(point, {});
  }
  for (const double rate : later.rates()) rates_.add(rate, kMostRates);
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

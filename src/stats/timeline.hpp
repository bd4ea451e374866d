// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "stats/level_changes.hpp"
#include "stats/slowdowns.hpp"

namespace busbar::stats {

/// An interval of a long run, as far as its events are found from it.
struct TimelinePoint {
  double at_s = 0;  ///< its end, from the run's begin
  double median_us = 0;
  double p99_us = 0;
};

/// A run of any length in less than kMostPoints intervals and kMostRates rates of shorter parts:
/// where there would be more, neighbours become one.
class Timeline {
 public:
  static constexpr std::size_t kMostPoints = 4096;
  static constexpr std::size_t kMostRates = std::size_t{1} << 20;  // 29 h of parts of 0.1 s
  static constexpr double kPartSeconds = 0.1;

  /// Adds an interval and the rates of its parts.
  void add(const TimelinePoint& point, std::span<const double> rates);
  /// Adds another run, which began at `begin_s`.
  void add(const Timeline& later, double begin_s);

  [[nodiscard]] const std::vector<TimelinePoint>& points() const { return points_.kept; }
  [[nodiscard]] const std::vector<double>& rates() const { return rates_.kept; }
  /// The length of the parts that the rates are of.
  [[nodiscard]] double part_s() const {
    return static_cast<double>(rates_.together) * kPartSeconds;
  }

 private:
  template <class Value>
  struct Series {
    std::vector<Value> kept{};
    std::vector<Value> waiting{};  ///< until `together` of them become one
    std::size_t together = 1;

    template <class Join>
    void add(const Value& value, std::size_t most, Join join);
  };

  Series<TimelinePoint> points_;
  Series<double> rates_;
};

/// What happened in a run, each by the method of its own; none is a fault by itself.
struct TimelineEvents {
  LevelScan level{};  ///< of the intervals' medians
  Drift drift{};
  SlowdownScan slowdowns{};             ///< of the parts' rates
  std::optional<EventPeriod> period{};  ///< of the dips among them
};
[[nodiscard]] TimelineEvents find_events(const Timeline& timeline);

/// The highest probability of an error that none in `checked` is compatible with at 95 %:
/// 1 - 0.05^(1 / n), about 3 / n.
[[nodiscard]] double highest_error_rate(double checked);

}  // namespace busbar::stats

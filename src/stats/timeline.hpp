// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace busbar::stats {

/// A series of times has one level before a value and another from there on.
struct LevelChange {
  std::size_t at = 0;  ///< the first value of the new level
  double before = 0;   ///< median since the change before
  double after = 0;    ///< median until the next change
};

/// The changes of a series' level, and which ones could not be found.
struct LevelScan {
  std::vector<LevelChange> changes{};
  /// Smaller changes cannot be distinguished from the variation about the levels; 0.03: 3 %.
  double least = 0;
  std::size_t needed = 0;  ///< not judged: so many values are needed; 0: judged
};

/// Lasting changes of 3 % and more, by two methods that miss different ones: a Wilcoxon scan with
/// long-run variance (Dehling, Fried, Garcia & Wendler), which splits the series where the sum of
/// its ranks is farthest from 0, and the medians of two windows that move over the series (MOSUM),
/// which see what comes and goes. Rates of false alarms: docs/measurement.md.
[[nodiscard]] LevelScan find_level_changes(std::span<const double> times);

/// A steady rise or fall of a whole series.
struct Drift {
  bool found = false;
  double total = 0;        ///< from the beginning to the end; 0.05: 5 % longer
  double least = 0;        ///< a smaller one cannot be detected
  std::size_t needed = 0;  ///< as LevelScan's
};

/// By the Theil-Sen slope of 16 medians of batches.
[[nodiscard]] Drift find_drift(std::span<const double> times);

/// What has not come back after so many values stays.
inline constexpr std::size_t kLongestRecovery = 6000;

/// A rate falls suddenly. Lengths are in values of the series: 10 of 0.1 s are 1 s.
struct Slowdown {
  static constexpr std::size_t kLongestDip = 15;

  std::size_t at = 0;      ///< its first value
  std::size_t length = 0;  ///< until the rate is near the one before
  double before = 0;       ///< median of the 60 rates before
  double lowest = 0;       ///< rate
  double tolerance = 0;    ///< share of `before` by which a recovered rate may be lower
  /// From its first value to the first that is back, as 80 % of the 20 from there are; nothing
  /// where none is before the series ends, or within kLongestRecovery.
  std::optional<std::size_t> recovery{};
  /// Whether 80 % of the 100 from there are back as well; nothing where the series ends before.
  std::optional<bool> held{};
  double settled = 0;  ///< median of up to 100 rates from the recovery, or from the end of the fall

  /// What lasts longer may be a change of level.
  [[nodiscard]] bool is_dip() const { return length <= kLongestDip; }
};

/// The slowdowns of a series of rates, and which ones could not be found.
struct SlowdownScan {
  std::vector<Slowdown> slowdowns{};
  double least = 0;        ///< what falls by less than this share is not detected; 0.2: 20 %
  std::size_t needed = 0;  ///< not judged: so many values are needed; 0: judged
};

/// What falls below the median of the 30 values before by a factor of 1.25, and by 8 standard
/// deviations of the series' own changes.
[[nodiscard]] SlowdownScan find_slowdowns(std::span<const double> rates);

/// Events that come again and again.
struct EventPeriod {
  double length = 0;        ///< in values of the series
  std::size_t on_time = 0;  ///< gaps within 10 % of it
  std::size_t gaps = 0;
};

/// The period of at least four events, in ascending order, by Rayleigh's test of their phases; the
/// median gap is the period that is tried.
[[nodiscard]] std::optional<EventPeriod> find_period(std::span<const std::size_t> events);

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

    void add(const Value& value, std::size_t most);
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

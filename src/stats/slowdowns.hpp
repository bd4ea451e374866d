// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace busbar::stats {

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

}  // namespace busbar::stats

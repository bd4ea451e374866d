// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace busbar {

/// Visits without --visits.
inline constexpr std::uint64_t kMixVisits = 12;
/// Fewer have no interval.
inline constexpr std::uint64_t kFewestMixVisits = 6;

/// Of a group in a window, so that there is a median.
inline constexpr double kFewestMixOperations = 5;

/// How often the operations of a group come; the same on every rank.
struct GroupPace {
  double start_us = 0;
  double gap_us = 0;
  double time_us = 0;  ///< of one operation, as far as is known
  std::uint64_t operations = 0;

  /// As many operations as fit in a window; at least a few.
  [[nodiscard]] std::uint64_t that_fit(double window_us) const;
};

/// An operation of a group of the mix.
struct Issue {
  std::size_t group = 0;
  std::uint64_t operation = 0;

  [[nodiscard]] bool operator==(const Issue&) const = default;
};

/// All operations of a window by the time at which they are due. Every rank issues those of its own
/// groups in this one order: no two ranks ever issue operations of two communicators in opposite
/// orders, which NCCL and blocking calls would wait on for ever.
[[nodiscard]] std::vector<Issue> order_of_issue(std::span<const GroupPace> paces);

/// Start and time of each operation of a group.
struct GroupTimes {
  std::vector<double> start_us{};
  std::vector<double> time_us{};
};

/// Of each group the times of those operations that ran while all groups were at work: when the
/// first is done, the others have the links to themselves.
[[nodiscard]] std::vector<std::vector<double>> shared_times(std::span<const GroupTimes> groups);

/// By which factor something takes longer together than alone.
struct MixSlowdown {
  double factor = 1;  ///< median of the visits' ratios
  double low = 1;     ///< of its exact 95 % interval, as if visits were independent
  double high = 1;
};

/// From one value of each visit; both have as many, kFewestMixVisits at least.
[[nodiscard]] MixSlowdown slowdown_of(std::span<const double> alone,
                                      std::span<const double> together);

}  // namespace busbar

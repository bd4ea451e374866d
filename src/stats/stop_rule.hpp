// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>

#include "base/enum_names.hpp"
#include "stats/median_interval.hpp"

namespace busbar::stats {

/// Why a row has no more samples; None while it goes on, Count where the user gave `-n N`, Visits
/// where all visits are made, Duration where --duration is over, Interrupted where a signal ended
/// it.
enum class StopReason {
  None,
  CiWidth,
  MaxSamples,
  TimeBudget,
  Count,
  Visits,
  Duration,
  Interrupted
};

/// The spelling in the CSV.
constexpr auto enum_names(StopReason) {
  return std::array{Named{StopReason::None, ""},
                    Named{StopReason::CiWidth, "ci-width"},
                    Named{StopReason::MaxSamples, "max-samples"},
                    Named{StopReason::TimeBudget, "time-budget"},
                    Named{StopReason::Count, "count"},
                    Named{StopReason::Visits, "visits"},
                    Named{StopReason::Duration, "duration"},
                    Named{StopReason::Interrupted, "interrupted"}};
}

/// When to stop measuring a row; the first limit that is met counts.
struct StopLimits {
  double ci_width = 0.02;  ///< largest half width of the median's interval, as a fraction
  std::size_t min_samples = 50;
  std::size_t max_samples = 500;
  double time_budget_s = 3.0;  ///< of the whole row
};

/// The limits of each of that many visits of a row: its share of the time and of twice the least
/// samples, after which most rows stop, with a width that all together make narrow enough.
[[nodiscard]] StopLimits share_of(const StopLimits& limits, std::size_t visits);

/// Why a row whose visits took `spent_s` needs no more of the `planned` ones, or None: its interval
/// is narrow after three quarters of them, or the budget is spent after kFewestVisits or the first.
[[nodiscard]] StopReason decide_visits(VisitSamples visits, std::size_t planned,
                                       const StopLimits& limits, double spent_s);

/// Decides, on one rank, whether a row has enough samples; the caller broadcasts the decision.
class StopRule {
 public:
  explicit StopRule(const StopLimits& limits);

  /// Looks at the interval at min_samples, at 1.5 times the samples of the last look, and at
  /// max_samples; at the budget always. `elapsed_s` is of the whole row.
  [[nodiscard]] StopReason decide(std::span<const double> samples, double elapsed_s);

  /// How many more samples until the next look, at least 1.
  [[nodiscard]] std::size_t until_next_look(std::size_t samples_so_far) const;

 private:
  StopLimits limits_;
  std::size_t next_look_;
};

/// True when the medians of two successive warm-up windows differ by less than `tolerance` of the
/// smaller one; an empty window is never steady.
[[nodiscard]] bool is_steady(std::span<const double> previous, std::span<const double> current,
                             double tolerance = 0.05);

}  // namespace busbar::stats

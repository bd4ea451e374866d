// SPDX-License-Identifier: BSD-3-Clause
#include "stats/stop_rule.hpp"

#include <cmath>

#include "stats/summary.hpp"

namespace busbar::stats {
namespace {

/// A narrow interval is believed only from this many independent samples on. A quiet series is
/// narrow from its first answer on, and 50 samples of true time 66 can pass for uncorrelated:
/// coverage is 95.2 % with this rule and 93.0 % without it.
constexpr double kFewestIndependentToStop = 10;

bool is_narrow(std::span<const double> samples, double ci_width) {
  const auto interval = median_interval(samples);
  return interval && interval->half_width <= ci_width &&
         static_cast<double>(samples.size()) >= kFewestIndependentToStop * interval->iact;
}

}  // namespace

StopLimits share_of(const StopLimits& limits, std::size_t visits) {
  const auto share = [visits](std::size_t samples) { return (samples + visits - 1) / visits; };
  const auto count = static_cast<double>(visits);
  return {.ci_width = limits.ci_width * std::sqrt(count),
          .min_samples = share(2 * limits.min_samples),
          .max_samples = share(limits.max_samples),
          .time_budget_s = limits.time_budget_s / count};
}

StopReason decide_visits(VisitSamples visits, std::size_t planned, const StopLimits& limits,
                         double spent_s) {
  if (visits.size() >= planned) return StopReason::Visits;
  // Two or three visits give no interval: a row for which the budget is too small has one.
  const bool may_end = visits.size() == 1 || visits.size() >= kFewestVisits;
  if (may_end && spent_s >= limits.time_budget_s) return StopReason::TimeBudget;
  // An interval that is narrow by luck after half of many visits is of half of the run.
  if (4 * visits.size() < 3 * planned) return StopReason::None;
  const auto interval = run_interval(visits);
  const bool narrow = interval && interval->half_width <= limits.ci_width;
  return narrow ? StopReason::CiWidth : StopReason::None;
}

StopRule::StopRule(const StopLimits& limits)
    : limits_(limits),
      next_look_(std::min(std::max<std::size_t>(limits.min_samples, 1), limits.max_samples)) {}

StopReason StopRule::decide(std::span<const double> samples, double elapsed_s) {
  const std::size_t count = samples.size();
  if (count >= next_look_) {
    // Every look is a chance to stop on a series that is narrow by luck; few looks, few such stops.
    next_look_ = std::min(count + (count + 1) / 2, limits_.max_samples);
    if (is_narrow(samples, limits_.ci_width)) return StopReason::CiWidth;
  }
  if (count >= limits_.max_samples) return StopReason::MaxSamples;
  if (elapsed_s >= limits_.time_budget_s) return StopReason::TimeBudget;
  return StopReason::None;
}

std::size_t StopRule::until_next_look(std::size_t samples_so_far) const {
  return next_look_ > samples_so_far ? next_look_ - samples_so_far : 1;
}

bool is_steady(std::span<const double> previous, std::span<const double> current,
               double tolerance) {
  if (previous.empty() || current.empty()) return false;
  const double before = median(previous);
  const double after = median(current);
  return before == after ||
         std::abs(after - before) < tolerance * std::min(std::abs(before), std::abs(after));
}

}  // namespace busbar::stats

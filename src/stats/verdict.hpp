// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>

#include "base/enum_names.hpp"
#include "stats/rank_tests.hpp"

namespace busbar::stats {

enum class Verdict { Faster, Slower, Same, CannotTell };

constexpr auto enum_names(Verdict) {
  return std::array{Named{Verdict::Faster, "faster"}, Named{Verdict::Slower, "slower"},
                    Named{Verdict::Same, "same"}, Named{Verdict::CannotTell, "cannot tell"}};
}

/// Below the 5 % of rows without a difference that may have a verdict: what launches at one time
/// have in common makes all rows of a comparison wrong together. Four launches each can still reach
/// it.
inline constexpr double kVerdictLevel = 0.03;

/// The smallest difference of two settings that matters, unless the user gives another: 1 %.
inline constexpr double kSettingThreshold = 0.01;

/// A ratio of times with its interval: slower where both and p say so and the ratio is above
/// 1 + threshold; the same where the whole interval is within the threshold.
[[nodiscard]] constexpr Verdict verdict_of(double ratio, const Interval& interval, double p,
                                           double threshold) {
  const double most = 1 + threshold;
  const double least = 1 / most;
  if (p < kVerdictLevel && interval.low > 1 && ratio > most) return Verdict::Slower;
  if (p < kVerdictLevel && interval.high < 1 && ratio < least) return Verdict::Faster;
  const bool within = interval.low >= least && interval.high <= most;
  return within ? Verdict::Same : Verdict::CannotTell;
}

}  // namespace busbar::stats

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
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

}  // namespace busbar::stats

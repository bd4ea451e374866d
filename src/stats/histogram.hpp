// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace busbar {

/// Shares of values in bins that are equally wide in their logarithm.
struct Histogram {
  std::vector<double> edges{};  ///< one more than bins, rising; none: nothing to show
  std::vector<double> share{};  ///< per bin, of all values
  std::size_t beyond = 0;       ///< values above the last edge, which is then the 99th percentile

  /// Share per unit of the logarithm: percent of the values per percent of a value.
  [[nodiscard]] double density(std::size_t bin) const;
};

/// Bins as narrow as the densest half of the values allows, so that two modes do not become one:
/// the width is Freedman and Diaconis' (1981) with the shortest half in place of the range between
/// the quartiles, which two modes would widen. At least sqrt(n) bins, at most 100. The slowest
/// hundredth is counted as `beyond` where it would take more than half of the axis. Empty where a
/// value is not finite and above 0.
[[nodiscard]] Histogram log_histogram(std::span<const double> values);

}  // namespace busbar

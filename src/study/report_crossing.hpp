// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "base/units.hpp"

namespace busbar {

/// A rate at a size.
struct SizedRate {
  Bytes size = 0;
  double GBps = 0;
};

/// Where the lead passes from one of two curves to the other: beyond `after`, at `until` at the
/// latest.
struct Crossing {
  Bytes after = 0;           ///< the last size at which the old leader leads
  Bytes until = 0;           ///< the first at which the new one does
  bool first_leads = false;  ///< the first curve leads from here on
};

/// What two rates must differ by, as a share of the greater, for one to lead; below it they are
/// level.
inline constexpr double kLevel = 0.02;

/// -1, 0 or 1: the second leads, level, the first leads.
[[nodiscard]] int leader(double first_GBps, double second_GBps, double level = kLevel);

/// All changes of the lead over the sizes that both curves have; nothing is interpolated. Both are
/// by rising size, each size once.
[[nodiscard]] std::vector<Crossing> crossings(std::span<const SizedRate> first,
                                              std::span<const SizedRate> second,
                                              double level = kLevel);

/// Sizes that both have, rising.
[[nodiscard]] std::vector<Bytes> common_sizes(std::span<const SizedRate> first,
                                              std::span<const SizedRate> second);

}  // namespace busbar

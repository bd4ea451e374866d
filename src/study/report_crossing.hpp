// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/units.hpp"

namespace busbar {

/// A rate at a size.
struct SizedRate {
  Bytes size = 0;
  double GBps = 0;
  bool in_place = false;  ///< measured in place only, on a curve out of place
};

/// Where the lead passes from one of several curves to another: beyond `after`, at `until` at the
/// latest.
struct Crossing {
  Bytes after = 0;        ///< the last size at which the old leader leads
  Bytes until = 0;        ///< the first at which the new one does
  std::size_t loser = 0;  ///< numbers of the curves
  std::size_t winner = 0;
};

/// What two rates must differ by, as a share of the greater, for one to lead; below it they are
/// level.
inline constexpr double kLevel = 0.02;

/// -1, 0 or 1: the second leads, level, the first leads.
[[nodiscard]] int leader(double first_GBps, double second_GBps, double level = kLevel);

/// All changes of the lead of all curves, at sizes that the leader and another curve have; nothing
/// is interpolated. Each curve is by rising size, each size once.
[[nodiscard]] std::vector<Crossing> crossings(std::span<const std::vector<SizedRate>> curves,
                                              double level = kLevel);

}  // namespace busbar

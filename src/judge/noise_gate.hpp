// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>

namespace busbar::judge {

/// Sample standard deviation (n - 1) over mean; nothing for fewer than two values.
[[nodiscard]] std::optional<double> variation_of(std::span<const double> values);

/// Two groups of values, each of at least two, that are further apart than either is wide and than
/// 1 % of the middle.
struct TwoGroups {
  std::size_t low = 0;   ///< values in the lower group
  std::size_t high = 0;  ///< and in the upper
  double low_middle = 0;
  double high_middle = 0;
};

/// Nothing where there is one group, or fewer than four values.
[[nodiscard]] std::optional<TwoGroups> two_groups_of(std::span<const double> values);

}  // namespace busbar::judge

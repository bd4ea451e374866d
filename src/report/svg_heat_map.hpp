// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace busbar {

/// A pair of members, which are numbers from 0.
struct HeatCell {
  std::size_t first = 0;
  std::size_t second = 0;
  std::optional<double> value{};  ///< empty: no data, which is a white cell with a point
  bool failed = false;            ///< hatched
  std::string verdict{};
};

/// Pairs as a square that mirrors at its diagonal, which stays blank.
struct HeatMap {
  std::string title{};
  std::string unit{};
  std::vector<std::string> labels{};  ///< of the members, in their order
  std::vector<HeatCell> cells{};
  std::vector<bool> suspects{};       ///< per member: its line is framed
  double top = 1;                     ///< the value of the darkest colour; the lightest is 0
  std::optional<double> reference{};  ///< told by the legend
  std::optional<double> floor{};      ///< as above
};

/// The map as one SVG element. Up to 16 members cells have their figures, above only failed ones'
/// hatching; every cell has words for a pointer.
[[nodiscard]] std::string svg_heat_map(const HeatMap& map);

}  // namespace busbar

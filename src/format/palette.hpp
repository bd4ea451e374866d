// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

namespace busbar {

/// How a curve looks; the numbers are gnuplot's.
struct CurveStyle {
  int colour = 0;    ///< 0xRRGGBB
  int point = 7;     ///< a filled shape; the number below is the same shape, hollow
  int dash = 1;      ///< 1 is a solid line
  double width = 0;  ///< 0: as the kind of curve has it

  [[nodiscard]] bool operator==(const CurveStyle&) const = default;
};

/// The styles of the systems of one figure or page; the same systems look alike in all of them. The
/// systems of arXiv 1905.08764 keep its colours and shapes under any of their names (green diamond
/// DGX-2, blue square AC922, orange triangle DGX-1V and P3, red circle of the 2080 Ti box); others
/// take, in the order of their names, what is free of the colours. No two systems look alike, and
/// up to eight have colours of their own.
class Palette {
 public:
  explicit Palette(std::span<const std::string> systems);

  /// The style of a system's line number `line` (from 0). The first has the system's style; further
  /// ones have another shape and other dashes, and another colour where no other system has one.
  /// Simulated lines are always dashed. An unknown system gets the first style that no paper has.
  [[nodiscard]] CurveStyle of(const std::string& system, std::size_t line = 0,
                              bool simulated = false) const;

 private:
  std::map<std::string, std::size_t> places_{};  ///< in the table of styles, and beyond it
};

/// The colour of a share of a scale from 0 to 1, dark to light: cividis.
[[nodiscard]] int scale_colour(double share);

/// The same scale for gnuplot's `set palette defined`.
[[nodiscard]] std::string scale_definition();

}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "report/svg_canvas.hpp"

namespace busbar {

/// How a line looks: by colour and by shape, and by dashes where a system has several lines.
struct SeriesStyle {
  std::string_view colour{};  ///< "#rrggbb"
  Marker marker = Marker::Circle;
  int dash = 0;  ///< 0 is a whole line; 1 and 2 are other dashes

  [[nodiscard]] bool operator==(const SeriesStyle&) const = default;
};

/// The styles of the systems of one figure or page; the same systems look alike in all of them. The
/// systems of arXiv 1905.08764 keep its colours and shapes under any of their names (green diamond
/// DGX-2, blue square AC922, orange triangle DGX-1V and P3, red circle of the 2080 Ti box); others
/// take, in the order of their names, what is free of the colours. No two systems look alike, and
/// up to eight have colours of their own.
class SeriesStyles {
 public:
  explicit SeriesStyles(std::span<const std::string> systems);

  /// Of a system's line number `line` (from 0). The first has the system's style; further ones have
  /// another shape and other dashes, and another colour where no other system has one. An unknown
  /// system gets the first style that no paper has.
  [[nodiscard]] SeriesStyle of(const std::string& system, std::size_t line = 0) const;

 private:
  std::map<std::string, std::size_t> places_{};  ///< in the table of styles, and beyond it
};

}  // namespace busbar

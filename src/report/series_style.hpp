// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "report/svg_canvas.hpp"

namespace busbar {

/// How a system looks in every picture of a page: by colour and by shape.
struct SeriesStyle {
  std::string_view colour{};
  Marker marker = Marker::Circle;
};

/// A style for each system, in their order. Systems of arXiv 1905.08764 keep its colours and shapes
/// (green diamond DGX-2, blue square AC922, orange triangle DGX-1V and P3dn, red circle of the 2080
/// Ti box); others take what is free of Okabe and Ito's colours, so no two look alike up to eight.
[[nodiscard]] std::vector<SeriesStyle> series_styles(std::span<const std::string> systems);

}  // namespace busbar

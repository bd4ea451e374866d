// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "format/chart.hpp"

namespace busbar {

/// @name A chart as a gnuplot script that has its data in it and needs nothing beside it. Text is
/// quoted, so that no name is a command. The same chart gives the same bytes.
/// @{
/// Draws `out`, by its ending an SVG or a PNG; where `out` is not set, NAME.svg.
[[nodiscard]] std::string chart_script(const Chart& chart);
/// Draws an SVG without the title to stdout: a page has its own words around it.
[[nodiscard]] std::string page_chart_script(const Chart& chart);

/// The size of a text drawing, in characters.
struct TextSize {
  int columns = 100;
  int lines = 32;
};
/// Draws text to stdout.
[[nodiscard]] std::string text_chart_script(const Chart& chart, TextSize size);
/// @}

}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "format/document.hpp"

namespace busbar {

/// What a script draws.
enum class ChartForm {
  File,  ///< `out`, by its ending an SVG or a PNG; where `out` is not set, NAME.svg
  Page,  ///< an SVG without the title to stdout: a page has its own words around it
  Text   ///< text to stdout
};

/// The size of a text drawing, in characters.
struct TextSize {
  int columns = 100;
  int lines = 32;
};

/// A chart as a gnuplot script that has its data in it and needs nothing beside it. Text is quoted,
/// so that no name is a command. The same chart gives the same bytes.
[[nodiscard]] std::string chart_script(const Chart& chart, ChartForm form = ChartForm::File,
                                       TextSize size = {});

/// Throws Error (Unavailable) where there is no gnuplot.
void require_gnuplot();

/// Runs a script of chart_script for a .svg or .png picture. Throws Error (Runtime) where gnuplot
/// fails; then there is no picture.
void draw_script(const std::filesystem::path& script, const std::filesystem::path& picture);

/// The chart as text. Throws Error (Runtime) where gnuplot fails.
[[nodiscard]] std::string draw_text(const Chart& chart, TextSize size);

/// Draws all charts of a document, with a time limit. Charts that cannot be drawn are left out, and
/// a warning on the page says so and what to install.
void draw_charts(Document& document);

}  // namespace busbar

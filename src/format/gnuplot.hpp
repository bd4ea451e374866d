// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <filesystem>
#include <string>

#include "format/chart_script.hpp"
#include "format/document.hpp"

namespace busbar {

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

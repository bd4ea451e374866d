// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/plot_figure.hpp"
#include "study/plot_input.hpp"
#include "study/plot_pairs.hpp"

namespace busbar {

/// What is drawn, and of which rows.
struct PlotWishes {
  std::vector<std::string> figures{};  ///< names; none: all that the data allow
  PlotPlacement placement = PlotPlacement::Out;
  std::optional<Bytes> size{};  ///< of scaling, pairs, samples and history
  std::optional<PlotLimits> limits{};
  std::optional<bool> log_y{};  ///< of bandwidths; empty: by the curves
};

/// Names of all figures, in their order.
[[nodiscard]] std::vector<std::string> figure_names();

/// The figures that are wished. Throws Error (Usage) where one that was named cannot be drawn, or
/// none at all: the message says what is missing.
[[nodiscard]] std::vector<PlotFigure> make_figures(PlotInput input, const PlotWishes& wishes);

}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/chart.hpp"
#include "study/dataset.hpp"
#include "study/plot_pairs.hpp"
#include "study/plot_samples.hpp"

namespace busbar {

/// A file, and the name that the user gives what is in it; empty where there is none.
struct LabelledPath {
  std::string label{};
  std::string path{};
};

/// LABEL=FILE or FILE. A file may have "=" in its name: one that exists is taken whole.
[[nodiscard]] LabelledPath labelled_path(const std::string& word);

/// What the files of a plot hold.
struct PlotInput {
  std::vector<Dataset> datasets{};
  std::vector<SampleSet> samples{};
};

/// Reads FILE or LABEL=FILE: a CSV of rows, or one of --samples. Throws Error (Usage).
[[nodiscard]] PlotInput load_plot_input(std::span<const std::string> words);

/// What is drawn, and of which rows.
struct PlotRequest {
  std::vector<std::string> figures{};  ///< names; none: all that the data allow
  PlotPlacement placement = PlotPlacement::Out;
  std::optional<Bytes> size{};         ///< of scaling, pairs, samples and history
  std::optional<ChartRange> limits{};  ///< of the colours of pairs, in GB/s
  std::optional<bool> log_y{};         ///< of bandwidths; empty: by the curves
};

/// Names of all figures, in their order.
[[nodiscard]] std::vector<std::string> figure_names();

/// The figures that are requested. Throws Error (Usage) where one that was named cannot be drawn,
/// or none at all: the message says what is missing.
[[nodiscard]] std::vector<Chart> make_figures(const PlotInput& input, const PlotRequest& request);

}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot_figures.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.hpp"
#include "study/plot_history.hpp"
#include "study/plot_size_figures.hpp"

namespace busbar {
namespace {

/// The input, prepared once for all figures.
struct Prepared {
  PlotInput input{};
  SizeCurves curves{};
};

struct FigureMaker {
  std::string_view name;
  std::string_view needs;  ///< what is missing where it cannot be drawn
  PlotFigure (*make)(const Prepared& prepared, const PlotWishes& wishes);
};

constexpr std::string_view kNeedsRows =
    "rows with status ok, a bus bandwidth and the wanted --placement, of 2 ranks or more";

constexpr std::array kMakers{
    FigureMaker{
        "busbw", kNeedsRows,
        [](const Prepared& p, const PlotWishes& w) { return busbw_figure(p.curves, w.log_y); }},
    FigureMaker{"share", "rows with bound_GBps, which host memory and GPUs with known links have",
                [](const Prepared& p, const PlotWishes&) { return share_figure(p.curves); }},
    FigureMaker{"latency", kNeedsRows,
                [](const Prepared& p, const PlotWishes&) { return latency_figure(p.curves); }},
    FigureMaker{"scaling", "one system's rows of two numbers of ranks at one size",
                [](const Prepared& p, const PlotWishes& w) {
                  return scaling_figure(p.curves, w.size, w.log_y);
                }},
    FigureMaker{"pairs", "rows of pairs, which sendrecv_perf --pairs all writes",
                [](const Prepared& p, const PlotWishes& w) {
                  return pairs_figure(p.input.datasets, w.size, w.limits);
                }},
    FigureMaker{"samples", "a CSV that --samples wrote, with the wanted --placement and --size",
                [](const Prepared& p, const PlotWishes& w) {
                  return samples_figure(p.input.samples, w.placement, w.size);
                }},
    FigureMaker{"histogram", "a CSV that --samples wrote, with 30 samples of a size or more",
                [](const Prepared& p, const PlotWishes& w) {
                  return histogram_figure(p.input.samples, w.placement, w.size);
                }},
    FigureMaker{"history", "CSVs of one system and number of ranks that started at two times",
                [](const Prepared& p, const PlotWishes& w) {
                  std::vector<Dataset> datasets = p.input.datasets;
                  label_all_by_hosts(datasets);
                  return history_figure(std::move(datasets), w.placement, w.size, w.log_y);
                }},
};

bool is_wished(const PlotWishes& wishes, std::string_view name) {
  return wishes.figures.empty() ||
         std::find(wishes.figures.begin(), wishes.figures.end(), name) != wishes.figures.end();
}

}  // namespace

std::vector<std::string> figure_names() {
  std::vector<std::string> names;
  for (const FigureMaker& maker : kMakers) names.emplace_back(maker.name);
  return names;
}

std::vector<PlotFigure> make_figures(PlotInput input, const PlotWishes& wishes) {
  Prepared prepared{.input = std::move(input)};
  std::vector<Dataset> named = prepared.input.datasets;
  label_by_hosts(named);
  prepared.curves = size_curves(std::move(named), wishes.placement);
  std::vector<PlotFigure> figures;
  for (const FigureMaker& maker : kMakers) {
    if (!is_wished(wishes, maker.name)) continue;
    PlotFigure figure = maker.make(prepared, wishes);
    if (!figure.empty()) {
      figures.push_back(std::move(figure));
    } else if (!wishes.figures.empty()) {
      throw usage_error(fmt::format("--figure {}: the files lack {}", maker.name, maker.needs));
    }
  }
  if (figures.empty()) {
    throw usage_error(fmt::format("nothing to draw: the files lack {}", kNeedsRows));
  }
  return figures;
}

}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot_figures.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "model/row_key.hpp"
#include "study/plot_history.hpp"
#include "study/plot_size_figures.hpp"

namespace busbar {
namespace {

namespace fs = std::filesystem;

std::string stem_of(const std::string& path) { return fs::path(path).stem().string(); }

/// Neither the head nor the user named a system.
bool is_unnamed(const Dataset& dataset) {
  return dataset.fact("system").empty() && dataset.label == stem_of(dataset.path);
}

/// "node1", "node1 and 3 more", or nothing where the head does not name it.
std::string hosts_of(const Dataset& dataset) {
  std::vector<std::string> hosts;
  for (const std::string& host : split(dataset.fact("hosts"), ' ')) {
    const std::string name(trim(host.substr(0, host.find(','))));
    if (!name.empty()) hosts.push_back(name);
  }
  if (hosts.empty()) return {};
  return hosts.size() == 1 ? hosts.front()
                           : fmt::format("{} and {} more", hosts.front(), hosts.size() - 1);
}

/// A row with its backend and devices; roots and groups are not distinguished.
using MeasuredRow = std::tuple<std::string, std::string, RowKey>;

std::set<MeasuredRow> rows_of(const Dataset& dataset) {
  std::set<MeasuredRow> rows;
  for (const Record& record : dataset.records) {
    RowKey key = row_key(record);
    key.root.reset();
    key.group.reset();
    rows.emplace(record.backend, record.device_set, std::move(key));
  }
  return rows;
}

/// Files of one name in different folders keep the folder's name.
void tell_stems_apart(std::vector<Dataset>& datasets) {
  std::map<std::string, std::set<std::string>> paths;
  for (const Dataset& dataset : datasets) {
    if (is_unnamed(dataset)) paths[dataset.label].insert(dataset.path);
  }
  for (Dataset& dataset : datasets) {
    if (!is_unnamed(dataset) || paths[dataset.label].size() < 2) continue;
    dataset.label = fs::path(dataset.path).replace_extension().string();
  }
}

/// The input, prepared once for all figures.
struct Prepared {
  PlotInput input{};
  SizeCurves curves{};
};

struct FigureMaker {
  std::string_view name;
  std::string_view needs;  ///< what is missing where it cannot be drawn
  Chart (*make)(const Prepared& prepared, const PlotRequest& request);
};

constexpr std::string_view kNeedsRows =
    "rows with status ok, a bus bandwidth and the wanted --placement, of 2 ranks or more";

constexpr std::array kMakers{
    FigureMaker{
        "busbw", kNeedsRows,
        [](const Prepared& p, const PlotRequest& w) { return busbw_figure(p.curves, w.log_y); }},
    FigureMaker{"share", "rows with bound_GBps, which host memory and GPUs with known links have",
                [](const Prepared& p, const PlotRequest&) { return share_figure(p.curves); }},
    FigureMaker{"latency", kNeedsRows,
                [](const Prepared& p, const PlotRequest&) { return latency_figure(p.curves); }},
    FigureMaker{"scaling", "one system's rows of two numbers of ranks at one size",
                [](const Prepared& p, const PlotRequest& w) {
                  return scaling_figure(p.curves, w.size, w.log_y);
                }},
    FigureMaker{"pairs", "rows of pairs, which sendrecv_perf --pairs all writes",
                [](const Prepared& p, const PlotRequest& w) {
                  return pairs_figure(p.input.datasets, w.size, w.limits);
                }},
    FigureMaker{"samples", "a CSV that --samples wrote, with the wanted --placement and --size",
                [](const Prepared& p, const PlotRequest& w) {
                  return samples_figure(p.input.samples, w.placement, w.size);
                }},
    FigureMaker{"histogram", "a CSV that --samples wrote, with 30 samples of a size or more",
                [](const Prepared& p, const PlotRequest& w) {
                  return histogram_figure(p.input.samples, w.placement, w.size);
                }},
    FigureMaker{"history", "CSVs of one system and number of ranks that started at two times",
                [](const Prepared& p, const PlotRequest& w) {
                  std::vector<Dataset> datasets = p.input.datasets;
                  label_all_by_hosts(datasets);
                  return history_figure(std::move(datasets), w.placement, w.size, w.log_y);
                }},
};

bool is_requested(const PlotRequest& request, std::string_view name) {
  return request.figures.empty() ||
         std::find(request.figures.begin(), request.figures.end(), name) != request.figures.end();
}

}  // namespace

LabelledPath labelled_path(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals == std::string::npos || equals == 0 || fs::exists(word)) return {.path = word};
  return {.label = word.substr(0, equals), .path = word.substr(equals + 1)};
}

PlotInput load_plot_input(std::span<const std::string> words) {
  PlotInput input;
  for (const std::string& text : words) {
    const LabelledPath word = labelled_path(text);
    if (is_samples_file(word.path)) {
      const std::string label = word.label.empty() ? stem_of(word.path) : word.label;
      auto sets = read_samples(word.path, label);
      std::move(sets.begin(), sets.end(), std::back_inserter(input.samples));
      continue;
    }
    input.datasets.push_back(load_dataset(word.path));
    if (!word.label.empty()) input.datasets.back().label = word.label;
  }
  return input;
}

void label_all_by_hosts(std::vector<Dataset>& datasets) {
  for (Dataset& dataset : datasets) {
    const std::string hosts = hosts_of(dataset);
    if (is_unnamed(dataset) && !hosts.empty()) dataset.label = hosts;
  }
}

void label_by_hosts(std::vector<Dataset>& datasets) {
  std::map<std::string, std::set<MeasuredRow>> known;
  std::set<std::string> compared;
  for (const Dataset& dataset : datasets) {
    const std::string hosts = hosts_of(dataset);
    if (!is_unnamed(dataset) || hosts.empty()) continue;
    for (const MeasuredRow& row : rows_of(dataset)) {
      if (!known[hosts].insert(row).second) compared.insert(hosts);
    }
  }
  tell_stems_apart(datasets);
  for (Dataset& dataset : datasets) {
    const std::string hosts = hosts_of(dataset);
    if (is_unnamed(dataset) && !hosts.empty() && !compared.contains(hosts)) dataset.label = hosts;
  }
}

std::vector<std::string> figure_names() {
  std::vector<std::string> names;
  for (const FigureMaker& maker : kMakers) names.emplace_back(maker.name);
  return names;
}

std::vector<Chart> make_figures(PlotInput input, const PlotRequest& request) {
  Prepared prepared{.input = std::move(input)};
  std::vector<Dataset> named = prepared.input.datasets;
  label_by_hosts(named);
  prepared.curves = size_curves(std::move(named), request.placement);
  std::vector<Chart> figures;
  for (const FigureMaker& maker : kMakers) {
    if (!is_requested(request, maker.name)) continue;
    Chart figure = maker.make(prepared, request);
    if (!figure.empty()) {
      figures.push_back(std::move(figure));
    } else if (!request.figures.empty()) {
      throw usage_error(fmt::format("--figure {}: the files lack {}", maker.name, maker.needs));
    }
  }
  if (figures.empty()) {
    throw usage_error(fmt::format("nothing to draw: the files lack {}", kNeedsRows));
  }
  return figures;
}

}  // namespace busbar

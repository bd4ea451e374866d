// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot/figures.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <tuple>

#include "base/error.hpp"
#include "base/text.hpp"
#include "model/row_key.hpp"

namespace busbar::study {
namespace {

namespace fs = std::filesystem;

std::string stem_of(const std::string& path) { return fs::path(path).stem().string(); }

/// Neither the head nor the user named a system.
bool is_unnamed(const Dataset& dataset) {
  return dataset.fact(fact::kSystem).empty() && dataset.fact(fact::kLabel).empty() &&
         dataset.label == stem_of(dataset.path);
}

/// "node1", "node1 and 3 more", or nothing where the head does not name it.
std::string hosts_of(const Dataset& dataset) {
  std::vector<std::string> hosts;
  for (const std::string& host : split(dataset.fact(fact::kHosts), ' ')) {
    const std::string name(trim(host.substr(0, host.find(','))));
    if (!name.empty()) hosts.push_back(name);
  }
  return join_some(hosts, 1);
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

struct FigureMaker {
  std::string_view name;
  std::string_view needs;  ///< what is missing where it cannot be drawn
  Chart (*make)(const PlotInput& input, const SizeCurves& curves, const PlotRequest& request);
};

constexpr std::string_view kNeedsRows =
    "rows with status ok, a bus bandwidth and the wanted --placement, of 2 ranks or more";

using I = const PlotInput&;
using C = const SizeCurves&;
using R = const PlotRequest&;

constexpr auto kMakers = std::to_array<FigureMaker>({
    {"busbw", kNeedsRows, [](I, C c, R r) { return busbw_figure(c, r.log_y); }},
    {"share", "rows with bound_GBps, which host memory and GPUs with known links have",
     [](I, C c, R) { return share_figure(c); }},
    {"latency", kNeedsRows, [](I, C c, R) { return latency_figure(c); }},
    {"scaling", "one system's rows of two numbers of ranks at one size",
     [](I, C c, R r) { return scaling_figure(c, r.size, r.log_y); }},
    {"pairs", "rows of pairs, which sendrecv_perf --pairs all writes",
     [](I i, C, R r) { return pairs_figure(i.datasets, r.size, r.limits); }},
    {"samples", "a CSV that --samples wrote, with the wanted --placement and --size",
     [](I i, C, R r) { return sample_figure("samples", i.samples, r.placement, r.size); }},
    {"histogram", "a CSV that --samples wrote, with 30 samples of a size or more",
     [](I i, C, R r) { return sample_figure("histogram", i.samples, r.placement, r.size); }},
    {"ranks", "a CSV that --per-rank wrote, with the wanted --placement and --size",
     [](I i, C, R r) { return sample_figure("ranks", i.samples, r.placement, r.size); }},
    {"timeline", "a CSV that --timeline wrote",
     [](I i, C, R) { return timeline_figure(i.timelines, i.faults); }},
    {"history", "CSVs of one system and number of ranks that started at two times",
     [](I i, C, R r) {
       std::vector<Dataset> datasets = i.datasets;
       label_by_hosts(datasets, true);
       return history_figure(std::move(datasets), r.placement, r.size, r.log_y);
     }},
});

}  // namespace

void label_by_hosts(std::vector<Dataset>& datasets, bool over_time) {
  std::map<std::string, std::set<MeasuredRow>> known;
  std::set<std::string> compared;
  for (const Dataset& dataset : datasets) {
    const std::string hosts = hosts_of(dataset);
    if (over_time || !is_unnamed(dataset) || hosts.empty()) continue;
    for (const MeasuredRow& row : rows_of(dataset)) {
      if (!known[hosts].insert(row).second) compared.insert(hosts);
    }
  }
  if (!over_time) tell_stems_apart(datasets);
  for (Dataset& dataset : datasets) {
    const std::string hosts = hosts_of(dataset);
    if (is_unnamed(dataset) && !hosts.empty() && !compared.contains(hosts)) dataset.label = hosts;
  }
}

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
      append(input.samples, read_samples(word.path, label));
      continue;
    }
    const std::string columns = CsvReader(word.path).columns();
    if (columns.starts_with("at,host,fact,")) {
      append(input.faults, machine::read_host_faults(word.path));
      continue;
    }
    if (columns.starts_with("at_s,")) {
      input.timelines.push_back({word.label, read_timeline(word.path)});
      continue;
    }
    input.datasets.push_back(load_dataset(word.path));
    if (!word.label.empty()) input.datasets.back().label = word.label;
  }
  return input;
}

std::vector<std::string> figure_names() { return mapped<std::string>(kMakers, &FigureMaker::name); }

std::vector<Chart> make_figures(const PlotInput& input, const PlotRequest& request) {
  std::vector<Dataset> named = input.datasets;
  label_by_hosts(named, false);
  const SizeCurves curves = size_curves(std::move(named), request.placement);
  const std::vector<std::string>& names = request.figures;
  std::vector<Chart> figures;
  for (const FigureMaker& maker : kMakers) {
    const bool all = names.empty();
    if (!all && std::ranges::find(names, maker.name) == names.end()) continue;
    Chart figure = maker.make(input, curves, request);
    if (!figure.empty()) {
      figures.push_back(std::move(figure));
    } else if (!all) {
      throw usage_error("--figure {}: the files lack {}", maker.name, maker.needs);
    }
  }
  if (figures.empty()) {
    throw usage_error("nothing to draw: the files lack {}", kNeedsRows);
  }
  return figures;
}

}  // namespace busbar::study

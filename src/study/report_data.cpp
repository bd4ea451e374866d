// SPDX-License-Identifier: BSD-3-Clause
#include "study/report_data.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "study/report_lines.hpp"
#include "topo/choice/sets.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar {
namespace {

/// The built-in system of this name or alias. A path is none: a CSV does not choose files to read.
std::optional<topo::Graph> built_in(const std::string& wanted) {
  for (const topo::SystemSummary& system : topo::built_in_systems()) {
    const bool alias =
        std::find(system.aliases.begin(), system.aliases.end(), wanted) != system.aliases.end();
    if (system.name == wanted || alias) return topo::load_system(system.name);
  }
  return std::nullopt;
}

ReportSystem* find_system(std::vector<ReportSystem>& systems, const std::string& wanted) {
  const auto found = std::find_if(systems.begin(), systems.end(), [&](const ReportSystem& system) {
    return system.name == wanted;
  });
  return found == systems.end() ? nullptr : &*found;
}

/// Gives each CSV its system's own name, and adds systems that only CSVs name.
void join_systems(ReportData& data) {
  for (Dataset& dataset : data.datasets) {
    if (find_system(data.systems, dataset.label) != nullptr) continue;
    std::optional<topo::Graph> graph;
    if (!dataset.fact("system").empty()) graph = built_in(dataset.label);
    if (graph) dataset.label = graph->name;
    if (find_system(data.systems, dataset.label) != nullptr) continue;
    data.systems.push_back({.name = dataset.label, .graph = std::move(graph)});
  }
}

/// Rows of single pairs are links, not a collective's curve.
void drop_pairs(ReportData& data) {
  for (Dataset& dataset : data.datasets) {
    const auto first =
        std::remove_if(dataset.records.begin(), dataset.records.end(),
                       [](const Record& record) { return record.sender.has_value(); });
    if (first == dataset.records.end()) continue;
    dataset.records.erase(first, dataset.records.end());
    data.notes.push_back(dataset.path + ": rows of pairs (--pairs) are left out");
  }
}

/// Ranks of a system's CSVs: sets of so many devices are of interest too.
std::set<int> ranks_of(const ReportData& data, const std::string& system) {
  std::set<int> ranks;
  for (const Dataset& dataset : data.datasets) {
    if (dataset.label != system) continue;
    for (const Record& record : dataset.records) ranks.insert(record.ranks);
  }
  return ranks;
}

}  // namespace

std::vector<SetsOfSize> sets_of(const topo::Graph& graph, const std::set<int>& also) {
  const int devices = static_cast<int>(graph.devices.size());
  std::set<int> ks;
  for (int k = 2; k <= devices; k *= 2) ks.insert(k);
  for (int k = 2; k <= std::min(devices, 8) && devices <= 8; ++k) ks.insert(k);
  if (devices > 1) ks.insert(devices);
  for (const int k : also) {
    if (k > 1 && k <= devices) ks.insert(k);
  }
  std::vector<SetsOfSize> sizes;
  for (const int k : ks) {
    SetsOfSize sets{.k = k};
    try {
      sets.prefix = topo::choose(graph, k, topo::Policy::Prefix);
      sets.best = topo::choose(graph, k, topo::Policy::Best);
      sets.worst = topo::choose(graph, k, topo::Policy::Worst);
      sets.classes = topo::classes_of(graph, k);
    } catch (const Error& error) {
      sets.gap = error.what();
    }
    sizes.push_back(std::move(sets));
  }
  return sizes;
}

ReportData make_report_data(std::vector<Dataset> datasets, std::vector<topo::Graph> graphs) {
  ReportData data{.datasets = std::move(datasets)};
  for (topo::Graph& graph : graphs) {
    if (find_system(data.systems, graph.name) != nullptr) {
      throw usage_error("--system: '" + graph.name + "' is given twice; leave one out");
    }
    ReportSystem& system = data.systems.emplace_back();
    system.name = graph.name;
    system.graph = std::move(graph);
  }
  drop_pairs(data);
  join_systems(data);
  for (ReportSystem& system : data.systems) {
    if (system.graph) system.sets = sets_of(*system.graph, ranks_of(data, system.name));
  }
  data.panels = panels_of(data);
  return data;
}

bool is_in_place_at(const ReportLine& line, Bytes size) {
  return std::any_of(line.rates.begin(), line.rates.end(),
                     [&](const SizedRate& rate) { return rate.size == size && rate.in_place; });
}

std::optional<double> rate_at(const ReportLine& line, Bytes size) {
  for (const SizedRate& rate : line.rates) {
    if (rate.size == size) return rate.GBps;
  }
  return std::nullopt;
}

}  // namespace busbar

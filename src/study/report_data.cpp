// SPDX-License-Identifier: BSD-3-Clause
#include "study/report_data.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "study/report_text.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar {
namespace {

/// The built-in system of this name or alias. A path is none: a CSV does not choose files to read.
std::optional<topo::Graph> built_in(const std::string& wanted) {
  for (const topo::BuiltInSystem& system : topo::built_in_systems()) {
    if (system.is_called(wanted)) return topo::load_system(system.name());
  }
  return std::nullopt;
}

bool is_known(const ReportData& data, const std::string& name) {
  return std::any_of(data.systems.begin(), data.systems.end(),
                     [&](const ReportSystem& system) { return system.name == name; });
}

/// Gives each CSV its system's own name, and adds systems that only CSVs name.
void join_systems(ReportData& data) {
  for (Dataset& dataset : data.datasets) {
    if (is_known(data, dataset.label)) continue;
    std::optional<topo::Graph> graph;
    if (!dataset.fact("system").empty()) graph = built_in(dataset.label);
    if (graph) dataset.label = graph->name;
    if (is_known(data, dataset.label)) continue;
    data.systems.push_back({.name = dataset.label, .graph = std::move(graph)});
  }
}

/// Rows of single pairs are links, not a collective's curve.
void drop_pairs(ReportData& data) {
  for (Dataset& dataset : data.datasets) {
    const std::size_t dropped = std::erase_if(
        dataset.records, [](const Record& record) { return record.sender.has_value(); });
    if (dropped > 0) data.notes.push_back(dataset.path + ": rows of pairs (--pairs) are left out");
  }
}

SetsOfSize sets_of_size(const topo::Graph& graph, int k) {
  SetsOfSize sets{.k = k};
  try {
    sets.prefix = topo::choose(graph, k, topo::Policy::Prefix);
    sets.best = topo::choose(graph, k, topo::Policy::Best);
    sets.worst = topo::choose(graph, k, topo::Policy::Worst);
    for (topo::SetClass& one : topo::classes_of(graph, k)) {
      if (one.fallback.empty()) {
        sets.classes.push_back(std::move(one));
      } else {
        std::move(one.fallback.begin(), one.fallback.end(), std::back_inserter(sets.classes));
      }
    }
  } catch (const Error& error) {
    sets.gap = error.what();
  }
  return sets;
}

void add_sets(ReportSystem& system, const std::vector<Dataset>& datasets) {
  const int devices = static_cast<int>(system.graph->devices.size());
  std::set<int> ks{devices};
  for (int k = 2; k <= devices; k = devices <= 8 ? k + 1 : k * 2) ks.insert(k);
  for (const Dataset& dataset : datasets) {
    if (dataset.label != system.name) continue;
    for (const Record& record : dataset.records) ks.insert(record.ranks);
  }
  for (const int k : ks) {
    if (k > 1 && k <= devices) system.sets.push_back(sets_of_size(*system.graph, k));
  }
}

/// The bound of the devices that the row names; of the first ones where it names none.
std::optional<topo::Bound> bound_by_topology(const topo::Graph& graph, const CurveKey& key) {
  if (key.ranks > static_cast<int>(graph.devices.size())) return std::nullopt;
  try {
    topo::Selection selection;
    if (!key.device_set.empty()) selection = topo::parse_selection("device_set", key.device_set);
    return topo::select_devices(graph, key.ranks, selection).bound;
  } catch (const Error&) {
    return std::nullopt;  // names such as "cores" are no devices of the graph
  }
}

/// The bound that the rows have; else of the topology.
void set_bound(const ReportSystem& system, SizeCurve& curve) {
  std::optional<topo::Bound> bound;
  if (system.graph) bound = bound_by_topology(*system.graph, curve.key);
  if (bound) curve.limit = bound->limit;
  std::optional<double> rate_GBps = curve.points.back().bound_GBps;
  if (rate_GBps.value_or(0) <= 0) {
    rate_GBps.reset();
    if (bound) rate_GBps = topo::collective_GBps(*bound, curve.key.collective);
    if (bound && rate_GBps > bound->bound_GBps) {
      curve.limit += fmt::format(", all-reduce {}", beyond_rings(*bound));
    }
  }
  for (SizePoint& point : curve.points) point.bound_GBps = rate_GBps;
}

std::vector<CurveKey> keys_of(const ReportPanel& panel) {
  std::vector<CurveKey> keys;
  for (const SizeCurve& curve : panel.curves) keys.push_back(curve.key);
  return keys;
}

/// The same line of a system has one style in all panels of a collective.
void set_styles(ReportData& data) {
  std::vector<std::string> systems;
  for (const ReportSystem& system : data.systems) systems.push_back(system.name);
  std::map<std::string, std::vector<CurveKey>> keys;
  for (const ReportPanel& panel : data.panels) {
    const std::vector<CurveKey> more = keys_of(panel);
    keys[panel.collective].insert(keys[panel.collective].end(), more.begin(), more.end());
  }
  for (const auto& [collective, all] : keys) {
    const std::vector<CurveStyle> styles = curve_styles(all, systems);
    auto style = styles.begin();
    for (ReportPanel& panel : data.panels) {
      if (panel.collective != collective) continue;
      for (SizeCurve& curve : panel.curves) curve.style = *style++;
    }
  }
}

/// The curves of the CSVs. Out of place where a system has both placements; one rank has no bus
/// bandwidth and no panel.
void add_panels(ReportData& data) {
  const SizeCurves all = size_curves(data.datasets, PlotPlacement::Out);
  std::map<std::pair<std::string, int>, std::vector<SizeCurve>> panels;
  for (const ReportSystem& system : data.systems) {
    for (const SizeCurve& curve : all.curves) {
      if (curve.key.label != system.name || curve.key.ranks < 2) continue;
      std::vector<SizeCurve>& panel = panels[{curve.key.collective, curve.key.ranks}];
      panel.push_back(curve);
      set_bound(system, panel.back());
    }
  }
  for (auto& [key, curves] : panels) {
    ReportPanel& panel = data.panels.emplace_back();
    panel = {.collective = key.first, .ranks = key.second, .curves = std::move(curves)};
    const CurveNames names = curve_names(keys_of(panel), true);
    for (std::size_t i = 0; i < names.titles.size(); ++i) {
      panel.curves[i].title = names.titles[i];
    }
  }
  // what trains models comes first
  std::stable_partition(data.panels.begin(), data.panels.end(),
                        [](const ReportPanel& panel) { return panel.collective == "allreduce"; });
  set_styles(data);
}

bool is_simulated(const ReportPanel& panel) {
  return std::all_of(panel.curves.begin(), panel.curves.end(),
                     [](const SizeCurve& curve) { return curve.key.simulated; });
}

}  // namespace

std::string ReportPanel::where() const {
  return fmt::format("{}{}, {}", is_simulated(*this) ? "simulated " : "",
                     collective_name(collective), counted(static_cast<std::size_t>(ranks), "rank"));
}

std::string ReportPanel::title(const SizeCurve& curve) const {
  const std::size_t suffix = is_simulated(*this) ? origin_suffix(curve.key).size() : 0;
  return curve.title.substr(0, curve.title.size() - suffix);
}

ReportData make_report_data(std::vector<Dataset> datasets, std::vector<topo::Graph> graphs) {
  ReportData data{.datasets = std::move(datasets)};
  for (topo::Graph& graph : graphs) {
    if (is_known(data, graph.name)) {
      throw usage_error("--system: '" + graph.name + "' is given twice; leave one out");
    }
    data.systems.push_back({.name = graph.name, .graph = graph});
  }
  drop_pairs(data);
  join_systems(data);
  for (ReportSystem& system : data.systems) {
    if (system.graph) add_sets(system, data.datasets);
  }
  add_panels(data);
  return data;
}

std::string_view beyond_rings(const topo::Bound& bound) {
  return bound.in_switch_GBps.value_or(0) >= bound.tree_GBps.value_or(0) ? "in the switch (NVLS)"
                                                                         : "by trees";
}

}  // namespace busbar

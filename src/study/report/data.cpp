// SPDX-License-Identifier: BSD-3-Clause
#include "study/report/data.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/embedded_text.hpp"
#include "base/error.hpp"
#include "base/text.hpp"
#include "model/collective.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar::study {
namespace {

/// The built-in system of this name or alias. A path is none: a CSV does not choose files to read.
std::optional<topo::Graph> built_in(const std::string& wanted) {
  for (const topo::BuiltInSystem& system : topo::built_in_systems()) {
    if (system.is_called(wanted)) return topo::load_system(system.name());
  }
  return std::nullopt;
}

/// Adds systems that only CSVs name, under their labels.
void join_systems(ReportData& data) {
  for (Dataset& dataset : data.datasets) {
    if (any_has(data.systems, dataset.label, &ReportSystem::name)) continue;
    std::optional<topo::Graph> graph;
    if (!dataset.fact(fact::kSystem).empty()) graph = built_in(dataset.label);
    if (!graph && !dataset.machine.empty()) {
      graph = built_in(dataset.machine);
      data.notes.push_back(fmt::format("{}: {}", dataset.label, dataset.machine_note));
    }
    std::string name = graph ? graph->name : "";
    data.systems.push_back(
        {.name = dataset.label, .graph = std::move(graph), .built_in = std::move(name)});
  }
}

/// Rows of single pairs are links, not a collective's curve.
void drop_pairs(ReportData& data) {
  for (Dataset& dataset : data.datasets) {
    const std::size_t dropped = std::erase_if(
        dataset.records, [](const Record& record) { return record.sender || record.receiver; });
    if (dropped > 0) {
      data.notes.push_back(dataset.path + ": rows of pairs and of single GPUs are left out");
    }
    if (any_has(dataset.records, 1, &Record::ranks)) {
      data.notes.push_back(dataset.path + ": rows of one rank are left out: it exchanges nothing");
    }
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
        append(sets.classes, one.fallback);
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
    return std::nullopt;  // names such as "cores" are not devices of the graph
  }
}

/// Whether NCCL measured all rows of a label.
bool is_of_nccl(const ReportData& data, const std::string& label) {
  return std::ranges::all_of(data.datasets, [&](const Dataset& dataset) {
    return dataset.label != label || std::ranges::all_of(dataset.records, [](const Record& record) {
             return record.backend == "nccl";
           });
  });
}

/// The request of `busbar expect` for the largest size of a curve.
std::optional<ExpectRequest> request_of(const ReportSystem& system, const SizeCurve& curve) {
  topo::EqualHosts machine{.host = *system.graph};
  if (!system.built_in.empty()) machine = topo::load_machine(system.built_in);
  const int on_host = static_cast<int>(device_count(machine.host));
  const int ranks = curve.key.ranks;
  const int nodes = std::max({1, curve.key.nodes, (ranks + on_host - 1) / on_host});
  if (ranks % nodes != 0) return std::nullopt;
  return ExpectRequest{.system = system.built_in.empty() ? system.name : system.built_in,
                       .machine = part_of(std::move(machine), ranks / nodes, nodes),
                       .collective = find_collective(curve.key.collective),
                       .size = curve.points.back().size,
                       .ranks = ranks,
                       .measured_GBps = curve.points.back().busbw_GBps.median,
                       .is_of_file = true};
}

std::optional<CurveExpectation> expectation_of(const ReportData& data, const ReportSystem& system,
                                               const SizeCurve& curve, const Published& published) {
  const CurveKey& key = curve.key;
  const bool has_gpus = system.graph && device(*system.graph, 0).kind == topo::NodeKind::Gpu;
  if (!has_gpus || key.simulated || key.fake || find_collective(key.collective) == nullptr ||
      !is_of_nccl(data, key.label)) {
    return std::nullopt;
  }
  try {
    auto request = request_of(system, curve);
    if (!request) return std::nullopt;
    Answer expected = expect(*request, published);
    return CurveExpectation{std::move(*request), std::move(expected)};
  } catch (const Error&) {
    return std::nullopt;  // more GPUs or nodes than the machine has, or no network
  }
}

void add_expectations(ReportData& data) {
  const Published published = parse_published(embedded_text(kPublishedFile), kPublishedFile);
  for (ReportPanel& panel : data.panels) {
    for (SizeCurve& curve : panel.curves) {
      const auto system = std::ranges::find(data.systems, curve.key.label, &ReportSystem::name);
      const auto& added =
          panel.expectations.emplace_back(expectation_of(data, *system, curve, published));
      // Of several nodes the topology of one has no bound.
      if (!added || !added->expected.bound_GBps || curve.points.back().bound_GBps) continue;
      for (SizePoint& point : curve.points) point.bound_GBps = added->expected.bound_GBps;
      curve.limit = added->expected.bottleneck;
    }
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

/// The same line of a system has one style in all panels of a collective.
void set_styles(ReportData& data) {
  const auto systems = mapped(data.systems, &ReportSystem::name);
  std::map<std::string, std::vector<SizeCurve*>> curves;  // by collective
  for (ReportPanel& panel : data.panels) {
    for (SizeCurve& curve : panel.curves) curves[panel.collective].push_back(&curve);
  }
  for (const auto& [collective, all] : curves) {
    const std::vector<CurveStyle> styles = curve_styles(mapped(all, &SizeCurve::key), systems);
    for (std::size_t i = 0; i < all.size(); ++i) all[i]->style = styles[i];
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
    const CurveNames names = curve_names(mapped(panel.curves, &SizeCurve::key), true);
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
  return std::ranges::all_of(panel.curves,
                             [](const SizeCurve& curve) { return curve.key.simulated; });
}

}  // namespace

std::string ReportPanel::where() const {
  return fmt::format("{}{}, {}", is_simulated(*this) ? "simulated " : "",
                     collective_name(collective), counted(ranks, "rank"));
}

std::string ReportPanel::title(const SizeCurve& curve) const {
  const std::size_t suffix = is_simulated(*this) ? origin_suffix(curve.key).size() : 0;
  return curve.title.substr(0, curve.title.size() - suffix);
}

ReportData make_report_data(std::vector<Dataset> datasets, std::vector<topo::Graph> graphs) {
  ReportData data{.datasets = std::move(datasets)};
  for (topo::Graph& graph : graphs) {
    if (any_has(data.systems, graph.name, &ReportSystem::name)) {
      throw usage_error("--system: '" + graph.name + "' is given twice; leave one out");
    }
    const auto known = built_in(graph.name);
    const bool is_own = !known || known->title != graph.title;
    data.systems.push_back(
        {.name = graph.name, .graph = graph, .built_in = is_own ? "" : graph.name});
  }
  drop_pairs(data);
  join_systems(data);
  for (ReportSystem& system : data.systems) {
    if (system.graph) add_sets(system, data.datasets);
  }
  add_panels(data);
  add_expectations(data);
  // Both placements are looked at, though one is drawn.
  const SizeCurves all = size_curves(data.datasets, PlotPlacement::Both);
  data.curve_findings = mapped(curve_findings(all.curves), curve_and_text);
  return data;
}

std::vector<std::string> doubts_of(const ReportSystem& system) {
  if (!system.graph || !system.built_in.empty()) return {};
  const std::vector<std::string>& warnings = system.graph->warnings;
  return {warnings.rbegin(), warnings.rend()};
}

std::string doubted_name(const ReportSystem& system) {
  return system.name + (doubts_of(system).empty() ? "" : " (doubtful)");
}

std::string_view beyond_rings(const topo::Bound& bound) {
  return bound.in_switch_GBps.value_or(0) >= bound.tree_GBps.value_or(0) ? "in the switch (NVLS)"
                                                                         : "by trees";
}

}  // namespace busbar::study

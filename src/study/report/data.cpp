// SPDX-License-Identifier: BSD-3-Clause
#include "study/report/data.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

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

std::optional<Answer> expectation_of(const ReportData& data, const ReportSystem& system,
                                     const SizeCurve& curve, const PublishedRates& published) {
  const CurveKey& key = curve.key;
  const bool has_gpus = system.graph && device(*system.graph, 0).kind == topo::NodeKind::Gpu;
  if (!has_gpus || key.simulated || key.fake || find_collective(key.collective) == nullptr ||
      !is_of_nccl(data, key.label)) {
    return std::nullopt;
  }
  try {
    const auto request = request_of(system, curve);
    return request ? std::optional(expect(*request, published)) : std::nullopt;
  } catch (const Error&) {
    return std::nullopt;  // more GPUs or nodes than the machine has, or no network
  }
}

void add_expectations(ReportData& data) {
  const PublishedRates published = kept_published();
  for (SizeCurves& collective : data.collectives) {
    for (SizeCurve& curve : collective.curves) {
      const ReportSystem& system = *find_by(data.systems, curve.key.label, &ReportSystem::name);
      auto expected = expectation_of(data, system, curve, published);
      if (!expected) continue;
      // Of several nodes the topology of one has no bound.
      if (expected->bound_GBps && !curve.points.back().bound_GBps) {
        for (SizePoint& point : curve.points) point.bound_GBps = expected->bound_GBps;
        curve.limit = expected->bottleneck;
      }
      data.expectations.emplace(curve.key, std::move(*expected));
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
      const bool in_switch = bound->in_switch_GBps.value_or(0) >= bound->tree_GBps.value_or(0);
      curve.limit += in_switch ? ", all-reduce in the switch (NVLS)" : ", all-reduce by trees";
    }
  }
  for (SizePoint& point : curve.points) point.bound_GBps = rate_GBps;
}

/// The curves of the CSVs. Out of place where a system has both placements; one rank has no bus
/// bandwidth and no curve. The same line of a system looks alike at all numbers of ranks.
void add_curves(ReportData& data) {
  std::map<std::string, std::vector<SizeCurve>> collectives;
  const SizeCurves all = size_curves(data.datasets, PlotPlacement::Out);
  for (const ReportSystem& system : data.systems) {
    for (const SizeCurve& curve : all.curves) {
      if (curve.key.label != system.name || curve.key.ranks < 2) continue;
      std::vector<SizeCurve>& curves = collectives[curve.key.collective];
      curves.push_back(curve);
      curves.back().title.clear();
      set_bound(system, curves.back());
    }
  }
  const auto systems = mapped(data.systems, &ReportSystem::name);
  for (auto& [collective, curves] : collectives) {
    std::string common = set_looks(mapped(curves, &SizeCurve::key), curves, systems);
    // what trains models comes first
    const auto at = collective == "allreduce" ? data.collectives.begin() : data.collectives.end();
    data.collectives.insert(at, {std::move(curves), std::move(common)});
  }
}

}  // namespace

std::vector<std::string> ReportSystem::doubts() const {
  if (!graph || !built_in.empty()) return {};
  return {graph->warnings.rbegin(), graph->warnings.rend()};
}

std::vector<SizeCurves> split_by_ranks(const SizeCurves& curves) {
  const auto ranks_of = [](const SizeCurve& curve) { return curve.key.ranks; };
  return mapped(set_of(curves.curves, ranks_of), [&](int ranks) {
    const auto has_them = [&](const SizeCurve& curve) { return curve.key.ranks == ranks; };
    return SizeCurves{filtered(curves.curves, has_them), curves.common};
  });
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
    if (system.graph) system.sets = topo::summarize(*system.graph);
  }
  add_curves(data);
  add_expectations(data);
  // Both placements are looked at, though one is drawn.
  const SizeCurves all = size_curves(data.datasets, PlotPlacement::Both);
  data.curve_findings = mapped(curve_findings(all.curves), curve_and_text);
  return data;
}

}  // namespace busbar::study

// SPDX-License-Identifier: BSD-3-Clause
#include "study/report_data.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "study/plot_curves.hpp"
#include "topo/choice/choose.hpp"
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

const ReportSystem* system_of(const ReportData& data, const std::string& name) {
  for (const ReportSystem& system : data.systems) {
    if (system.name == name) return &system;
  }
  return nullptr;
}

/// The bound of the devices that the row names; of the first ones where it names none.
std::optional<topo::Bound> bound_by_topology(const topo::Graph& graph, const CurveKey& key) {
  if (key.ranks > static_cast<int>(graph.devices.size())) return std::nullopt;
  try {
    topo::Selection selection;
    if (!key.device_set.empty()) {
      selection = topo::parse_selection("device_set", key.device_set);
    }
    return topo::select_devices(graph, key.ranks, selection).bound;
  } catch (const Error&) {
    return std::nullopt;  // words such as "cores" name no devices of the graph
  }
}

/// The bound that the rows have; else of the topology.
void add_bound(const ReportData& data, const SizeCurve& curve, ReportLine& line) {
  const ReportSystem* system = system_of(data, line.system);
  std::optional<topo::Bound> bound;
  if (system != nullptr && system->graph) bound = bound_by_topology(*system->graph, curve.key);
  if (bound) line.limit = bound->limit;
  const std::optional<double> measured = curve.points.back().bound_GBps;
  if (measured && *measured > 0) {
    line.bound_GBps = measured;
    if (line.limit.empty()) line.limit = curve.points.back().bound_kind;
  } else if (bound) {
    line.bound_GBps = topo::collective_GBps(*bound, line.key.collective);
    if (line.bound_GBps && *line.bound_GBps > bound->bound_GBps) {
      line.limit += fmt::format(", all-reduce {}", beyond_rings(*bound));
    }
  }
}

void add_gaps(const ReportData& data, ReportLine& line) {
  for (const Dataset& dataset : data.datasets) {
    if (dataset.label != line.system || dataset.simulated != line.key.simulated) continue;
    for (const Record& record : dataset.records) {
      const CurveKey& key = line.key;
      const bool same = record.collective == key.collective && record.ranks == key.ranks &&
                        record.type == key.type && record.op == key.op &&
                        record.in_place == key.in_place;
      if (same && !rate_at(line, record.size)) line.gaps.insert(record.size);
    }
  }
}

/// What distinguishes a line of a panel: only parts that differ. Of the type and the operation that
/// is said across systems, too, since they change the figures.
std::vector<std::string> parts_of(const ReportLine& line, const std::vector<ReportLine>& lines) {
  std::vector<std::string> parts;
  const auto add = [&](const auto& part_of, bool across_systems = false) {
    const bool differs = std::any_of(lines.begin(), lines.end(), [&](const ReportLine& other) {
      return (across_systems || other.system == line.system) &&
             part_of(other.key) != part_of(line.key);
    });
    if (differs && !part_of(line.key).empty()) parts.push_back(part_of(line.key));
  };
  add([](const CurveKey& key) { return key.type; }, true);
  add([](const CurveKey& key) { return key.op; }, true);
  add([](const CurveKey& key) {
    return key.device_set.empty() ? "" : fmt::format("devices {}", key.device_set);
  });
  add([](const CurveKey& key) { return counted(static_cast<std::size_t>(key.nodes), "node"); });
  if (line.key.in_place) parts.emplace_back("in place");
  return parts;
}

void name_lines(std::vector<ReportLine>& lines) {
  const bool some_measured = std::any_of(lines.begin(), lines.end(),
                                         [](const ReportLine& line) { return !line.key.imported; });
  for (ReportLine& line : lines) {
    const std::vector<std::string> parts = parts_of(line, lines);
    line.label = line.system + (parts.empty() ? "" : ", " + join(parts, ", "));
    if (line.key.imported && some_measured) line.label += " (imported means)";
    if (line.key.fake) line.label += origin_suffix(line.key);
    line.words = line.label + (line.key.simulated ? " (simulated)" : "");
  }
}

/// The same line of a system has one number, and so one style, in all panels of a collective.
void number_lines(std::vector<ReportPanel>& panels) {
  std::map<std::string, std::vector<ReportLine*>> collectives;
  for (ReportPanel& panel : panels) {
    for (ReportLine& line : panel.lines) collectives[panel.collective].push_back(&line);
  }
  for (auto& [collective, lines] : collectives) {
    std::vector<CurveKey> keys;
    for (const ReportLine* line : lines) keys.push_back(line->key);
    const std::vector<std::size_t> numbers = lines_of_systems(keys);
    for (std::size_t i = 0; i < lines.size(); ++i) lines[i]->number = numbers[i];
  }
}

/// The curves of the CSVs, by collective and ranks. Out of place where a system has both
/// placements; one rank has no bus bandwidth and no panel.
std::vector<ReportPanel> panels_of(const ReportData& data) {
  const std::vector<SizeCurve> curves = size_curves(data.datasets, PlotPlacement::Out).curves;
  std::map<std::pair<std::string, int>, std::vector<ReportLine>> panels;
  for (const ReportSystem& system : data.systems) {
    for (const SizeCurve& curve : curves) {
      const CurveKey& key = curve.key;
      if (key.label != system.name || key.ranks < 2) continue;
      ReportLine line{.system = system.name, .key = key, .points = curve.points};
      add_bound(data, curve, line);
      add_gaps(data, line);
      panels[{key.collective, key.ranks}].push_back(std::move(line));
    }
  }
  std::vector<ReportPanel> result;
  for (auto& [key, lines] : panels) {
    name_lines(lines);
    result.push_back({.collective = key.first, .ranks = key.second, .lines = std::move(lines)});
  }
  number_lines(result);
  // what trains models comes first
  std::stable_partition(result.begin(), result.end(),
                        [](const ReportPanel& panel) { return panel.collective == "allreduce"; });
  return result;
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
  return std::any_of(line.points.begin(), line.points.end(), [&](const SizePoint& rate) {
    return rate.size == size && rate.in_place_only;
  });
}

std::optional<double> rate_at(const ReportLine& line, Bytes size) {
  for (const SizePoint& rate : line.points) {
    if (rate.size == size) return rate.busbw_GBps;
  }
  return std::nullopt;
}

std::string_view beyond_rings(const topo::Bound& bound) {
  return bound.in_switch_GBps.value_or(0) >= bound.tree_GBps.value_or(0) ? "in the switch (NVLS)"
                                                                         : "by trees";
}

}  // namespace busbar

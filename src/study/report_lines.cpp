// SPDX-License-Identifier: BSD-3-Clause
#include "study/report_lines.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "study/plot_curves.hpp"
#include "topo/choice/choose.hpp"

namespace busbar {
namespace {

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
void add_bound(const ReportData& data, const Curve& curve, ReportLine& line) {
  const ReportSystem* system = system_of(data, line.system);
  std::optional<topo::Bound> bound;
  if (system != nullptr && system->graph) bound = bound_by_topology(*system->graph, curve.key);
  if (bound) line.limit = bound->limit;
  const std::optional<double> told = curve.points.back().bound_GBps;
  if (told && *told > 0) {
    line.bound_GBps = told;
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

}  // namespace

std::string_view beyond_rings(const topo::Bound& bound) {
  return bound.in_switch_GBps.value_or(0) >= bound.tree_GBps.value_or(0) ? "in the switch (NVLS)"
                                                                         : "by trees";
}

std::vector<SizedRate> median_rates(const Curve& curve) {
  std::map<Bytes, std::vector<double>> by_size;
  std::set<Bytes> in_place_only;
  for (const Record& record : curve.points) {
    by_size[record.size].push_back(*record.busbw_GBps);
    if (record.in_place && !curve.key.in_place) in_place_only.insert(record.size);
  }
  std::vector<SizedRate> rates;
  for (auto& [size, values] : by_size) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    const double median =
        values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
    rates.push_back({.size = size, .GBps = median, .in_place = in_place_only.contains(size)});
  }
  return rates;
}

std::vector<ReportPanel> panels_of(const ReportData& data) {
  std::vector<Curve> curves = curves_of(data.datasets);
  prefer_out_of_place(curves);
  std::map<std::pair<std::string, int>, std::vector<ReportLine>> panels;
  for (const ReportSystem& system : data.systems) {
    for (const Curve& curve : curves) {
      const CurveKey& key = curve.key;
      if (key.label != system.name || key.ranks < 2) continue;
      ReportLine line{.system = system.name, .key = key, .rates = median_rates(curve)};
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

}  // namespace busbar

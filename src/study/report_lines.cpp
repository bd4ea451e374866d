// SPDX-License-Identifier: BSD-3-Clause
#include "study/report_lines.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "topo/choice/selection.hpp"

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
    const bool in_switch = line.bound_GBps && *line.bound_GBps > bound->bound_GBps;
    if (in_switch) line.limit += ", where the switch adds (NVLS)";
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

/// What distinguishes the lines of a panel: only parts that differ. Of the type and the operation
/// that is said across systems, too, since they change the figures.
void name_lines(std::vector<ReportLine>& lines) {
  for (ReportLine& line : lines) {
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
    line.label = line.system + (parts.empty() ? "" : ", " + join(parts, ", "));
    if (line.key.in_place) line.label += ", in place";
    line.words = line.label + (line.key.simulated ? " (simulated)" : "");
  }
}

/// Whether the same curve is there out of place.
bool has_twin(const std::vector<Curve>& curves, CurveKey key) {
  key.in_place = false;
  return std::any_of(curves.begin(), curves.end(),
                     [&](const Curve& curve) { return curve.key == key; });
}

}  // namespace

std::vector<SizedRate> median_rates(const Curve& curve) {
  std::map<Bytes, std::vector<double>> by_size;
  for (const Record& record : curve.points) by_size[record.size].push_back(*record.busbw_GBps);
  std::vector<SizedRate> rates;
  for (auto& [size, values] : by_size) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    const double median =
        values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
    rates.push_back({.size = size, .GBps = median});
  }
  return rates;
}

std::vector<ReportPanel> panels_of(const ReportData& data) {
  const std::vector<Curve> curves = curves_of(data.datasets);
  std::map<std::pair<std::string, int>, std::vector<ReportLine>> panels;
  for (const ReportSystem& system : data.systems) {
    for (const Curve& curve : curves) {
      const CurveKey& key = curve.key;
      if (key.label != system.name || key.ranks < 2) continue;
      if (key.in_place && has_twin(curves, key)) continue;
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
  // what trains models comes first
  std::stable_partition(result.begin(), result.end(),
                        [](const ReportPanel& panel) { return panel.collective == "allreduce"; });
  return result;
}

}  // namespace busbar

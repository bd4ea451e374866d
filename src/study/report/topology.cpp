// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "format/topo_text.hpp"
#include "study/report/findings.hpp"
#include "topo/choice/sets.hpp"

namespace busbar::study {
namespace {

bool same_figure(double one, double other) {
  return std::abs(one - other) <= 1e-6 * std::max(one, other);
}

std::uint64_t count_lowest(const std::vector<topo::SetClass>& classes) {
  const auto lowest =
      std::ranges::min_element(classes, [](const topo::SetClass& a, const topo::SetClass& b) {
        return a.bound.bound_GBps < b.bound.bound_GBps;
      });
  std::uint64_t count = 0;
  for (const topo::SetClass& sets : classes) {
    if (same_figure(sets.bound.bound_GBps, lowest->bound.bound_GBps)) {
      count = topo::add_counts(count, sets.count);
    }
  }
  return count;
}

std::string avoid_text(const ReportSystem& system, const SetsOfSize& sets) {
  const topo::Bound& best = sets.best->bound;
  const topo::Bound& worst = sets.worst->bound;
  const std::uint64_t lowest = count_lowest(sets.classes);
  std::string text = fmt::format(
      "{}, {} {}: avoid {}{}: {} ({}){}; {} has {}, {:.3g} times as much", system.name, sets.k,
      device_noun(system), topo::describe_set(worst.devices),
      lowest > 1 ? fmt::format(" and {} like it", topo::counted_sets(lowest - 1)) : "",
      rate_text(worst.bound_GBps), worst.limit,
      worst.ring_GBps > 0 ? "" : fmt::format(", no {} ring", gpu_link_text(worst.gpu_link)),
      topo::describe_set(best.devices), rate_text(best.bound_GBps),
      best.bound_GBps / worst.bound_GBps);
  if (sets.prefix && sets.prefix->bound.bound_GBps * kAvoid <= best.bound_GBps) {
    text += fmt::format("; the first {} are not a good choice ({})", sets.k,
                        rate_text(sets.prefix->bound.bound_GBps));
  }
  return text;
}

/// Values of something, each with the systems that have it.
using ValuesOf = std::map<std::string, std::set<std::string>>;

/// `what`: "curves of different origin stand side by side".
void warn_if_different(const ValuesOf& values, const std::string& what,
                       std::string_view consequence, std::vector<std::string>& warnings) {
  if (values.size() < 2) return;
  const std::string text = join_each(values, "; ", [](const auto& value) {
    const std::vector<std::string> systems(value.second.begin(), value.second.end());
    return fmt::format("{} ({})", value.first, join_and(systems));
  });
  warnings.push_back(fmt::format("{}: {}{}", what, text, consequence));
}

void warn_of_facts(const ReportData& data, std::vector<std::string>& warnings) {
  for (const Fact& fact : {fact::kBusbar, fact::kLibrary, fact::kDriver}) {
    ValuesOf values;
    for (const Dataset& dataset : data.datasets) {
      const std::string value = dataset.fact(fact);
      const bool known = !value.empty() && (!dataset.simulated || fact.key == fact::kBusbar.key);
      if (known) values[value].insert(dataset.label);
    }
    warn_if_different(values, "runs differ in " + key(fact),
                      "; differences between them are not the topology's alone", warnings);
  }
}

/// Bounds of the best sets in GB/s, and their systems, the highest first.
using Ranking = std::vector<std::pair<double, std::string>>;

std::map<int, Ranking> rankings_of(const ReportData& data) {
  std::map<int, Ranking> by_k;
  for (const ReportSystem& system : data.systems) {
    for (const SetsOfSize& sets : system.sets) {
      if (!sets.best) continue;
      by_k[sets.k].emplace_back(std::round(sets.best->bound.bound_GBps * 1e6) / 1e6,
                                doubted_name(system));
    }
  }
  for (auto& [k, ranking] : by_k) {
    std::ranges::stable_sort(ranking, std::greater(), &Ranking::value_type::first);
  }
  return by_k;
}

}  // namespace

std::string device_noun(const ReportSystem& system) {
  const bool gpus = system.graph && !system.graph->devices.empty() &&
                    device(*system.graph, 0).kind == topo::NodeKind::Gpu;
  return gpus ? "GPUs" : "processors";
}

std::vector<std::string> topology_findings(const ReportData& data) {
  std::vector<std::string> found;
  for (const auto& [k, systems] : rankings_of(data)) {
    if (systems.size() < 2) continue;
    const double most_GBps = systems.front().first;
    std::vector<std::string> first;
    std::vector<std::string> behind;
    for (const auto& [rate_GBps, system] : systems) {
      if (same_figure(rate_GBps, most_GBps)) {
        first.push_back(system);
      } else {
        behind.push_back(fmt::format("{} {}", system, format_figure(rate_GBps)));
      }
    }
    found.push_back(fmt::format("{} devices, best set of each: {} {} {}{}", k, join_and(first),
                                first.size() == 1 ? "reaches" : "reach", rate_text(most_GBps),
                                behind.empty() ? "" : "; behind: " + join(behind, ", ")));
  }
  return found;
}

std::vector<std::string> limit_findings(const ReportSystem& system) {
  std::vector<std::pair<std::string, std::vector<std::string>>> limits;  // and who has them
  for (const SetsOfSize& sets : system.sets) {
    if (!sets.prefix) continue;
    const topo::Bound& bound = sets.prefix->bound;
    const std::string text = fmt::format(
        "{}{} limits them to {} over {}",
        bound.ring_GBps > 0 ? ""
                            : fmt::format("no {} ring closes; ", gpu_link_text(bound.gpu_link)),
        bound.limit, rate_text(bound.bound_GBps), bound.kind);
    if (limits.empty() || limits.back().first != text) limits.push_back({text, {}});
    limits.back().second.push_back(fmt::format("{}", sets.k));
  }
  std::vector<std::string> found;
  for (const auto& [text, counts] : limits) {
    found.push_back(fmt::format("{} with its first {} {}: {}", system.name, join_and(counts),
                                device_noun(system), text));
  }
  return found;
}

std::vector<std::string> avoid_findings(const ReportSystem& system) {
  std::vector<std::string> found;
  for (const SetsOfSize& sets : system.sets) {
    if (!sets.best || !sets.worst) continue;
    const double worst = sets.worst->bound.bound_GBps;
    if (worst > 0 && sets.best->bound.bound_GBps >= kAvoid * worst) {
      found.push_back(avoid_text(system, sets));
    }
  }
  return found;
}

std::vector<std::string> comparison_warnings(const ReportData& data) {
  ValuesOf sources;
  ValuesOf cadences;
  std::set<std::string> wrong;
  for (const Dataset& dataset : data.datasets) {
    if (!dataset.records.empty())
      sources[std::string(name(origin_of(dataset)))].insert(dataset.label);
    for (const Record& record : dataset.records) {
      const bool timed = !dataset.simulated && !record.cadence.empty();
      if (timed) cadences[record.cadence].insert(dataset.label);
      if (record.status == RowStatus::Wrong) wrong.insert(dataset.label);
    }
  }
  std::vector<std::string> warnings = problems_of(data.datasets);
  warn_if_different(sources, "curves of different origin stand side by side", "", warnings);
  warn_if_different(cadences, "runs differ in cadence", "", warnings);
  if (!wrong.empty()) {
    const std::vector<std::string> names(wrong.begin(), wrong.end());
    warnings.push_back(fmt::format("rows with wrong data are left out: {}", join_and(names)));
  }
  warn_of_facts(data, warnings);
  return warnings;
}

}  // namespace busbar::study

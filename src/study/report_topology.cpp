// SPDX-License-Identifier: BSD-3-Clause
#include "study/report_topology.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/topo_text.hpp"
#include "study/report_text.hpp"
#include "topo/choice/sets.hpp"

namespace busbar {
namespace {

bool same_figure(double one, double other) {
  return std::abs(one - other) <= 1e-6 * std::max(one, other);
}

/// The links of a set and its bottleneck, as text that is equal for equal reasons.
std::string limit_words(const topo::Bound& bound) {
  const std::string figure = rate_words(bound.bound_GBps);
  if (bound.ring_GBps <= 0) {
    return fmt::format("no NVLink ring closes; {} limits them to {} over {}", bound.limit, figure,
                       bound.kind);
  }
  return fmt::format("{} limits them to {} over {}", bound.limit, figure, bound.kind);
}

struct Candidate {
  std::string system{};
  double GBps = 0;
};

/// All k for which a system has a best set.
std::map<int, std::vector<Candidate>> candidates(const ReportData& data) {
  std::map<int, std::vector<Candidate>> by_k;
  for (const ReportSystem& system : data.systems) {
    for (const SetsOfSize& sets : system.sets) {
      if (!sets.best) continue;
      by_k[sets.k].push_back(
          {.system = system.name, .GBps = std::round(sets.best->bound.bound_GBps * 1e6) / 1e6});
    }
  }
  return by_k;
}

/// The sets of the lowest bound of one size: how many, and an example.
struct Lowest {
  std::uint64_t count = 0;
  double GBps = 0;
};
Lowest lowest_of(const std::vector<topo::SetClass>& classes) {
  Lowest lowest{.count = 0, .GBps = -1};
  for (const topo::SetClass& sets : classes) {
    const std::vector<topo::SetClass> one{sets};
    for (const topo::SetClass& part : sets.fallback.empty() ? one : sets.fallback) {
      const double rate_GBps = part.bound.bound_GBps;
      if (lowest.count == 0 || rate_GBps < lowest.GBps) {
        lowest = {.count = part.count, .GBps = rate_GBps};
      } else if (same_figure(rate_GBps, lowest.GBps)) {
        lowest.count = topo::add_counts(lowest.count, part.count);
      }
    }
  }
  return lowest;
}

std::string avoid_words(const ReportSystem& system, const SetsOfSize& sets) {
  const topo::Bound& best = sets.best->bound;
  const topo::Bound& worst = sets.worst->bound;
  const Lowest lowest = lowest_of(sets.classes);
  const std::string alike =
      lowest.count > 1 ? fmt::format(" and {} like it", topo::counted_sets(lowest.count - 1)) : "";
  std::string text = fmt::format(
      "{}, {} {}: avoid {}{}: {} ({}){}; {} has {}, {:.3g} times as much", system.name, sets.k,
      device_noun(system), topo::describe_set(worst.devices), alike, rate_words(worst.bound_GBps),
      worst.limit, worst.ring_GBps > 0 ? "" : ", no NVLink ring", topo::describe_set(best.devices),
      rate_words(best.bound_GBps), best.bound_GBps / worst.bound_GBps);
  if (sets.prefix && sets.prefix->bound.bound_GBps * kAvoid <= best.bound_GBps) {
    text += fmt::format("; the first {} are no good choice ({})", sets.k,
                        rate_words(sets.prefix->bound.bound_GBps));
  }
  return text;
}

/// Values of a key, each with the systems that have it; runs without it are left out.
using Values = std::map<std::string, std::set<std::string>>;

std::string values_words(const Values& values) {
  std::vector<std::string> words;
  for (const auto& [value, systems] : values) {
    const std::vector<std::string> names(systems.begin(), systems.end());
    words.push_back(fmt::format("{} ({})", value, join_and(names)));
  }
  return join(words, "; ");
}

void warn_of_facts(const ReportData& data, std::vector<std::string>& warnings) {
  constexpr std::array<std::string_view, 5> kFacts{"busbar", "library", "nccl", "cuda", "driver"};
  for (const std::string_view fact : kFacts) {
    Values values;
    for (const Dataset& dataset : data.datasets) {
      const std::string value = dataset.fact(std::string(fact));
      const bool known = !value.empty() && (!dataset.simulated || fact == "busbar");
      if (known) values[value].insert(dataset.label);
    }
    if (values.size() > 1) {
      warnings.push_back(fmt::format(
          "runs differ in {}: {}; differences between them are not the topology's alone", fact,
          values_words(values)));
    }
  }
}

Values cadences_of(const ReportData& data) {
  Values cadences;
  for (const Dataset& dataset : data.datasets) {
    if (dataset.simulated) continue;
    for (const Record& record : dataset.records) {
      if (!record.cadence.empty()) cadences[record.cadence].insert(dataset.label);
    }
  }
  return cadences;
}

const char* source_words(const Dataset& dataset) {
  switch (origin_of(dataset)) {
    case Origin::Simulated: return "simulated";
    case Origin::Fake: return "fake GPUs";
    case Origin::Imported: return "imported means";
    case Origin::Measured: break;
  }
  return "measured medians";
}

void warn_of_rows(const ReportData& data, std::vector<std::string>& warnings) {
  const Values cadences = cadences_of(data);
  Values sources;
  std::set<std::string> wrong;
  for (const Dataset& dataset : data.datasets) {
    if (dataset.records.empty()) continue;
    sources[source_words(dataset)].insert(dataset.label);
    for (const Record& record : dataset.records) {
      if (record.status == RowStatus::Wrong) wrong.insert(dataset.label);
    }
  }
  if (sources.size() > 1) {
    warnings.push_back(
        fmt::format("curves of different origin stand side by side: {}", values_words(sources)));
  }
  if (cadences.size() > 1) {
    warnings.push_back(fmt::format("runs differ in cadence: {}", values_words(cadences)));
  }
  if (!wrong.empty()) {
    const std::vector<std::string> names(wrong.begin(), wrong.end());
    warnings.push_back(fmt::format("rows with wrong data are left out: {}", join_and(names)));
  }
}

}  // namespace

std::string device_noun(const ReportSystem& system) {
  const bool gpus = system.graph && !system.graph->devices.empty() &&
                    device(*system.graph, 0).kind == topo::NodeKind::Gpu;
  return gpus ? "GPUs" : "processors";
}

std::vector<std::string> topology_findings(const ReportData& data) {
  std::vector<std::string> found;
  for (auto& [k, entries] : candidates(data)) {
    if (entries.size() < 2) continue;
    std::vector<Candidate> sorted = entries;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Candidate& a, const Candidate& b) { return a.GBps > b.GBps; });
    std::vector<std::string> first;
    std::vector<std::string> behind;
    for (const Candidate& candidate : sorted) {
      if (same_figure(candidate.GBps, sorted.front().GBps)) {
        first.push_back(candidate.system);
      } else {
        behind.push_back(fmt::format("{} {}", candidate.system, format_figure(candidate.GBps)));
      }
    }
    found.push_back(fmt::format("{} devices, best set of each: {} {} {}{}", k, join_and(first),
                                first.size() == 1 ? "reaches" : "reach",
                                rate_words(sorted.front().GBps),
                                behind.empty() ? "" : "; behind: " + join(behind, ", ")));
  }
  return found;
}

std::vector<std::string> limit_findings(const ReportSystem& system) {
  std::vector<std::string> found;
  std::vector<int> counts;
  std::string words;
  const auto flush = [&] {
    if (counts.empty()) return;
    found.push_back(
        fmt::format("{} with its first {} GPUs: {}", system.name, format_counts(counts), words));
    counts.clear();
  };
  for (const SetsOfSize& sets : system.sets) {
    if (!sets.prefix) continue;
    const std::string now = limit_words(sets.prefix->bound);
    if (now != words) flush();
    words = now;
    counts.push_back(sets.k);
  }
  flush();
  return found;
}

std::vector<std::string> avoid_findings(const ReportSystem& system) {
  std::vector<std::string> found;
  for (const SetsOfSize& sets : system.sets) {
    if (!sets.best || !sets.worst) continue;
    const double worst = sets.worst->bound.bound_GBps;
    if (worst > 0 && sets.best->bound.bound_GBps >= kAvoid * worst) {
      found.push_back(avoid_words(system, sets));
    }
  }
  return found;
}

std::vector<std::string> comparison_warnings(const ReportData& data) {
  std::vector<std::string> warnings = problems_of(std::span(data.datasets));
  warn_of_rows(data, warnings);
  warn_of_facts(data, warnings);
  return warnings;
}

std::vector<std::string> systems_without_topology(const ReportData& data) {
  std::vector<std::string> names;
  for (const ReportSystem& system : data.systems) {
    if (!system.graph) names.push_back(system.name);
  }
  return names;
}

}  // namespace busbar

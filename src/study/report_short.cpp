// SPDX-License-Identifier: BSD-3-Clause
// The report in a few sentences.
#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/topo_text.hpp"
#include "study/report_findings.hpp"
#include "study/report_lines.hpp"
#include "study/report_words.hpp"
#include "topo/choice/sets.hpp"

namespace busbar {
namespace {

/// "20.5 GB/s over 2 ranks, 80.8 over 4".
std::string step_words(const ScalingRow& row) {
  std::vector<std::string> steps;
  for (std::size_t i = 0; i < row.ranks.size(); ++i) {
    steps.push_back(fmt::format("{}{} over {}{}", figure_words(row.rates_GBps[i]),
                                i == 0 ? " GB/s" : "", row.ranks[i], i == 0 ? " ranks" : ""));
  }
  return join(steps, ", ");
}

/// "simulated all-reduce of 1 GiB runs at 20.5 GB/s over 2 ranks, 80.8 over 4: rising".
std::string curve_words(const ReportData& data, const std::string& system) {
  for (const Scaling& scaling : scalings_of(data)) {
    for (const ScalingRow& row : scaling.rows) {
      if (row.system != system) continue;
      const std::string trend =
          row.trend == Trend::None ? std::string() : fmt::format(": {}", name(row.trend));
      return fmt::format("{}{} of {} runs at {}{}", row.simulated ? "simulated " : "",
                         collective_words(scaling.collective), format_bytes(scaling.size),
                         step_words(row), trend);
    }
  }
  return {};
}

/// The size at which the choice of devices matters most.
std::string choice_words(const ReportSystem& system) {
  const SetsOfSize* most = nullptr;
  double factor = kAvoid;
  for (const SetsOfSize& sets : system.sets) {
    if (!sets.best || !sets.worst || sets.worst->bound.bound_GBps <= 0) continue;
    const double now = sets.best->bound.bound_GBps / sets.worst->bound.bound_GBps;
    if (now < factor) continue;
    factor = now;
    most = &sets;
  }
  if (most == nullptr) {
    return system.sets.empty() ? "" : "which devices a job gets makes little difference";
  }
  return fmt::format("of {} {} the best set, {}, can carry {:.3g} times what the worst, {}, can",
                     most->k, device_noun(system), topo::describe_set(most->best->bound.devices),
                     factor, topo::describe_set(most->worst->bound.devices));
}

std::string limit_of_all(const ReportSystem& system) {
  if (system.sets.empty() || !system.sets.back().best) return {};
  const topo::Bound& bound = system.sets.back().best->bound;
  const double allreduce = topo::collective_GBps(bound, "allreduce").value_or(0);
  const std::string more =
      allreduce > bound.bound_GBps
          ? fmt::format(", and {} for all-reduce {}", rate_words(allreduce), beyond_rings(bound))
          : "";
  return fmt::format("all {} together can carry {}{} ({}){}{}", system.sets.back().k,
                     bound.assumptions.empty() ? "" : "about ", rate_words(bound.bound_GBps),
                     bound.limit, bound.ring_GBps > 0 ? "" : ", with no NVLink ring", more);
}

}  // namespace

std::vector<std::string> short_findings(const ReportData& data) {
  std::vector<std::string> found;
  // Of the first collective, and of its panels those with most systems.
  std::vector<const ReportPanel*> panels;
  for (const ReportPanel& panel : data.panels) {
    const bool first = panel.collective == data.panels.front().collective;
    if (first && panel.lines.size() > 1) panels.push_back(&panel);
  }
  std::stable_sort(panels.begin(), panels.end(), [](const ReportPanel* a, const ReportPanel* b) {
    return a->lines.size() != b->lines.size() ? a->lines.size() > b->lines.size()
                                              : a->ranks > b->ranks;
  });
  constexpr std::size_t kPanels = 2;
  for (std::size_t i = 0; i < std::min(kPanels, panels.size()); ++i) {
    const ReportData only{.panels = {*panels[i]}};
    found.push_back(fastest_findings(only).front());
    const std::vector<std::string> changes = crossing_findings(only);
    found.insert(found.end(), changes.begin(),
                 changes.begin() +
                     static_cast<std::ptrdiff_t>(std::min<std::size_t>(changes.size(), kPanels)));
  }
  for (const ReportSystem& system : data.systems) {
    std::vector<std::string> parts;
    for (std::string words :
         {limit_of_all(system), choice_words(system), curve_words(data, system.name)}) {
      if (!words.empty()) parts.push_back(std::move(words));
    }
    if (!parts.empty()) found.push_back(fmt::format("{}: {}", system.name, join(parts, "; ")));
  }
  return found;
}

}  // namespace busbar

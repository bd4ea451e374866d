// SPDX-License-Identifier: BSD-3-Clause
// The section that compares what topologies allow.
#include <map>

#include <fmt/format.h>

#include "report/svg_bars.hpp"
#include "report/topo_text.hpp"
#include "study/report_findings.hpp"
#include "study/report_sections.hpp"
#include "study/report_words.hpp"

namespace busbar {
namespace {

using BySize = std::map<int, std::map<std::size_t, const SetsOfSize*>>;  ///< k, system

BySize sets_by_size(const ReportData& data) {
  BySize sizes;
  for (std::size_t i = 0; i < data.systems.size(); ++i) {
    for (const SetsOfSize& sets : data.systems[i].sets) sizes[sets.k][i] = &sets;
  }
  return sizes;
}

std::string cell(const std::optional<topo::Choice>& choice) {
  if (!choice) return {};
  return figure_words(choice->bound.bound_GBps) + (choice->bound.ring_GBps > 0 ? "" : " *");
}

DocumentTable bounds_table(const ReportData& data, const BySize& sizes) {
  DocumentTable table{
      .caption =
          "Bound in GB/s of the best, the first and the worst set of so many devices (* no "
          "NVLink ring closes: an upper bound with PCIe)",
      .columns = {{"devices", true}}};
  for (const ReportSystem& system : data.systems) {
    for (const char* which : {"best", "first", "worst"}) {
      table.columns.push_back({fmt::format("{} {}", system.name, which), true});
    }
  }
  for (const auto& [k, by_system] : sizes) {
    std::vector<std::string> row{fmt::format("{}", k)};
    for (std::size_t i = 0; i < data.systems.size(); ++i) {
      const auto found = by_system.find(i);
      const bool there = found != by_system.end();
      row.push_back(there ? cell(found->second->best) : "");
      row.push_back(there ? cell(found->second->prefix) : "");
      row.push_back(there ? cell(found->second->worst) : "");
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

Bar bar_of(const ReportContext& context, const ReportSystem& system, const SetsOfSize& sets) {
  Bar bar{.label = system.name, .style = context.styles.of(system.name)};
  if (!sets.best || !sets.worst) {
    bar.note = "not reckoned";
    return bar;
  }
  const double best = sets.best->bound.bound_GBps;
  const double worst = sets.worst->bound.bound_GBps;
  bar.value = best;
  bar.note = figure_words(best);
  if (worst * 1.001 < best) {
    bar.least = worst;
    bar.note += fmt::format(", worst {}", figure_words(worst));
  }
  return bar;
}

/// Only numbers of devices that two systems have are bars: the others compare nothing.
std::vector<BarGroup> bar_groups(const ReportContext& context, const BySize& sizes) {
  std::vector<BarGroup> groups;
  for (const auto& [k, by_system] : sizes) {
    const bool power = (k & (k - 1)) == 0;
    if ((by_system.size() < 2 && context.data.systems.size() > 1 && !power) ||
        (!power && by_system.size() < context.data.systems.size())) {
      continue;
    }
    BarGroup group{.heading = fmt::format("{} devices", k)};
    for (const auto& [i, sets] : by_system) {
      group.bars.push_back(bar_of(context, context.data.systems[i], *sets));
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace

std::vector<Section> topology_sections(const ReportContext& context) {
  const BySize sizes = sets_by_size(context.data);
  if (sizes.empty()) return {};
  Section section{.level = 2, .id = "bounds", .heading = "What the topologies allow"};
  section.blocks.emplace_back(Paragraph{
      .text = "The bound of a set of devices is the bus bandwidth that the best mix of rings over "
              "its links can have, in GB/s and per direction, by the links' nominal rates. Which "
              "devices are taken can matter more than the machine."});
  section.blocks.emplace_back(
      Figure{.svg = svg_bars("Bounds of the best and the worst set of each system",
                             bar_groups(context, sizes)),
             .caption = "Bound in GB/s. Full bar: every set of so many devices has it. Empty part: "
                        "only better sets."});
  section.blocks.emplace_back(bounds_table(context.data, sizes));
  return {section};
}

}  // namespace busbar

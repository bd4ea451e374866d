// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <tuple>

#include <fmt/format.h>

#include "base/embedded_text.hpp"
#include "base/text.hpp"
#include "format/topo_text.hpp"
#include "model/collective.hpp"
#include "study/expect/published.hpp"
#include "study/report/data.hpp"
#include "study/report/findings.hpp"
#include "topo/choice/sets.hpp"

namespace busbar::study {
namespace {

using topo::Graph;
using topo::NodeKind;

using BySize = std::map<int, std::map<std::size_t, const SetsOfSize*>>;  ///< k, system

BySize sets_by_size(const ReportData& data) {
  BySize sizes;
  for (std::size_t i = 0; i < data.systems.size(); ++i) {
    for (const SetsOfSize& sets : data.systems[i].sets) sizes[sets.k][i] = &sets;
  }
  return sizes;
}

/// "NVLink", "xGMI" or "NVLink or xGMI": what the systems' GPUs have to each other.
std::string gpu_links_of(std::span<const ReportSystem> systems) {
  std::set<std::string_view> kinds;
  for (const ReportSystem& system : systems) {
    if (system.graph) kinds.insert(gpu_link_text(gpu_link_kind(*system.graph)));
  }
  return fmt::format("{}", fmt::join(kinds, " or "));
}

/// "150", "15.8 *" where no ring of NVLink or xGMI closes.
std::string bound_text(const std::optional<topo::Choice>& choice) {
  if (!choice) return {};
  return format_figure(choice->bound.bound_GBps) + (choice->bound.ring_GBps > 0 ? "" : " *");
}

Table bounds_table(const ReportData& data, const BySize& sizes) {
  Table table{.caption =
                  fmt::format("Bound in GB/s of the best, the first and the worst set of that many "
                              "devices (* no {} ring closes: an upper bound with PCIe)",
                              gpu_links_of(data.systems))};
  add_number_column(table, "devices");
  for (const ReportSystem& system : data.systems) {
    for (const char* which : {" best", " first", " worst"}) {
      add_number_column(table, system.name + which);
    }
  }
  for (const auto& [k, by_system] : sizes) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row.push_back(fmt::format("{}", k));
    for (std::size_t i = 0; i < data.systems.size(); ++i) {
      const auto found = by_system.find(i);
      for (const auto member : {&SetsOfSize::best, &SetsOfSize::prefix, &SetsOfSize::worst}) {
        row.push_back(found == by_system.end() ? "" : bound_text(found->second->*member));
      }
    }
  }
  return table;
}

constexpr int kPageWidth = 540;

/// A full bar to what every set of that many devices has, an empty one to what the best has.
void add_bar(Chart& chart, const ReportSystem& system, const SetsOfSize& sets, int colour) {
  const double row = add_row(chart, system.name);
  ChartText note{.y = row, .text = "not computed"};
  if (sets.best && sets.worst) {
    const double best = sets.best->bound.bound_GBps;
    const double worst = sets.worst->bound.bound_GBps;
    ChartBox bar{.right = best, .bottom = row - 0.36, .top = row + 0.36, .outline = colour};
    chart.boxes.push_back(bar);
    bar.right = worst;
    bar.fill = colour;
    chart.boxes.push_back(bar);
    note.x = best;
    note.text = format_figure(best);
    if (worst * 1.001 < best) note.text += ", worst " + format_figure(worst);
  }
  chart.texts.push_back(std::move(note));
}

/// Only powers of two, and what all systems have, are bars: the others compare little.
Chart bounds_chart(const ReportData& data, const BySize& sizes, const Palette& palette) {
  double highest = 1;
  for (const ReportSystem& system : data.systems) {
    for (const SetsOfSize& sets : system.sets) {
      if (sets.best) highest = std::max(highest, sets.best->bound.bound_GBps);
    }
  }
  Chart chart = chart_of_rows("Bounds of the best and the worst set of each system", "GB/s",
                              highest * 1.35, kPageWidth);
  for (const auto& [k, by_system] : sizes) {
    if ((k & (k - 1)) != 0 && by_system.size() < data.systems.size()) continue;
    const double heading = add_row(chart, "");
    chart.texts.push_back({.y = heading, .text = fmt::format("{} devices", k), .bold = true});
    for (const auto& [i, sets] : by_system) {
      const ReportSystem& system = data.systems[i];
      add_bar(chart, system, *sets, palette.of(system.name).colour);
    }
  }
  return chart;
}

/// "8 GPUs (Tesla V100-SXM2-32GB), 4 NICs, 2 NUMA nodes".
std::string parts_text(const Graph& graph) {
  std::map<NodeKind, std::size_t> counts;
  std::map<NodeKind, std::set<std::string>> models;
  std::set<std::pair<int, int>> numa;
  for (const topo::Node& node : graph.nodes) {
    ++counts[node.kind];
    if (!node.model.empty()) models[node.kind].insert(node.model);
    if (node.numa >= 0) numa.insert({node.host, node.numa});
  }
  std::vector<std::string> parts;
  for (const NodeKind kind : {NodeKind::Gpu, NodeKind::Package, NodeKind::Processor,
                              NodeKind::NvSwitch, NodeKind::PcieSwitch, NodeKind::Nic}) {
    const std::size_t count = counts[kind];
    if (count == 0) continue;
    parts.push_back(counted(count, look_of(kind).noun));
    if (models[kind].size() == 1) parts.back() += fmt::format(" ({})", *models[kind].begin());
  }
  if (!numa.empty()) parts.push_back(counted(numa.size(), "NUMA node"));
  return join_and(parts);
}

/// Links of one medium, between parts of the same kinds and as many side by side, are one row.
Table links_table(const Graph& graph, const std::string& name) {
  using Row = std::tuple<int, std::string, double>;  ///< medium, kinds, count
  std::map<Row, std::size_t> rows;
  for (const topo::Link& link : graph.links) {
    std::string_view from = look_of(node_of(graph, link.from).kind).noun;
    std::string_view to = look_of(node_of(graph, link.to).kind).noun;
    if (to < from) std::swap(from, to);
    ++rows[{link.medium, fmt::format("{} to {}", from, to), link.count}];
  }
  Table table{
      .caption = fmt::format("Links of {}, GB/s per direction", name),
      .columns = {"link", "between", "connections", "side by side", "GB/s of one", "GB/s together"},
      .numbers = {2, 3, 4, 5}};
  for (const auto& [row, directions] : rows) {
    const auto& [index, kinds, count] = row;
    const topo::Medium& medium = graph.media[topo::to_size(index)];
    const auto rate = [&](double rate_GBps) {
      return rate_GBps > 0 ? format_figure(rate_GBps) : "no limit";
    };
    table.rows.push_back({medium.name, kinds, fmt::format("{}", (directions + 1) / 2),
                          fmt::format("{:g}", count), rate(medium.nominal_GBps),
                          rate(medium.nominal_GBps * count)});
  }
  return table;
}

Table sets_table(const ReportSystem& system) {
  Table table{.caption = fmt::format("Sets of devices of {}: bound and narrowest cut in GB/s, and "
                                     "what limits them (* no {} ring closes)",
                                     system.name, gpu_links_of({&system, 1})),
              .columns = {"devices", "set", "which", "bound", "cut", "over", "limit"},
              .numbers = {0, 3, 4}};
  const auto add = [&](int k, const char* which, const std::optional<topo::Choice>& choice) {
    if (!choice) return;
    const topo::Bound& bound = choice->bound;
    table.rows.push_back({fmt::format("{}", k), which, devices_text(bound.devices),
                          bound_text(choice), format_figure(bound.cut_GBps), bound.kind,
                          bound.limit});
  };
  for (const SetsOfSize& sets : system.sets) {
    if (sets.best && sets.worst &&
        std::abs(sets.best->bound.bound_GBps - sets.worst->bound.bound_GBps) < 1e-6) {
      add(sets.k, "any", sets.prefix);
      continue;
    }
    add(sets.k, "best", sets.best);
    add(sets.k, "first", sets.prefix);
    add(sets.k, "worst", sets.worst);
  }
  return table;
}

/// The part of `all` sets that a class has; all of them where they are too many to count.
double share_of(const topo::SetClass& part, double all) {
  if (part.count == topo::kManySets) return 1;
  return std::min(static_cast<double>(part.count) / all, 1.0);
}

/// Each row is all sets of that many devices, divided by what they can reach.
Chart strips_chart(const ReportSystem& system) {
  Chart chart = chart_of_rows(fmt::format("All sets of devices of {} by their bound", system.name),
                              "share of all sets (%)", 100, kPageWidth);
  double most = 1e-9;
  for (const SetsOfSize& sets : system.sets) {
    for (const topo::SetClass& part : sets.classes) most = std::max(most, part.bound.bound_GBps);
  }
  const std::size_t devices = system.graph->devices.size();
  for (const SetsOfSize& sets : system.sets) {
    if (sets.classes.empty()) continue;
    const double row = add_row(chart, fmt::format("{} of {}", sets.k, devices));
    const double all = topo::about_sets(devices, static_cast<std::size_t>(sets.k));
    double left = 0;
    for (const topo::SetClass& part : sets.classes) {
      const double share = share_of(part, all);
      const double value = part.bound.bound_GBps / most;
      const double right = left + 100 * share;
      chart.boxes.push_back({.left = left,
                             .right = right,
                             .bottom = row - 0.42,
                             .top = row + 0.42,
                             .fill = scale_colour(value),
                             .outline = 0x333333});
      const std::string figure = figure_text(part.bound.bound_GBps);
      if (share * kPageWidth * 0.8 > static_cast<double>(figure.size()) * 8) {
        chart.texts.push_back({.x = (left + right) / 2,
                               .y = row,
                               .text = figure,
                               .align = ChartText::Align::Centre,
                               .colour = value > 0.55 ? 0x111111 : 0xFFFFFF});
      }
      left = right;
    }
  }
  return chart;
}

Table classes_table(const ReportSystem& system) {
  Table table{
      .caption = fmt::format("All sets of devices of {} by their bound in GB/s", system.name),
      .columns = {"devices", "bound", "sets", "over", "for example"},
      .numbers = {0, 1, 2}};
  for (const SetsOfSize& sets : system.sets) {
    for (const topo::SetClass& part : sets.classes) {
      table.rows.push_back({fmt::format("{}", sets.k), format_figure(part.bound.bound_GBps),
                            part.count == topo::kManySets ? topo::counted_sets(part.count)
                                                          : fmt::format("{}", part.count),
                            part.bound.kind, devices_text(part.example)});
    }
  }
  return table;
}

void add_list(const std::string& title, std::vector<std::string> items,
              std::vector<DocumentBlock>& blocks) {
  if (items.empty()) return;
  blocks.emplace_back(Paragraph{.text = title + ":"});
  blocks.emplace_back(Bullets{.items = std::move(items)});
}

/// What others measured on whole nodes with large sizes, and operators' floors; no rows where
/// nothing is known.
Table published_table(const ReportSystem& system) {
  Table table{.caption = "What others published of whole nodes, from 1 GiB: bus bandwidth in GB/s",
              .columns = {"collective", "nodes", "GPUs", "size", "GB/s", "evidence", "source"}};
  int hosts = 1;
  for (const topo::Node& node : system.graph->nodes) hosts = std::max(hosts, node.host + 1);
  const int on_each = static_cast<int>(device_count(*system.graph)) / hosts;
  for (const PublishedRate& rate :
       parse_published(embedded_text(kPublishedFile), kPublishedFile).rates) {
    const bool is_whole = rate.ranks == on_each * rate.nodes;
    const bool is_large = !rate.size || *rate.size >= kGiB;
    const Collective* collective = find_collective(rate.collective);
    if (rate.system != system.graph->name || !rate.busbw_GBps || !is_whole || !is_large ||
        !rate.usual || collective == nullptr) {
      continue;
    }
    const std::string where = rate.instance.empty() ? "" : rate.instance + ", ";
    table.rows.push_back({std::string(collective->title), fmt::format("{}", rate.nodes),
                          fmt::format("{}", rate.ranks), rate.size ? format_bytes(*rate.size) : "",
                          fmt::format("{:.4g}", *rate.busbw_GBps), std::string(name(rate.evidence)),
                          where + rate.source});
  }
  return table;
}

Section system_section(const ReportSystem& system) {
  Section section{.level = 3, .id = "system-" + system.name, .heading = system.name};
  std::vector<DocumentBlock>& blocks = section.blocks;
  const Graph& graph = *system.graph;
  const std::string alias = graph.name == system.name ? "" : graph.name + ", ";
  blocks.emplace_back(
      Paragraph{.text = fmt::format("{}{}{}{}.", alias, graph.title,
                                    graph.title.empty() ? "" : ": ", parts_text(graph))});
  blocks.emplace_back(Figure{.svg = svg_graph(graph, topo::ConstantSet::Nominal),
                             .caption = svg_graph_caption(graph),
                             .wide = true});
  blocks.emplace_back(links_table(graph, system.name));
  add_list("What limits its first devices", limit_findings(system), blocks);
  add_list("Sets to avoid: the best of their size have at least 1.25 times their bandwidth",
           avoid_findings(system), blocks);
  blocks.emplace_back(sets_table(system));
  const bool sets_differ = std::ranges::any_of(
      system.sets, [](const SetsOfSize& sets) { return sets.classes.size() > 1; });
  if (sets_differ) {
    blocks.emplace_back(Figure{.chart = strips_chart(system),
                               .caption = "Each strip is all sets of that many devices, divided by "
                                          "their bound in GB/s; the lighter, the higher."});
    blocks.emplace_back(classes_table(system));
  }
  if (Table published = published_table(system); !published.rows.empty()) {
    blocks.emplace_back(std::move(published));
  }
  for (const SetsOfSize& sets : system.sets) {
    if (sets.gap.empty()) continue;
    blocks.emplace_back(
        Paragraph{.text = fmt::format("{} {}: {}", sets.k, device_noun(system), sets.gap)});
  }
  for (const std::string& warning : graph.warnings) {
    blocks.emplace_back(Paragraph{.text = warning, .warning = true});
  }
  for (const topo::Assumption& assumption : graph.assumptions) {
    blocks.emplace_back(Paragraph{.text = "Bounds here are estimates. Assumed: " + assumption.text,
                                  .warning = true});
  }
  std::vector<std::string> sources;
  if (!graph.source.empty()) sources.push_back("topology: " + graph.source);
  for (const topo::Medium& medium : graph.media) {
    if (!medium.source.empty()) sources.push_back(medium.name + ": " + medium.source);
  }
  add_list("Sources", std::move(sources), blocks);
  return section;
}

}  // namespace

std::vector<Section> topology_sections(const ReportData& data, const Palette& palette) {
  const BySize sizes = sets_by_size(data);
  if (sizes.empty()) return {};
  Section section{.level = 2, .id = "bounds", .heading = "What the topologies allow"};
  section.blocks.emplace_back(Paragraph{
      .text = "The bound of a set of devices is the bus bandwidth that the best mix of rings over "
              "its links can have, in GB/s and per direction, by the links' nominal rates. Which "
              "devices are taken can matter more than the machine."});
  section.blocks.emplace_back(Figure{.chart = bounds_chart(data, sizes, palette),
                                     .caption = "Bound in GB/s. Full bar: every set of that many "
                                                "devices has it. Empty part: only better sets."});
  section.blocks.emplace_back(bounds_table(data, sizes));
  return {section};
}

std::vector<Section> system_sections(const ReportData& data) {
  std::vector<Section> sections{{.level = 2, .id = "systems", .heading = "The systems"}};
  std::vector<std::string> without;
  for (const ReportSystem& system : data.systems) {
    if (system.graph) {
      sections.push_back(system_section(system));
    } else {
      without.push_back(system.name);
    }
  }
  if (!without.empty()) {
    sections.front().blocks.emplace_back(
        Paragraph{.text = fmt::format(
                      "No topology is known for {}; the only bounds are those that rows have "
                      "themselves. Give --system FILE, or --system NAME to the run or the import.",
                      join_and(without))});
  }
  return sections;
}

}  // namespace busbar::study

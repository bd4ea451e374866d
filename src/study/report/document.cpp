// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "format/markup_text.hpp"
#include "format/topo_text.hpp"
#include "model/collective.hpp"
#include "study/plot/figures.hpp"
#include "study/report/data.hpp"

namespace busbar::study {
namespace {

using Texts = std::vector<std::string>;

Texts row_of(const SizeCurve& curve) {
  const SizePoint& best = highest_point(curve);
  const std::optional<double> share = best_share(curve);
  return {curve.title,
          collective_name(curve.key.collective),
          fmt::format("{}", curve.key.ranks),
          best.bound_GBps ? format_figure(*best.bound_GBps) : "",
          format_figure(best.busbw_GBps.median),
          share ? format_percent(*share) : "",
          format_bytes(best.size),
          curve.limit};
}

/// All devices of a system that no curve is of.
Texts row_of(const ReportSystem& system) {
  Texts row(8);
  row[0] = system.name + (system.doubts().empty() ? "" : " (doubtful)");
  if (system.sets.empty()) return row;
  const topo::Bound& bound = system.sets.front().choice.bound;
  row[1] = collective_name("allreduce");
  row[2] = fmt::format("{}", bound.devices.size());
  row[3] = format_figure(topo::collective_GBps(bound, "allreduce").value_or(bound.bound_GBps));
  row[7] = bound.limit;
  return row;
}

/// Of many rows the last, of most devices, of each system and collective.
void keep_last(std::vector<Texts>& rows) {
  constexpr std::size_t kMost = 16;
  if (rows.size() <= kMost) return;
  std::set<std::pair<std::string, std::string>> seen;
  std::ranges::reverse(rows);
  std::erase_if(rows, [&](const Texts& row) { return !seen.emplace(row[0], row[1]).second; });
  std::ranges::reverse(rows);
}

/// The systems in their order, each with its curves.
Table systems_table(const ReportData& data) {
  Table table{
      .caption = "Bus bandwidth in GB/s; the bound is what the links allow",
      .columns = {"system", "collective", "devices", "bound", "highest", "of bound", "at", "limit"},
      .numbers = {2, 3, 4, 5, 6}};
  for (const ReportSystem& system : data.systems) {
    const std::size_t before = table.rows.size();
    for (const SizeCurves& collective : data.collectives) {
      for (const SizeCurve& curve : collective.curves) {
        if (curve.key.label == system.name) table.rows.push_back(row_of(curve));
      }
    }
    if (table.rows.size() == before) table.rows.push_back(row_of(system));
  }
  keep_last(table.rows);
  if (!data.collectives.empty()) return table;
  const auto drop_rates = [](Texts& row) { row.erase(row.begin() + 4, row.begin() + 7); };
  drop_rates(table.columns);
  std::ranges::for_each(table.rows, drop_rates);
  table.numbers = {2, 3};
  return table;
}

std::vector<Section> finding_sections(const ReportData& data) {
  std::vector<Section> sections{{.level = 2, .id = "findings", .heading = "Findings"}};
  std::vector<DocumentBlock>& blocks = sections.front().blocks;
  const auto warn = [&](std::string text) {
    blocks.emplace_back(Paragraph{.text = std::move(text), .warning = true});
  };
  for (const ReportSystem& system : data.systems) {
    for (const std::string& doubt : system.doubts()) warn(system.name + ": " + doubt);
  }
  for (const std::string& warning : comparison_warnings(data)) warn(warning);
  for (const std::string& note : data.notes) blocks.emplace_back(Paragraph{.text = note});
  std::vector<Section> parts;
  const auto add = [&](const char* heading, const char* text, std::vector<std::string> items) {
    if (items.empty()) return;
    parts.push_back({.level = 3, .heading = heading});
    parts.back().blocks = {Paragraph{.text = text}, Bullets{.items = std::move(items)}};
  };
  add("Low or suspect",
      "Curves below what others published at their largest size; curves whose highest rate is "
      "below 60 % or above 102 % of the bound; sizes that take longer than a larger one, or have "
      "much less than the rate of smaller ones, of both neighbours or of the other placement.",
      suspect_findings(data));
  add("Where the lead changes",
      "Between two sizes that were run; nothing is interpolated, and rates within 2 % of each "
      "other are level.",
      crossing_findings(data));
  if (blocks.empty() && parts.empty()) return {};
  append(sections, parts);
  return sections;
}

/// A row per size.
Table rate_table(const SizeCurves& curves) {
  Table table{.caption = fmt::format("Bus bandwidth in GB/s over {} ranks: {}",
                                     curves.curves.front().key.ranks, curves.common)};
  add_number_column(table, "size");
  std::set<Bytes> sizes;
  for (const SizeCurve& curve : curves.curves) {
    add_number_column(table, curve.title);
    for (const SizePoint& point : curve.points) sizes.insert(point.size);
    sizes.insert(curve.missing.begin(), curve.missing.end());
  }
  for (const Bytes size : sizes) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row.push_back(format_bytes(size));
    for (const SizeCurve& curve : curves.curves) {
      const SizePoint* point = point_at(curve, size);
      row.push_back(point == nullptr ? "" : format_figure(point->busbw_GBps.median));
      if (point != nullptr && point->in_place_only) row.back() += " (in place)";
    }
  }
  return table;
}

/// A picture with a panel for each number of ranks, and their tables.
std::vector<Section> curve_sections(const ReportData& data) {
  if (data.collectives.empty()) return {};
  std::vector<Section> sections{{.level = 2, .id = "curves", .heading = "Curves"}};
  sections.front().blocks.emplace_back(
      Paragraph{.text = "Medians over launches, or means where they are imported. Out of place "
                        "where both placements were run; of a size that was measured in place "
                        "only, that value. A missing value is a gap."});
  for (const SizeCurves& collective : data.collectives) {
    Figure figure{.chart = busbw_figure(collective), .wide = true};
    figure.caption = figure.chart.title;
    Section& section = sections.emplace_back(
        Section{.level = 3, .heading = collective_name(collective.curves.front().key.collective)});
    section.blocks.emplace_back(std::move(figure));
    for (const SizeCurves& part : split_by_ranks(collective)) {
      section.blocks.emplace_back(rate_table(part));
    }
  }
  return sections;
}

Table sets_table(const ReportSystem& system) {
  Table table{.caption = fmt::format("Sets of devices of {}: bound in GB/s", system.name),
              .columns = {"set", "devices", "bound", "over", "limit"},
              .numbers = {2}};
  for (const topo::SetComparison& set : system.sets) {
    const topo::Bound& bound = set.choice.bound;
    table.rows.push_back({set.system, devices_text(bound.devices), format_figure(bound.bound_GBps),
                          bound.kind, bound.limit});
  }
  return table;
}

/// Its drawing, its best and worst sets, and its warnings.
Section system_section(const ReportSystem& system) {
  Section section{.level = 3, .id = "system-" + system.name, .heading = system.name};
  std::vector<DocumentBlock>& blocks = section.blocks;
  const topo::Graph& graph = *system.graph;
  blocks.emplace_back(
      Figure{.svg = svg_graph(graph, topo::ConstantSet::Nominal),
             .caption = fmt::format("{}{}{}. {}", graph.name, graph.title.empty() ? "" : ": ",
                                    graph.title, svg_graph_caption(graph)),
             .wide = true});
  if (!system.sets.empty()) blocks.emplace_back(sets_table(system));
  for (const std::string& warning : graph.warnings) {
    blocks.emplace_back(Paragraph{.text = warning, .warning = true});
  }
  for (const topo::Assumption& assumption : graph.assumptions) {
    blocks.emplace_back(Paragraph{.text = "Bounds here are estimates. Assumed: " + assumption.text,
                                  .warning = true});
  }
  return section;
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

/// A file's name without its folder: the folder is of this machine.
std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

/// "24, 1 skipped".
std::string rows_text(const Dataset& dataset) {
  std::string text = fmt::format("{}", dataset.records.size());
  for (const RowStatus status : {RowStatus::Wrong, RowStatus::Skipped, RowStatus::Failed}) {
    const auto count = std::ranges::count(dataset.records, status, &Record::status);
    if (count > 0) text += fmt::format(", {} {}", count, name(status));
  }
  return text;
}

/// "measured medians", "imported means (nccl-tests 2.17.8)", ...
std::string how_text(const Dataset& dataset) {
  const std::string tool = dataset.fact(fact::kTool);
  const Origin origin = origin_of(dataset);
  const bool by_tool = origin == Origin::Imported && !tool.empty();
  return fmt::format("{}{}", name(origin), by_tool ? fmt::format(" ({})", tool) : "");
}

/// A table of the facts that any run has.
Table runs_table(const ReportData& data) {
  Table table{.caption = "Runs: files and their heads",
              .columns = {"file", "system", "how", "rows"},
              .numbers = {3}};
  for (const Dataset& dataset : data.datasets) {
    table.rows.push_back(
        {file_name(dataset.path), dataset.label, how_text(dataset), rows_text(dataset)});
  }
  for (const auto& [fact, title] : {std::pair{fact::kImportedFrom, "log"},
                                    {fact::kStarted, "when"},
                                    {fact::kHosts, "where"},
                                    {fact::kProcessor, "processor"},
                                    {fact::kDevices, "devices"},
                                    {fact::kLibrary, "library"},
                                    {fact::kDeviceSet, "device set"},
                                    {fact::kBoundLimit, "limit"},
                                    {fact::kBusbar, "busbar"},
                                    {fact::kCommand, "command"}}) {
    const auto has_it = [fact = fact](const Dataset& run) { return !run.fact(fact).empty(); };
    if (std::ranges::none_of(data.datasets, has_it)) continue;
    table.columns.emplace_back(title);
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      const std::string value = data.datasets[i].fact(fact);
      const bool is_path = std::string_view(title) == "log";
      table.rows[i].push_back(is_path ? file_name(value) : value);
    }
  }
  return table;
}

/// No two headings may have one id.
void make_ids_unique(Document& document) {
  std::set<std::string> taken{"contents"};
  for (Section& section : document.sections) {
    const std::string id = markup_id(section.id.empty() ? section.heading : section.id);
    section.id = id;
    for (int i = 2; !taken.insert(section.id).second; ++i) section.id = fmt::format("{}-{}", id, i);
  }
}

std::vector<Section> run_sections(const ReportData& data) {
  std::vector<Section> sections;
  if (!data.datasets.empty()) {
    sections.push_back(
        {.level = 2, .id = "runs", .heading = "The runs", .blocks = {runs_table(data)}});
  }
  Section reading{.level = 2, .id = "reading", .heading = "How to read this page"};
  reading.blocks.emplace_back(Bullets{
      .items = {
          R"(Bus bandwidth: size over time, times a factor of the collective (2(n-1)/n for all-reduce, 1 for broadcast), so that it can be set against a link's rate whatever the number of ranks.)",
          R"(Bound: the highest bus bandwidth of rings over the links of a set of devices, by the links' nominal rates; for all-reduce the most of rings, of trees and of what the switch adds (NVLS), whichever is highest.)",
          R"(Simulated: predicted from the topology and from efficiencies in the system's file. Measured: timed on the machine that the runs' table names. Imported means: from the log of another tool, which gives a mean where our own rows have a median.)",
          R"(A dash is a missing value, never zero.)"}});
  sections.push_back(std::move(reading));
  return sections;
}

/// Where the curves are from: the first thing that a reader must know.
std::string lead_of(const ReportData& data) {
  std::string text = fmt::format("Peak bandwidth between the GPUs of {}, and its bottleneck.",
                                 counted(data.systems.size(), "system"));
  if (data.datasets.empty()) return text + " From topologies alone: nothing here is measured.";
  std::map<std::string_view, std::size_t> runs;
  for (const Dataset& dataset : data.datasets) ++runs[name(origin_of(dataset))];
  return fmt::format(
      "{} Runs: {}. Bandwidths are bus bandwidths in GB/s (10^9 bytes a second); "
      "sizes are binary.",
      text, join_each(runs, ", ", [](const auto& one) {
        return fmt::format("{} ({})", one.first, one.second);
      }));
}

}  // namespace

Document report_document(const ReportData& data) {
  Document document{
      .title = "Interconnects compared: " + join_and(mapped(data.systems, &ReportSystem::name)),
      .lead = lead_of(data),
      .sections = {{.id = "short", .heading = "In short", .blocks = {systems_table(data)}}}};
  append(document.sections, finding_sections(data));
  append(document.sections, curve_sections(data));
  append(document.sections, system_sections(data));
  append(document.sections, run_sections(data));
  make_ids_unique(document);
  return document;
}

}  // namespace busbar::study

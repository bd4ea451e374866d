// SPDX-License-Identifier: BSD-3-Clause
#include "study/report_document.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/markup_text.hpp"
#include "study/plot_size_figures.hpp"
#include "study/report_findings.hpp"
#include "study/report_systems.hpp"
#include "study/report_text.hpp"
#include "study/report_topology.hpp"

namespace busbar {
namespace {

void add(std::vector<Section>& sections, const std::string& heading, const std::string& words,
         std::vector<std::string> items) {
  if (items.empty()) return;
  Section section{.level = 3, .id = heading, .heading = heading};
  if (!words.empty()) section.blocks.emplace_back(Paragraph{.text = words});
  section.blocks.emplace_back(Bullets{.items = std::move(items)});
  sections.push_back(std::move(section));
}

std::vector<Bytes> all_sizes(const ReportPanel& panel) {
  std::set<Bytes> sizes;
  for (const ReportLine& line : panel.lines) {
    for (const SizePoint& rate : line.points) sizes.insert(rate.size);
    sizes.insert(line.gaps.begin(), line.gaps.end());
  }
  return {sizes.begin(), sizes.end()};
}

constexpr int kPageWidth = 540;
constexpr int kPageHeight = 320;

/// The curves of a panel for the figures over sizes.
SizeCurves curves_of(const ReportPanel& panel, const Palette& palette) {
  SizeCurves curves;
  for (const ReportLine& line : panel.lines) {
    SizeCurve curve{.key = line.key,
                    .title = line.words,
                    .style = palette.of(line.system, line.number, line.key.simulated),
                    .points = line.points};
    for (SizePoint& point : curve.points) point.bound_GBps = line.bound_GBps;
    curves.curves.push_back(std::move(curve));
  }
  return curves;
}

/// The caption says what dotted lines are.
Chart on_page(Chart chart, std::string title) {
  chart.title = std::move(title);
  for (ChartCurve& curve : chart.curves) {
    if (curve.kind == CurveKind::Bound) curve.title.clear();
  }
  chart.width = kPageWidth;
  chart.height = kPageHeight;
  return chart;
}

std::string origin_words(const ReportPanel& panel) {
  const auto count = [&](bool (*has)(const ReportLine&)) {
    return std::count_if(panel.lines.begin(), panel.lines.end(), has);
  };
  const auto all = static_cast<std::ptrdiff_t>(panel.lines.size());
  const auto simulated = count([](const ReportLine& line) { return line.key.simulated; });
  const auto imported = count([](const ReportLine& line) { return line.key.imported; });
  const auto in_place = count([](const ReportLine& line) {
    return std::any_of(line.points.begin(), line.points.end(),
                       [](const SizePoint& rate) { return rate.in_place_only; });
  });
  if (simulated == all) return "All curves are simulated, not measured.";
  std::string text = imported == 0     ? "Measured."
                     : imported == all ? "Imported means of other tools' logs."
                                       : "Measured, and imported means of other tools' logs.";
  if (simulated > 0) text += " Dashed: simulated, not measured.";
  if (in_place > 0) text += " Hollow: measured in place only.";
  if (count([](const ReportLine& line) { return line.key.fake; }) > 0) {
    text += " Fake GPUs: no figure is real.";
  }
  return text;
}

bool any_bound(const ReportPanel& panel) {
  return std::any_of(panel.lines.begin(), panel.lines.end(),
                     [](const ReportLine& line) { return line.bound_GBps.has_value(); });
}

/// What the caption says of a logarithmic axis.
std::string axis_words(const Chart& chart) {
  return chart.panels.front().y.kind == AxisKind::Log
             ? " The axis of bandwidths is logarithmic: the peaks differ by more than 30 times."
             : "";
}

Figure rate_figure(const ReportPanel& panel, const SizeCurves& curves, const std::string& where) {
  Figure figure{.chart = on_page(busbw_figure(curves), "Bus bandwidth against size: " + where)};
  figure.caption =
      fmt::format("Bus bandwidth, {}. {}{}{}", where, origin_words(panel),
                  any_bound(panel) ? " Dotted: the bound." : "", axis_words(figure.chart));
  return figure;
}

/// Slow links vanish beside fast ones: as a share of its own bound each shows.
Figure bound_figure(const ReportPanel& panel, const SizeCurves& curves, const std::string& where) {
  return {.chart = on_page(share_figure(curves), "Share of the bound against size: " + where),
          .caption =
              fmt::format("Share of each system's own bound, {}. {}", where, origin_words(panel))};
}

/// The last rows of a panel's table.
void add_bounds(const ReportPanel& panel, Table& table) {
  std::vector<std::string> bounds{"bound"};
  std::vector<std::string> shares{"highest of bound"};
  std::vector<std::string> limits{"limit"};
  for (const ReportLine& line : panel.lines) {
    const std::optional<double> share = best_share(line);
    bounds.push_back(line.bound_GBps ? format_figure(*line.bound_GBps) : "");
    shares.push_back(share ? format_percent(*share) : "");
    limits.push_back(line.limit);
  }
  table.rows.push_back(std::move(bounds));
  table.rows.push_back(std::move(shares));
  table.rows.push_back(std::move(limits));
}

Table rate_table(const ReportPanel& panel, const std::vector<Bytes>& sizes,
                 const std::string& where) {
  Table table{.caption = fmt::format("Bus bandwidth in GB/s, {}", where),
              .columns = {"size"},
              .numbers = {0}};
  for (const ReportLine& line : panel.lines) add_number_column(table, line.words);
  for (const Bytes size : sizes) {
    std::vector<std::string> row{format_bytes(size)};
    for (const ReportLine& line : panel.lines) {
      const std::optional<double> rate = rate_at(line, size);
      row.push_back(rate ? format_figure(*rate) : "");
      if (is_in_place_at(line, size)) row.back() += " (in place)";
    }
    table.rows.push_back(std::move(row));
  }
  if (any_bound(panel)) add_bounds(panel, table);
  return table;
}

/// ", float sum", where all lines have that type and operation.
std::string type_words(const ReportPanel& panel) {
  std::string text;
  for (std::string CurveKey::*part : {&CurveKey::type, &CurveKey::op}) {
    const std::string& first = panel.lines.front().key.*part;
    const bool common =
        std::all_of(panel.lines.begin(), panel.lines.end(),
                    [&](const ReportLine& line) { return line.key.*part == first; });
    if (common && !first.empty() && first != "none") text += (text.empty() ? ", " : " ") + first;
  }
  return text;
}

Section panel_section(const ReportPanel& panel, const Palette& palette) {
  const std::string collective = collective_name(panel.collective);
  const std::string where =
      fmt::format("{}, {}{}", collective, counted(static_cast<std::size_t>(panel.ranks), "rank"),
                  type_words(panel));
  const std::vector<Bytes> sizes = all_sizes(panel);
  Section section{.level = 3,
                  .id = fmt::format("{}-{}", panel.collective, panel.ranks),
                  .heading = fmt::format("{} over {}", collective,
                                         counted(static_cast<std::size_t>(panel.ranks), "rank"))};
  const SizeCurves curves = curves_of(panel, palette);
  section.blocks.emplace_back(rate_figure(panel, curves, where));
  if (any_bound(panel)) section.blocks.emplace_back(bound_figure(panel, curves, where));
  section.blocks.emplace_back(rate_table(panel, sizes, where));
  return section;
}

/// One system over numbers of ranks: a line of the chart and a row of the table.
void add_scaling(const ScalingRow& row, const std::set<int>& ranks, const Palette& palette,
                 Chart& chart, Table& table) {
  ChartCurve curve{.title = row.label, .style = palette.of(row.system, row.number, row.simulated)};
  std::vector<std::string> cells{row.label};
  for (const int n : ranks) {
    const auto at = std::find(row.ranks.begin(), row.ranks.end(), n);
    cells.emplace_back();
    if (at == row.ranks.end()) continue;
    const double rate_GBps = row.rates_GBps[static_cast<std::size_t>(at - row.ranks.begin())];
    curve.points.push_back({.x = static_cast<double>(n), .y = rate_GBps});
    cells.back() = format_figure(rate_GBps);
  }
  cells.emplace_back(name(row.trend));
  chart.curves.push_back(std::move(curve));
  table.rows.push_back(std::move(cells));
}

/// What a value of the curves is.
std::string values_words(const ReportData& data) {
  const auto imported = static_cast<std::size_t>(
      std::count_if(data.datasets.begin(), data.datasets.end(),
                    [](const Dataset& dataset) { return origin_of(dataset) == Origin::Imported; }));
  if (imported == 0) return "Medians over launches.";
  const char* means = "means, as the imported logs give them.";
  return imported == data.datasets.size() ? fmt::format("Values are {}", means)
                                          : fmt::format("Medians over launches, and {}", means);
}

/// A file's name without its folder: the folder is of this machine.
std::string file_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::string status_words(const Dataset& dataset) {
  const auto with = [&](RowStatus status) {
    return std::count_if(dataset.records.begin(), dataset.records.end(),
                         [&](const Record& record) { return record.status == status; });
  };
  std::string text = fmt::format("{}", dataset.records.size());
  for (const auto& [status, word] :
       {std::pair{RowStatus::Wrong, "wrong"}, std::pair{RowStatus::Skipped, "skipped"},
        std::pair{RowStatus::Failed, "failed"}}) {
    if (with(status) > 0) text += fmt::format(", {} {}", with(status), word);
  }
  return text;
}

/// "measured", "imported means (nccl-tests 2.17.8)", ...
std::string how_words(const Dataset& dataset) {
  const std::string tool = dataset.fact("tool");
  switch (origin_of(dataset)) {
    case Origin::Simulated: return "simulated";
    case Origin::Fake: return "on fake GPUs: nothing is real";
    case Origin::Imported:
      return tool.empty() ? "imported means" : fmt::format("imported means ({})", tool);
    case Origin::Measured: break;
  }
  return "measured";
}

/// A fact of the head; of a path the file's name alone.
std::string fact_words(const Dataset& dataset, const std::string& key) {
  return key == "imported-from" ? file_name(dataset.fact(key)) : dataset.fact(key);
}

Table runs_table(const ReportData& data) {
  constexpr std::array<std::pair<const char*, const char*>, 10> kFacts{
      {{"imported-from", "log"},
       {"started", "when"},
       {"hosts", "where"},
       {"processor", "processor"},
       {"devices", "devices"},
       {"library", "library"},
       {"device-set", "device set"},
       {"bound-limit", "limit"},
       {"busbar", "busbar"},
       {"command", "command"}}};
  Table table{.caption = "Runs: files and their heads",
              .columns = {"file", "system", "how", "rows"},
              .numbers = {3}};
  std::vector<const char*> keys;  // those that any run has
  for (const auto& [key, title] : kFacts) {
    const bool any =
        std::any_of(data.datasets.begin(), data.datasets.end(),
                    [name = key](const Dataset& dataset) { return !dataset.fact(name).empty(); });
    if (!any) continue;
    keys.push_back(key);
    table.columns.push_back(title);
  }
  for (const Dataset& dataset : data.datasets) {
    std::vector<std::string> row{file_name(dataset.path), dataset.label, how_words(dataset),
                                 status_words(dataset)};
    for (const char* key : keys) row.push_back(fact_words(dataset, key));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<std::string> names_of(const ReportData& data) {
  std::vector<std::string> names;
  for (const ReportSystem& system : data.systems) names.push_back(system.name);
  return names;
}

/// Where the curves are from: the first thing that a reader must know.
std::string lead_of(const ReportData& data) {
  std::string text = fmt::format("Peak bandwidth between the GPUs of {}, and its bottleneck.",
                                 counted(data.systems.size(), "system"));
  if (data.datasets.empty()) return text + " From topologies alone: nothing here is measured.";
  std::map<Origin, std::size_t> runs;
  std::set<std::string> tools;
  for (const Dataset& dataset : data.datasets) {
    ++runs[origin_of(dataset)];
    const std::string tool = dataset.fact("tool");
    const bool named = origin_of(dataset) == Origin::Imported && !tool.empty();
    if (named) tools.insert(tool.substr(0, tool.find_first_of(" ,")));
  }
  const std::string logs =
      fmt::format("imported from logs of {}: each value is a mean, where our own are medians",
                  tools.empty() ? "other tools"
                                : join_and(std::vector<std::string>(tools.begin(), tools.end())));
  for (const auto& [origin, words] :
       {std::pair{Origin::Simulated,
                  std::string("simulated: predicted from the topology, not measured")},
        std::pair{Origin::Fake, std::string("of the fake GPU machine: no figure is real")},
        std::pair{Origin::Imported, logs}, std::pair{Origin::Measured, std::string("measured")}}) {
    if (runs[origin] == 0) continue;
    text += runs[origin] == 1 ? " One run is " : fmt::format(" {} runs are ", runs[origin]);
    text += words + ".";
  }
  return text + " Bandwidths are bus bandwidths in GB/s (10^9 bytes a second); sizes are binary.";
}

/// No two headings may have one id.
void make_ids_unique(Document& document) {
  std::set<std::string> taken{"contents"};
  for (Section& section : document.sections) {
    const std::string id = markup_id(section.id.empty() ? section.heading : section.id);
    std::string unique = id;
    for (int i = 2; !taken.insert(unique).second; ++i) unique = fmt::format("{}-{}", id, i);
    section.id = unique;
  }
}

std::vector<Section> summary_sections(const ReportData& data) {
  std::vector<Section> sections{{.level = 2, .id = "short", .heading = "In short"}};
  for (const std::string& warning : comparison_warnings(data)) {
    sections.front().blocks.emplace_back(Paragraph{.text = warning, .warning = true});
  }
  for (const std::string& note : data.notes) {
    sections.front().blocks.emplace_back(Paragraph{.text = note});
  }
  sections.front().blocks.emplace_back(Bullets{.items = short_findings(data)});
  sections.push_back({.level = 2, .id = "findings", .heading = "Findings"});
  add(sections, "Who is fastest", "Rates within 2 % of each other are level.",
      fastest_findings(data));
  add(sections, "Highest bound", "By topology: what the links allow, whatever is measured.",
      topology_findings(data));
  add(sections, "Where the lead changes",
      "Between two sizes that were run; nothing is interpolated.", crossing_findings(data));
  add(sections, "More ranks",
      "Flat: greatest and least differ by 5 % or less. Rising, falling: no step of more than 5 % "
      "the other way. Mixed: up and down.",
      trend_findings(data));
  add(sections, "Low or suspect",
      "Curves whose highest rate is below 60 % or above 102 % of the bound.", share_findings(data));
  if (sections.back().heading == "Findings") sections.pop_back();
  return sections;
}

std::vector<Section> curve_sections(const ReportData& data, const Palette& palette) {
  if (data.panels.empty()) return {};
  std::vector<Section> sections{{.level = 2, .id = "curves", .heading = "Curves"}};
  sections.front().blocks.emplace_back(Paragraph{
      .text = values_words(data) +
              " Out of place where both placements were run; of a size that was measured in "
              "place only, that value. A missing value is a gap."});
  for (const ReportPanel& panel : data.panels) {
    sections.push_back(panel_section(panel, palette));
  }
  return sections;
}

std::vector<Section> scaling_sections(const ReportData& data, const Palette& palette) {
  Section section{.level = 2, .id = "scaling", .heading = "Scaling with the number of ranks"};
  for (const Scaling& scaling : scalings_of(data)) {
    std::set<int> ranks;
    for (const ScalingRow& row : scaling.rows) ranks.insert(row.ranks.begin(), row.ranks.end());
    if (ranks.size() < 2) continue;
    const std::string where =
        fmt::format("{}, {}", collective_name(scaling.collective), format_bytes(scaling.size));
    Chart chart = on_page({.panels = {{}}}, "Bus bandwidth against ranks: " + where);
    Table table{.caption = fmt::format("Bus bandwidth in GB/s by ranks, {}", where),
                .columns = {"system"}};
    for (const int n : ranks) {
      add_number_column(table, fmt::format("{} ranks", n));
    }
    table.columns.emplace_back("trend");
    for (const ScalingRow& row : scaling.rows) add_scaling(row, ranks, palette, chart, table);
    chart.panels.front().x = powers_axis("ranks", x_range(chart));
    static_cast<void>(set_rate_axis(chart, {}));
    std::string caption = fmt::format("Bus bandwidth by ranks, {}.{}", where, axis_words(chart));
    section.blocks.emplace_back(Figure{.chart = std::move(chart), .caption = std::move(caption)});
    section.blocks.emplace_back(std::move(table));
  }
  if (section.blocks.empty()) return {};
  return {section};
}

std::vector<Section> run_sections(const ReportData& data) {
  std::vector<Section> sections;
  if (!data.datasets.empty()) {
    Section runs{.level = 2, .id = "runs", .heading = "The runs"};
    runs.blocks.emplace_back(runs_table(data));
    sections.push_back(std::move(runs));
  }
  Section words{.level = 2, .id = "reading", .heading = "How to read this page"};
  words.blocks.emplace_back(Bullets{
      .items = {
          R"(Bus bandwidth: size over time, times a factor of the collective (2(n-1)/n for all-reduce, 1 for broadcast), so that it can be set against a link's rate whatever the number of ranks.)",
          R"(Bound: the highest bus bandwidth of rings over the links of a set of devices; for all-reduce the most of rings, of trees and of what the switch adds (NVLS), whichever is highest.)",
          R"(Cut: what crosses the narrowest division of the set, per direction; no algorithm passes it in a broadcast.)",
          R"(First: devices 0, 1, 2 and so on, which a job takes that does not choose.)",
          R"(Simulated: predicted from the topology and from efficiencies in the system's file. Measured: timed on the machine that the runs' table names. Imported means: from the log of another tool, which gives a mean where our own rows have a median.)",
          R"(A dash is a missing value, never zero.)"}});
  sections.push_back(std::move(words));
  return sections;
}

}  // namespace

Document report_document(const ReportData& data) {
  const std::vector<std::string> names = names_of(data);
  const Palette palette(names);
  Document document{.title = "Interconnects compared: " + join_and(names), .lead = lead_of(data)};
  for (const auto& sections :
       {summary_sections(data), topology_sections(data, palette), curve_sections(data, palette),
        scaling_sections(data, palette), system_sections(data), run_sections(data)}) {
    document.sections.insert(document.sections.end(), sections.begin(), sections.end());
  }
  make_ids_unique(document);
  return document;
}

}  // namespace busbar

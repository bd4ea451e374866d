// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "format/markup_text.hpp"
#include "model/collective.hpp"
#include "study/plot/figures.hpp"
#include "study/report/data.hpp"
#include "study/report/findings.hpp"

namespace busbar::study {
namespace {

/// The caption says what dotted lines are.
Chart on_page(Chart chart, std::string title) {
  chart.title = std::move(title);
  for (ChartCurve& curve : chart.curves) {
    if (curve.kind == CurveKind::Bound) curve.title.clear();
  }
  chart.width = 540;
  chart.height = 320;
  return chart;
}

/// Where the curves of a panel are from, and what their marks mean.
std::string origin_caption(const ReportPanel& panel) {
  std::size_t simulated = 0;
  std::size_t imported = 0;
  bool fake = false;
  bool in_place = false;
  for (const SizeCurve& curve : panel.curves) {
    simulated += curve.key.simulated ? 1 : 0;
    imported += curve.key.imported ? 1 : 0;
    fake = fake || curve.key.fake;
    in_place = in_place || std::ranges::any_of(curve.points, &SizePoint::in_place_only);
  }
  const std::size_t all = panel.curves.size();
  if (simulated == all) return "All curves are simulated, not measured.";
  std::string text = imported == 0     ? "Measured."
                     : imported == all ? "Imported means of other tools' logs."
                                       : "Measured, and imported means of other tools' logs.";
  if (simulated > 0) text += " Dashed: simulated, not measured.";
  if (in_place) text += " Hollow: measured in place only.";
  if (fake) text += " Fake GPUs: no figure is real.";
  return text;
}

/// What the caption says of a logarithmic axis.
std::string_view axis_caption(const Chart& chart) {
  return chart.panels.front().y.kind == AxisKind::Log
             ? " The axis of bandwidths is logarithmic: the peaks differ by more than 30 times."
             : "";
}

bool any_bound(const ReportPanel& panel) {
  return std::ranges::any_of(panel.curves, [](const SizeCurve& curve) {
    return curve.points.back().bound_GBps.has_value();
  });
}

template <class Text>
void add_curves_row(const ReportPanel& panel, std::string heading, Text text_of, Table& table) {
  std::vector<std::string>& row = table.rows.emplace_back();
  row.push_back(std::move(heading));
  for (const SizeCurve& curve : panel.curves) row.push_back(text_of(curve));
}

void add_bounds(const ReportPanel& panel, Table& table) {
  const auto bound = [](const SizeCurve& curve) {
    const std::optional<double> bound_GBps = curve.points.back().bound_GBps;
    return bound_GBps ? format_figure(*bound_GBps) : std::string();
  };
  const auto share = [](const SizeCurve& curve) {
    const std::optional<double> best = best_share(curve);
    return best ? format_percent(*best) : std::string();
  };
  add_curves_row(panel, "bound", bound, table);
  add_curves_row(panel, "highest of bound", share, table);
  add_curves_row(
      panel, "limit", [](const SizeCurve& curve) { return curve.limit; }, table);
}

/// A row per size, and the bounds below.
Table rate_table(const ReportPanel& panel, const std::string& where) {
  Table table{.caption = fmt::format("Bus bandwidth in GB/s, {}", where)};
  add_number_column(table, "size");
  std::set<Bytes> sizes;
  for (const SizeCurve& curve : panel.curves) {
    add_number_column(table, curve.title);
    for (const SizePoint& point : curve.points) sizes.insert(point.size);
    sizes.insert(curve.missing.begin(), curve.missing.end());
  }
  for (const Bytes size : sizes) {
    const auto rate = [&](const SizeCurve& curve) -> std::string {
      const SizePoint* point = point_at(curve, size);
      if (point == nullptr) return {};
      return format_figure(point->busbw_GBps.median) + (point->in_place_only ? " (in place)" : "");
    };
    add_curves_row(panel, format_bytes(size), rate, table);
  }
  if (any_bound(panel)) add_bounds(panel, table);
  return table;
}

/// What `busbar expect` prints of each curve.
Table others_table(const ReportPanel& panel, const std::string& where) {
  Table table{.caption = fmt::format("What such machines reach in GB/s, {}", where),
              .columns = {"system", "size", "figure", "GB/s", "by"},
              .numbers = {1, 3}};
  for (std::size_t i = 0; i < panel.curves.size(); ++i) {
    const auto& known = panel.expectations[i];
    if (!known) continue;
    for (const auto& row : figures_table(known->request, known->expected).rows) {
      const bool is_measured = row.front() == "yours";
      table.rows.push_back({panel.curves[i].title, format_bytes(known->request.size),
                            is_measured ? "this curve" : row[0], row[1], row[2]});
    }
  }
  return table;
}

/// ", float sum", where all curves have that type and operation.
std::string common_type(const ReportPanel& panel) {
  std::string text;
  for (std::string CurveKey::*part : {&CurveKey::type, &CurveKey::op}) {
    const std::string& first = panel.curves.front().key.*part;
    const bool common = std::ranges::all_of(
        panel.curves, [&](const SizeCurve& curve) { return curve.key.*part == first; });
    if (common && !first.empty() && first != "none") text += (text.empty() ? ", " : " ") + first;
  }
  return text;
}

/// Slow links vanish beside fast ones: as a share of its own bound each shows.
Section panel_section(const ReportPanel& panel) {
  const std::string collective = collective_name(panel.collective);
  const std::string ranks = counted(panel.ranks, "rank");
  const std::string where = fmt::format("{}, {}{}", collective, ranks, common_type(panel));
  const std::string origin = origin_caption(panel);
  const SizeCurves curves{.curves = panel.curves};
  Section section{.level = 3,
                  .id = fmt::format("{}-{}", panel.collective, panel.ranks),
                  .heading = fmt::format("{} over {}", collective, ranks)};
  Figure rates{.chart = on_page(busbw_figure(curves), "Bus bandwidth against size: " + where)};
  rates.caption =
      fmt::format("Bus bandwidth, {}. {}{}{}", where, origin,
                  any_bound(panel) ? " Dotted: the bound." : "", axis_caption(rates.chart));
  section.blocks.emplace_back(std::move(rates));
  if (any_bound(panel)) {
    section.blocks.emplace_back(
        Figure{.chart = on_page(share_figure(curves), "Share of the bound against size: " + where),
               .caption = fmt::format("Share of each system's own bound, {}. {}", where, origin)});
  }
  section.blocks.emplace_back(rate_table(panel, where));
  if (Table others = others_table(panel, where); !others.rows.empty()) {
    section.blocks.emplace_back(std::move(others));
  }
  return section;
}

/// A curve and a row for each system.
void add_scaling(const Scaling& scaling, Section& section) {
  const std::string where = fmt::format(
      "{}, {}", collective_name(scaling.curves.front().key.collective), format_bytes(scaling.size));
  std::set<int> ranks;
  for (const ScalingCurve& curve : scaling.curves) {
    for (const auto& [count, point] : curve.points) ranks.insert(count);
  }
  if (ranks.size() < 2) return;
  Chart chart{.panels = {{}}};
  Table table{.caption = fmt::format("Bus bandwidth in GB/s by ranks, {}", where),
              .columns = {"system"}};
  for (const int count : ranks) add_number_column(table, fmt::format("{} ranks", count));
  table.columns.emplace_back("trend");
  for (const ScalingCurve& scaled : scaling.curves) {
    ChartCurve curve{.title = scaled.title, .style = scaled.style};
    std::vector<std::string>& row = table.rows.emplace_back();
    row.push_back(scaled.title);
    for (const int count : ranks) {
      const auto at = scaled.points.find(count);
      row.emplace_back();
      if (at == scaled.points.end() || at->second == nullptr) continue;
      const double rate_GBps = at->second->busbw_GBps.median;
      curve.points.push_back({.x = static_cast<double>(count), .y = rate_GBps});
      row.back() = format_figure(rate_GBps);
    }
    row.emplace_back(name(trend_of(rates_of(scaled))));
    chart.curves.push_back(std::move(curve));
  }
  chart.panels.front().x = powers_axis("ranks", x_range(chart));
  set_rate_axis(chart, {});
  Figure figure{.chart = on_page(std::move(chart), "Bus bandwidth against ranks: " + where)};
  figure.caption = fmt::format("Bus bandwidth by ranks, {}.{}", where, axis_caption(figure.chart));
  section.blocks.emplace_back(std::move(figure));
  section.blocks.emplace_back(std::move(table));
}

std::string values_text(const ReportData& data) {
  const std::size_t imported = count_of(
      data.datasets, [](const Dataset& dataset) { return origin_of(dataset) == Origin::Imported; });
  if (imported == 0) return "Medians over launches.";
  const char* means = "means, as the imported logs give them.";
  return imported == data.datasets.size() ? fmt::format("Values are {}", means)
                                          : fmt::format("Medians over launches, and {}", means);
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

/// Where the curves are from: the first thing that a reader must know.
std::string lead_of(const ReportData& data) {
  std::string text = fmt::format("Peak bandwidth between the GPUs of {}, and its bottleneck.",
                                 counted(data.systems.size(), "system"));
  if (data.datasets.empty()) return text + " From topologies alone: nothing here is measured.";
  std::map<Origin, std::size_t> runs;
  std::set<std::string> tools;
  for (const Dataset& dataset : data.datasets) {
    ++runs[origin_of(dataset)];
    const std::string tool = dataset.fact(fact::kTool);
    if (origin_of(dataset) == Origin::Imported && !tool.empty()) {
      tools.insert(tool.substr(0, tool.find_first_of(" ,")));
    }
  }
  if (tools.empty()) tools.insert("other tools");
  const std::string logs =
      fmt::format("imported from logs of {}: each value is a mean, where our own are medians",
                  join_and(std::vector<std::string>(tools.begin(), tools.end())));
  for (const auto& [origin, what] :
       {std::pair<Origin, std::string>{Origin::Simulated,
                                       "simulated: predicted from the topology, not measured"},
        {Origin::Fake, "of the fake GPU machine: no figure is real"},
        {Origin::Imported, logs},
        {Origin::Measured, "measured"}}) {
    if (runs[origin] == 0) continue;
    text += runs[origin] == 1 ? " One run is " : fmt::format(" {} runs are ", runs[origin]);
    text += what + ".";
  }
  return text + " Bandwidths are bus bandwidths in GB/s (10^9 bytes a second); sizes are binary.";
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

std::vector<Section> finding_sections(const ReportData& data) {
  std::vector<Section> sections{{.level = 2, .id = "findings", .heading = "Findings"}};
  std::vector<DocumentBlock> blocks;
  for (const ReportSystem& system : data.systems) {
    for (const std::string& doubt : doubts_of(system)) {
      blocks.emplace_back(
          Paragraph{.text = fmt::format("{}: {}", system.name, doubt), .warning = true});
    }
  }
  for (const std::string& warning : comparison_warnings(data)) {
    blocks.emplace_back(Paragraph{.text = warning, .warning = true});
  }
  for (const std::string& note : data.notes) blocks.emplace_back(Paragraph{.text = note});
  blocks.emplace_back(Bullets{.items = short_findings(data)});
  sections.front().blocks = std::move(blocks);
  const auto add = [&](const char* heading, const char* text, std::vector<std::string> items) {
    if (items.empty()) return;
    sections.push_back({.level = 3, .id = heading, .heading = heading});
    sections.back().blocks = {Paragraph{.text = text}, Bullets{.items = std::move(items)}};
  };
  add("Who is fastest", "Rates within 2 % of each other are level.", fastest_findings(data.panels));
  add("Highest bound", "By topology: what the links allow, whatever is measured.",
      topology_findings(data));
  add("Where the lead changes", "Between two sizes that were run; nothing is interpolated.",
      crossing_findings(data.panels));
  add("More ranks",
      "Flat: greatest and least differ by 5 % or less. Rising, falling: no step of more than 5 % "
      "the other way. Mixed: up and down.",
      trend_findings(data));
  add("Low or suspect",
      "Curves below what others published at their largest size; curves whose highest rate is "
      "below 60 % or above 102 % of the bound; sizes that take longer than a larger one, or have "
      "much less than the rate of smaller ones, of both neighbours or of the other placement.",
      suspect_findings(data));
  return sections;
}

std::vector<Section> curve_sections(const ReportData& data) {
  if (data.panels.empty()) return {};
  std::vector<Section> sections{{.level = 2, .id = "curves", .heading = "Curves"}};
  sections.front().blocks.emplace_back(
      Paragraph{.text = values_text(data) +
                        " Out of place where both placements were run; of a size that was measured "
                        "in place only, that value. A missing value is a gap."});
  for (const ReportPanel& panel : data.panels) sections.push_back(panel_section(panel));
  Section scalings{.level = 2, .id = "scaling", .heading = "Scaling with the number of ranks"};
  for (const Scaling& scaling : scalings_of(data)) add_scaling(scaling, scalings);
  if (!scalings.blocks.empty()) sections.push_back(std::move(scalings));
  return sections;
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
          R"(Bound: the highest bus bandwidth of rings over the links of a set of devices; for all-reduce the most of rings, of trees and of what the switch adds (NVLS), whichever is highest.)",
          R"(Cut: what crosses the narrowest division of the set, per direction; no algorithm passes it in a broadcast.)",
          R"(First: devices 0, 1, 2 and so on, which a job takes that does not choose.)",
          R"(Simulated: predicted from the topology and from efficiencies in the system's file. Measured: timed on the machine that the runs' table names. Imported means: from the log of another tool, which gives a mean where our own rows have a median.)",
          R"(A dash is a missing value, never zero.)"}});
  sections.push_back(std::move(reading));
  return sections;
}

}  // namespace

Document report_document(const ReportData& data) {
  const auto names = mapped(data.systems, &ReportSystem::name);
  Document document{.title = "Interconnects compared: " + join_and(names), .lead = lead_of(data)};
  const Palette palette(names);
  for (const auto& sections : {std::vector{summary_section(data, palette)}, finding_sections(data),
                               topology_sections(data, palette), curve_sections(data),
                               system_sections(data), run_sections(data)}) {
    append(document.sections, sections);
  }
  make_ids_unique(document);
  return document;
}

}  // namespace busbar::study

// SPDX-License-Identifier: BSD-3-Clause
// Sections with the curves of each collective and number of ranks.
#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/svg_chart.hpp"
#include "study/report_findings.hpp"
#include "study/report_sections.hpp"
#include "study/report_words.hpp"

namespace busbar {
namespace {

std::vector<Bytes> all_sizes(const ReportPanel& panel) {
  std::set<Bytes> sizes;
  for (const ReportLine& line : panel.lines) {
    for (const SizedRate& rate : line.rates) sizes.insert(rate.size);
    sizes.insert(line.gaps.begin(), line.gaps.end());
  }
  return {sizes.begin(), sizes.end()};
}

/// A line's values over the sizes; `scale` makes shares of them.
ChartSeries series_of(const ReportContext& context, const ReportLine& line,
                      const std::vector<Bytes>& sizes, double scale) {
  ChartSeries series{
      .label = line.label, .style = context.style_of(line.system), .simulated = line.key.simulated};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::optional<double> rate = rate_at(line, sizes[i]);
    if (rate) {
      series.points.push_back({.tick = i, .value = *rate * scale});
    } else if (line.gaps.contains(sizes[i])) {
      series.points.push_back({.tick = i});
    }
  }
  return series;
}

Chart size_chart(const std::vector<Bytes>& sizes) {
  Chart chart{.x_title = "message size"};
  for (const Bytes size : sizes) {
    chart.ticks.push_back({.position = std::log2(std::max(static_cast<double>(size), 1.0)),
                           .label = format_bytes(size)});
  }
  return chart;
}

std::string origin_words(const ReportPanel& panel) {
  const auto simulated = std::count_if(panel.lines.begin(), panel.lines.end(),
                                       [](const ReportLine& line) { return line.key.simulated; });
  if (simulated == 0) return "Measured.";
  if (simulated == static_cast<std::ptrdiff_t>(panel.lines.size())) {
    return "All curves are simulated, not measured.";
  }
  return "Hollow marks: simulated, not measured.";
}

Figure rate_figure(const ReportContext& context, const ReportPanel& panel,
                   const std::vector<Bytes>& sizes, const std::string& where) {
  Chart chart = size_chart(sizes);
  chart.title = "Bus bandwidth against size: " + where;
  chart.y_title = "bus bandwidth, GB/s";
  chart.unit = "GB/s";
  for (const ReportLine& line : panel.lines) {
    chart.series.push_back(series_of(context, line, sizes, 1));
    chart.series.back().bound = line.bound_GBps;
  }
  return {.svg = svg_chart(chart),
          .caption =
              fmt::format("Bus bandwidth, {}. Dotted: the bound. {}", where, origin_words(panel))};
}

/// Slow links vanish beside fast ones: as a share of its own bound each shows.
std::optional<Figure> share_figure(const ReportContext& context, const ReportPanel& panel,
                                   const std::vector<Bytes>& sizes, const std::string& where) {
  Chart chart = size_chart(sizes);
  chart.title = "Share of the bound against size: " + where;
  chart.y_title = "share of its own bound, %";
  chart.unit = "%";
  double most = 100;
  for (const ReportLine& line : panel.lines) {
    if (!line.bound_GBps) continue;
    chart.series.push_back(series_of(context, line, sizes, 100 / *line.bound_GBps));
    for (const ChartPoint& point : chart.series.back().points) {
      most = std::max(most, point.value.value_or(0));
    }
  }
  if (chart.series.empty()) return std::nullopt;
  chart.top = most;
  return Figure{.svg = svg_chart(chart),
                .caption = fmt::format("Share of each system's own bound, {}. {}", where,
                                       origin_words(panel))};
}

DocumentTable rate_table(const ReportPanel& panel, const std::vector<Bytes>& sizes,
                         const std::string& where) {
  DocumentTable table{.caption = fmt::format("Bus bandwidth in GB/s, {}", where),
                      .columns = {{"size", true}}};
  for (const ReportLine& line : panel.lines) table.columns.push_back({line.words, true});
  std::vector<std::string> bounds{"bound"};
  for (const ReportLine& line : panel.lines) {
    bounds.push_back(line.bound_GBps ? figure_words(*line.bound_GBps) : "");
  }
  std::vector<std::string> shares{"highest of bound"};
  for (const ReportLine& line : panel.lines) {
    const std::optional<double> share = best_share(line);
    shares.push_back(share ? percent_words(*share) : "");
  }
  std::vector<std::string> limits{"limit"};
  for (const ReportLine& line : panel.lines) limits.push_back(line.limit);
  for (const Bytes size : sizes) {
    std::vector<std::string> row{format_bytes(size)};
    for (const ReportLine& line : panel.lines) {
      const std::optional<double> rate = rate_at(line, size);
      row.push_back(rate ? figure_words(*rate) : "");
    }
    table.rows.push_back(std::move(row));
  }
  table.rows.push_back(std::move(bounds));
  table.rows.push_back(std::move(shares));
  table.rows.push_back(std::move(limits));
  return table;
}

Section panel_section(const ReportContext& context, const ReportPanel& panel) {
  const std::string collective = collective_words(panel.collective);
  const std::string where =
      fmt::format("{}, {}", collective, counted(static_cast<std::size_t>(panel.ranks), "rank"));
  const std::vector<Bytes> sizes = all_sizes(panel);
  Section section{.level = 3,
                  .id = fmt::format("{}-{}", panel.collective, panel.ranks),
                  .heading = fmt::format("{} over {}", collective,
                                         counted(static_cast<std::size_t>(panel.ranks), "rank"))};
  section.blocks.emplace_back(rate_figure(context, panel, sizes, where));
  if (auto share = share_figure(context, panel, sizes, where)) {
    section.blocks.emplace_back(std::move(*share));
  }
  section.blocks.emplace_back(rate_table(panel, sizes, where));
  return section;
}

/// One system over numbers of ranks: a line of the chart and a row of the table.
void add_scaling(const ReportContext& context, const ScalingRow& row, const std::set<int>& ranks,
                 Chart& chart, DocumentTable& table) {
  ChartSeries series{
      .label = row.system, .style = context.style_of(row.system), .simulated = row.simulated};
  std::vector<std::string> cells{row.label};
  std::size_t tick = 0;
  for (const int n : ranks) {
    const auto at = std::find(row.ranks.begin(), row.ranks.end(), n);
    cells.emplace_back();
    if (at != row.ranks.end()) {
      const double rate_GBps = row.rates_GBps[static_cast<std::size_t>(at - row.ranks.begin())];
      series.points.push_back({.tick = tick, .value = rate_GBps});
      cells.back() = figure_words(rate_GBps);
    }
    ++tick;
  }
  cells.emplace_back(name(row.trend));
  chart.series.push_back(std::move(series));
  table.rows.push_back(std::move(cells));
}

}  // namespace

std::vector<Section> curve_sections(const ReportContext& context) {
  if (context.data.panels.empty()) return {};
  std::vector<Section> sections{{.level = 2, .id = "curves", .heading = "Curves"}};
  sections.front().blocks.emplace_back(
      Paragraph{.text = "Medians over launches; out of place where both placements were run. A "
                        "missing value is a gap."});
  for (const ReportPanel& panel : context.data.panels) {
    sections.push_back(panel_section(context, panel));
  }
  return sections;
}

std::vector<Section> scaling_sections(const ReportContext& context) {
  Section section{.level = 2, .id = "scaling", .heading = "Scaling with the number of ranks"};
  for (const Scaling& scaling : scalings_of(context.data)) {
    std::set<int> ranks;
    for (const ScalingRow& row : scaling.rows) ranks.insert(row.ranks.begin(), row.ranks.end());
    if (ranks.size() < 2) continue;
    const std::string where =
        fmt::format("{}, {}", collective_words(scaling.collective), format_bytes(scaling.size));
    Chart chart{.title = "Bus bandwidth against ranks: " + where,
                .x_title = "ranks",
                .y_title = "bus bandwidth, GB/s",
                .unit = "GB/s"};
    DocumentTable table{.caption = fmt::format("Bus bandwidth in GB/s by ranks, {}", where),
                        .columns = {{"system", false}}};
    for (const int n : ranks) {
      chart.ticks.push_back({.position = std::log2(n), .label = fmt::format("{}", n)});
      table.columns.push_back({fmt::format("{} ranks", n), true});
    }
    table.columns.push_back({"trend", false});
    for (const ScalingRow& row : scaling.rows) add_scaling(context, row, ranks, chart, table);
    section.blocks.emplace_back(Figure{
        .svg = svg_chart(chart), .caption = fmt::format("Bus bandwidth by ranks, {}.", where)});
    section.blocks.emplace_back(std::move(table));
  }
  if (section.blocks.empty()) return {};
  return {section};
}

}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
// Sections with the curves of each collective and number of ranks.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/svg_chart.hpp"
#include "study/rate_axis.hpp"
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
  ChartSeries series{.label = line.label,
                     .style = context.styles.of(line.system, line.number),
                     .simulated = line.key.simulated};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const std::optional<double> rate = rate_at(line, sizes[i]);
    if (rate) {
      series.points.push_back(
          {.tick = i, .value = *rate * scale, .hollow = is_in_place_at(line, sizes[i])});
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
  const auto count = [&](bool (*has)(const ReportLine&)) {
    return std::count_if(panel.lines.begin(), panel.lines.end(), has);
  };
  const auto all = static_cast<std::ptrdiff_t>(panel.lines.size());
  const auto simulated = count([](const ReportLine& line) { return line.key.simulated; });
  const auto imported = count([](const ReportLine& line) { return line.key.imported; });
  const auto in_place = count([](const ReportLine& line) {
    return std::any_of(line.rates.begin(), line.rates.end(),
                       [](const SizedRate& rate) { return rate.in_place; });
  });
  if (simulated == all) return "All curves are simulated, not measured.";
  std::string text = imported == 0     ? "Measured."
                     : imported == all ? "Imported means of other tools' logs."
                                       : "Measured, and imported means of other tools' logs.";
  if (simulated > 0) text += " Hollow marks all along a curve: simulated, not measured.";
  if (in_place > 0) text += " Single hollow marks: measured in place only.";
  if (count([](const ReportLine& line) { return line.key.fake; }) > 0) {
    text += " Fake GPUs: no figure is real.";
  }
  return text;
}

bool any_bound(const ReportPanel& panel) {
  return std::any_of(panel.lines.begin(), panel.lines.end(),
                     [](const ReportLine& line) { return line.bound_GBps.has_value(); });
}

/// Slow systems would lie on zero beside fast ones.
std::optional<double> log_low(const Chart& chart) {
  std::vector<RateRange> curves;
  for (const ChartSeries& series : chart.series) {
    RateRange range{.low = std::numeric_limits<double>::infinity()};
    for (const ChartPoint& point : series.points) {
      if (point.value.value_or(0) <= 0) continue;
      range.low = std::min(range.low, *point.value);
      range.high = std::max(range.high, *point.value);
    }
    if (range.high > 0) curves.push_back(range);
  }
  return log_axis_low(curves);
}

/// Sets the axis of rates; returns what the caption says of it.
std::string set_rate_axis(Chart& chart) {
  chart.y_title = "bus bandwidth, GB/s";
  chart.unit = "GB/s";
  chart.log_low = log_low(chart);
  if (!chart.log_low) return {};
  chart.y_title += " (logarithmic)";
  return " The axis of bandwidths is logarithmic: the peaks differ by more than 30 times.";
}

Figure rate_figure(const ReportContext& context, const ReportPanel& panel,
                   const std::vector<Bytes>& sizes, const std::string& where) {
  Chart chart = size_chart(sizes);
  chart.title = "Bus bandwidth against size: " + where;
  for (const ReportLine& line : panel.lines) {
    chart.series.push_back(series_of(context, line, sizes, 1));
    chart.series.back().bound = line.bound_GBps;
  }
  const std::string axis = set_rate_axis(chart);
  return {.svg = svg_chart(chart),
          .caption = fmt::format("Bus bandwidth, {}. {}{}{}", where, origin_words(panel),
                                 any_bound(panel) ? " Dotted: the bound." : "", axis)};
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

/// The last rows of a panel's table.
void add_bounds(const ReportPanel& panel, DocumentTable& table) {
  std::vector<std::string> bounds{"bound"};
  std::vector<std::string> shares{"highest of bound"};
  std::vector<std::string> limits{"limit"};
  for (const ReportLine& line : panel.lines) {
    const std::optional<double> share = best_share(line);
    bounds.push_back(line.bound_GBps ? figure_words(*line.bound_GBps) : "");
    shares.push_back(share ? percent_words(*share) : "");
    limits.push_back(line.limit);
  }
  table.rows.push_back(std::move(bounds));
  table.rows.push_back(std::move(shares));
  table.rows.push_back(std::move(limits));
}

DocumentTable rate_table(const ReportPanel& panel, const std::vector<Bytes>& sizes,
                         const std::string& where) {
  DocumentTable table{.caption = fmt::format("Bus bandwidth in GB/s, {}", where),
                      .columns = {{"size", true}}};
  for (const ReportLine& line : panel.lines) table.columns.push_back({line.words, true});
  for (const Bytes size : sizes) {
    std::vector<std::string> row{format_bytes(size)};
    for (const ReportLine& line : panel.lines) {
      const std::optional<double> rate = rate_at(line, size);
      row.push_back(rate ? figure_words(*rate) : "");
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

Section panel_section(const ReportContext& context, const ReportPanel& panel) {
  const std::string collective = collective_words(panel.collective);
  const std::string where =
      fmt::format("{}, {}{}", collective, counted(static_cast<std::size_t>(panel.ranks), "rank"),
                  type_words(panel));
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
  ChartSeries series{.label = row.label_in_chart,
                     .style = context.styles.of(row.system, row.number),
                     .simulated = row.simulated};
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

}  // namespace

std::vector<Section> curve_sections(const ReportContext& context) {
  if (context.data.panels.empty()) return {};
  std::vector<Section> sections{{.level = 2, .id = "curves", .heading = "Curves"}};
  sections.front().blocks.emplace_back(Paragraph{
      .text = values_words(context.data) +
              " Out of place where both placements were run; of a size that was measured in "
              "place only, that value. A missing value is a gap."});
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
    Chart chart{.title = "Bus bandwidth against ranks: " + where, .x_title = "ranks"};
    DocumentTable table{.caption = fmt::format("Bus bandwidth in GB/s by ranks, {}", where),
                        .columns = {{"system", false}}};
    for (const int n : ranks) {
      chart.ticks.push_back({.position = std::log2(n), .label = fmt::format("{}", n)});
      table.columns.push_back({fmt::format("{} ranks", n), true});
    }
    table.columns.push_back({"trend", false});
    for (const ScalingRow& row : scaling.rows) add_scaling(context, row, ranks, chart, table);
    const std::string axis = set_rate_axis(chart);
    section.blocks.emplace_back(
        Figure{.svg = svg_chart(chart),
               .caption = fmt::format("Bus bandwidth by ranks, {}.{}", where, axis)});
    section.blocks.emplace_back(std::move(table));
  }
  if (section.blocks.empty()) return {};
  return {section};
}

}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "model/collective.hpp"
#include "study/report/data.hpp"
#include "study/report/findings.hpp"
#include "topo/choice/sets.hpp"

namespace busbar::study {
namespace {

/// A system with one number of devices: what the links allow, and the highest rate there is.
struct SummaryRow {
  std::string system{};  ///< of the palette
  std::string title{};
  int devices = 0;
  std::optional<double> bound_GBps{};
  std::optional<SizePoint> best{};
  std::string origin{};  ///< of the rate
  std::string limit{};
};

std::string origin_of(const CurveKey& key) {
  if (key.simulated) return "simulated";
  if (key.fake) return "fake";
  return key.imported ? "imported" : "measured";
}

/// The curves of the first collective.
void add_rates(const ReportData& data, std::vector<SummaryRow>& rows) {
  for (const ReportPanel& panel : data.panels) {
    if (panel.collective != data.panels.front().collective) continue;
    for (const SizeCurve& curve : panel.curves) {
      const SizePoint& best = highest_point(curve);
      rows.push_back({.system = curve.key.label,
                      .title = panel.title(curve),
                      .devices = panel.ranks,
                      .bound_GBps = best.bound_GBps,
                      .best = best,
                      .origin = origin_of(curve.key),
                      .limit = curve.limit});
    }
  }
}

/// All devices of systems that no curve is of.
void add_bounds(const ReportData& data, const std::string& collective,
                std::vector<SummaryRow>& rows) {
  for (const ReportSystem& system : data.systems) {
    if (system.sets.empty() || !system.sets.back().best) continue;
    if (any_has(rows, system.name, &SummaryRow::system)) continue;
    const topo::Bound& bound = system.sets.back().best->bound;
    rows.push_back({.system = system.name,
                    .title = doubted_name(system),
                    .devices = system.sets.back().k,
                    .bound_GBps = topo::collective_GBps(bound, collective),
                    .limit = bound.limit});
  }
}

/// Systems in their order, each by rising number of devices. Of very many rows only the last of
/// each system.
std::vector<SummaryRow> summary_rows(const ReportData& data, const std::string& collective) {
  constexpr std::size_t kMost = 32;
  std::vector<SummaryRow> found;
  add_rates(data, found);
  add_bounds(data, collective, found);
  std::vector<SummaryRow> rows;
  for (const ReportSystem& system : data.systems) {
    append(rows, filtered(found, [&](const SummaryRow& row) { return row.system == system.name; }));
  }
  if (rows.size() <= kMost) return rows;
  std::vector<SummaryRow> last;
  for (SummaryRow& row : rows) {
    if (last.empty() || last.back().system != row.system) last.emplace_back();
    last.back() = std::move(row);
  }
  return last;
}

std::string share_text(const SummaryRow& row) {
  const bool both = row.best && row.bound_GBps.value_or(0) > 0;
  return both ? format_percent(row.best->busbw_GBps.median / *row.bound_GBps) : std::string();
}

/// "measured" or "simulated" where all rates are.
std::string origin_of_all(const std::vector<SummaryRow>& rows) {
  std::string origin;
  for (const SummaryRow& row : rows) {
    if (!row.best || row.origin == origin) continue;
    if (!origin.empty()) return "rate";
    origin = row.origin;
  }
  return origin;
}

std::vector<std::string> cells_of(const SummaryRow& row, const std::string& origin) {
  std::vector<std::string> cells{row.title, fmt::format("{}", row.devices),
                                 row.bound_GBps ? format_figure(*row.bound_GBps) : ""};
  if (row.best) {
    append(cells, {format_figure(row.best->busbw_GBps.median), share_text(row),
                   format_bytes(row.best->size)});
  } else if (!origin.empty()) {
    append(cells, {"", "", ""});
  }
  if (origin == "rate") cells.push_back(row.origin);
  cells.push_back(row.limit);
  return cells;
}

Table summary_table(const std::vector<SummaryRow>& rows, const std::string& what) {
  const std::string origin = origin_of_all(rows);
  Table table{.caption = fmt::format("{} by number of devices, GB/s{}", what,
                                     origin.empty() ? "; nothing is measured" : ""),
              .columns = {"system"}};
  add_number_column(table, "devices");
  add_number_column(table, "bound");
  if (!origin.empty()) {
    add_number_column(table, origin);
    add_number_column(table, "of bound");
    add_number_column(table, "at");
  }
  if (origin == "rate") table.columns.emplace_back("which is");
  table.columns.emplace_back("what limits the bound");
  for (const SummaryRow& row : rows) table.rows.push_back(cells_of(row, origin));
  return table;
}

/// A full bar to the rate, an empty one to the bound.
Figure summary_figure(const std::vector<SummaryRow>& rows, const std::string& what,
                      const Palette& palette) {
  constexpr int kWidth = 900;
  constexpr double kRoom = 1.25;  // for the text at the longest bar
  double highest = 0;
  for (const SummaryRow& row : rows) {
    highest =
        std::max({highest, row.bound_GBps.value_or(0), row.best ? row.best->busbw_GBps.median : 0});
  }
  Chart chart = chart_of_rows(what + " by system", "GB/s", highest * kRoom, kWidth);
  bool empty_bars = false;
  for (const SummaryRow& row : rows) {
    const double at = add_row(chart, fmt::format("{}, {}", row.title, row.devices));
    const int colour = palette.of(row.system).colour;
    ChartBox bar{.bottom = at - 0.34, .top = at + 0.34, .outline = colour};
    ChartText note{.y = at};
    if (row.bound_GBps) {
      bar.right = note.x = *row.bound_GBps;
      chart.boxes.push_back(bar);
      empty_bars = true;
      note.text = "bound " + format_figure(*row.bound_GBps);
    }
    if (row.best) {
      bar.right = row.best->busbw_GBps.median;
      bar.fill = colour;
      chart.boxes.push_back(bar);
      note.x = std::max(note.x, bar.right);
      const std::string share = share_text(row);
      note.text = format_figure(bar.right) + (share.empty() ? "" : ", " + share + " of the bound");
    }
    chart.texts.push_back(std::move(note));
  }
  const std::string origin = origin_of_all(rows);
  std::string caption = what + " in GB/s, by system and number of devices.";
  if (!origin.empty()) {
    caption += fmt::format(" Full: the highest {}.", origin == "rate" ? origin : origin + " rate");
  }
  if (empty_bars) caption += " Outline: the bound, what the links allow.";
  return {.chart = std::move(chart), .caption = std::move(caption), .wide = true};
}

}  // namespace

Chart chart_of_rows(std::string title, std::string x_title, double x_high, int width) {
  return {.title = std::move(title),
          .panels = {{.x = {.title = std::move(x_title), .high = x_high},
                      .y = {.kind = AxisKind::Names, .high = -0.5}}},
          .width = width,
          .height = 62};
}

double add_row(Chart& chart, const std::string& name) {
  ChartAxis& rows = chart.panels.front().y;
  const auto row = static_cast<double>(rows.names.size());
  rows.names.push_back(name);
  rows.low = row + 0.5;
  chart.height += 24;
  return row;
}

Section summary_section(const ReportData& data, const Palette& palette) {
  const std::string collective = data.panels.empty() ? "allreduce" : data.panels.front().collective;
  const std::string what = "Bus bandwidth of " + collective_name(collective);
  const std::vector<SummaryRow> rows = summary_rows(data, collective);
  Section section{.id = "short", .heading = "In short"};
  if (rows.empty()) return section;
  section.blocks = {summary_table(rows, what), summary_figure(rows, what, palette)};
  return section;
}

}  // namespace busbar::study

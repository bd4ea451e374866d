// SPDX-License-Identifier: BSD-3-Clause
#include "study/workload/output.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/embedded_text.hpp"
#include "base/text.hpp"
#include "format/json.hpp"

namespace busbar::study {
namespace {

constexpr double kMega = 1e6;

// --- columns ------------------------------------------------------------------------------------

/// One line of an output: a model on a number of ranks, with what the output is about.
struct Line {
  const WorkloadRequest& request;
  const WorkloadCase& job;
  int ranks = 0;
  std::size_t overlap = 0;              ///< of the request's overlaps
  const SystemRates* system = nullptr;  ///< null: no system was given
  std::optional<MessageTime> sync{};
  const WorkloadRow* row = nullptr;      ///< of a report; else null
  const ImpliedRate* implied = nullptr;  ///< of the inverse; else null
  std::optional<double> link_share{};    ///< of the inverse
};

std::optional<double> milliseconds(const std::optional<double>& seconds) {
  return seconds ? std::optional(*seconds * kMilli) : std::nullopt;
}

std::optional<double> milliseconds(const std::optional<MessageTime>& time) {
  return time ? std::optional(time->seconds * kMilli) : std::nullopt;
}

/// An element of a list with one per overlap, or none.
template <class List>
auto element(const List& list, const Line& line) {
  return line.overlap < list.size() ? std::optional(list[line.overlap]) : std::nullopt;
}

template <auto Member>
std::optional<double> of_step(const Line& line) {
  const auto step = element(line.row->steps, line);
  return step ? std::optional((*step).*Member) : std::nullopt;
}

/// What a reader should know of a rate; empty: nothing.
std::string note_of(const Line& line) {
  if (!line.sync) return "no curve";
  return line.sync->outside ? "outside" : "";
}

using L = const Line&;
using Bandwidth = std::optional<double>;
using Truth = std::optional<bool>;

constexpr auto kWorkloadColumns = std::to_array<Column<Line>>({
    {"model", "model", [](L l) { return l.job.model.name; }},
    {"dtype", "", [](L l) { return info(l.request.type).name; }},
    {"parameters", "", [](L l) { return std::llround(l.job.model.parameters); }},
    {"gradient_bytes", "", [](L l) { return std::llround(l.job.bytes); }},
    {"gradient_MB", "MB", [](L l) { return l.job.bytes / kMega; }, figure_text},
    {"ranks", "ranks", [](L l) { return l.ranks; }},
    {"overlap", "overlap", [](L l) { return l.request.overlaps[l.overlap]; }, overlap_text},
    {"batch", "", [](L l) { return l.job.batch; }},
    {"compute_ms", "", [](L l) { return milliseconds(l.job.compute_s); }},
    {"system", "", [](L l) { return l.system ? Cell(l.system->system) : Cell(); }},
    {"system_title", "system", [](L l) { return title_of(*l.system); }},
    {"simulated", "", [](L l) { return l.system ? Truth(l.system->simulated) : Truth(); }},
    {"busbw_GBps", "GB/s", [](L l) { return l.sync ? Bandwidth(l.sync->GBps) : Bandwidth(); },
     figure_text},
    {"sync_ms", "link ms", [](L l) { return milliseconds(l.sync); }, figure_text},
    {"outside_measured_sizes", "", [](L l) { return l.sync ? Truth(l.sync->outside) : Truth(); }},
    {"data_parallel_ms", "DP ms", [](L l) { return milliseconds(l.row->data_parallel); },
     figure_text},
    {"data_parallel_bytes_ratio", "", [](L l) { return data_parallel_ratio(l.ranks); }},
    {"note", "note", [](L l) { return note_of(l); }},
    {"wire_share", "", [](L l) { return l.row->wire_share; }},
    {"exposed_ms", "", [](L l) { return milliseconds(of_step<&StepTime::exposed>(l)); }},
    {"step_ms", "step ms", [](L l) { return milliseconds(of_step<&StepTime::step>(l)); },
     figure_text},
    {"exposed_share", "share%", [](L l) { return of_step<&StepTime::share>(l); }, percent},
    {"efficiency", "eff%", [](L l) { return of_step<&StepTime::efficiency>(l); }, percent},
    {"samples_per_s", "samples/s", [](L l) { return element(l.row->samples_per_s, l); },
     figure_text},
    {"needed_busbw_GBps", "need GB/s", [](L l) { return element(l.row->needed_GBps, l); },
     figure_text},
    {"implied_compute_ms", "compute ms", [](L l) { return l.implied->compute_s * kMilli; },
     figure_text},
    {"implied_exposed_ms", "exposed ms", [](L l) { return l.implied->exposed_s * kMilli; },
     figure_text},
    {"implied_busbw_GBps", "implied GB/s", [](L l) { return element(l.implied->busbw_GBps, l); },
     figure_text},
    {"share_of_exposed", "", [](L l) { return l.link_share; }},
});

constexpr std::string_view kReportCsv =
    "model dtype parameters gradient_bytes ranks overlap batch compute_ms system simulated "
    "busbw_GBps sync_ms outside_measured_sizes data_parallel_ms data_parallel_bytes_ratio "
    "wire_share exposed_ms step_ms exposed_share efficiency samples_per_s needed_busbw_GBps";
constexpr std::string_view kImpliedCsv =
    "model dtype parameters gradient_bytes ranks overlap batch compute_ms system simulated "
    "busbw_GBps sync_ms outside_measured_sizes exposed_ms=implied_exposed_ms implied_busbw_GBps "
    "share_of_exposed";
constexpr std::string_view kRowJson =
    "model system ranks busbw_GBps sync_ms data_parallel_ms data_parallel_bytes_ratio "
    "outside_measured_sizes wire_share";
constexpr std::string_view kStepJson =
    "overlap needed_GBps=needed_busbw_GBps exposed_ms step_ms share=exposed_share efficiency "
    "samples_per_s";
constexpr std::string_view kImpliedJson =
    "model ranks compute_ms=implied_compute_ms exposed_ms=implied_exposed_ms";
constexpr std::string_view kRateJson = "overlap busbw_GBps=implied_busbw_GBps";
constexpr std::string_view kLinkJson =
    "system busbw_GBps sync_ms share_of_exposed outside_measured_sizes";
constexpr std::string_view kExchangeTable =
    "model gradient_MB system_title ranks busbw_GBps sync_ms data_parallel_ms";
constexpr std::string_view kStepTable =
    "model system_title ranks overlap step_ms exposed_share efficiency samples_per_s "
    "needed_busbw_GBps";
constexpr std::string_view kImpliedTable =
    "model gradient_MB ranks implied_compute_ms implied_exposed_ms overlap implied_busbw_GBps";

Table table_of(std::string_view names, const std::vector<Line>& lines) {
  return make_table(select_columns(kWorkloadColumns, names), lines);
}

Json json_of(std::string_view names, const std::vector<Line>& lines) {
  return json_rows(select_columns(kWorkloadColumns, names), lines);
}

// --- lines --------------------------------------------------------------------------------------

Line line_of(const WorkloadRequest& request, const WorkloadRow& row) {
  return {.request = request,
          .job = request.cases[row.model],
          .ranks = row.ranks,
          .system = &request.systems[row.system],
          .sync = row.sync,
          .row = &row};
}

Line line_of(const WorkloadRequest& request, const ImpliedRate& rate) {
  return {
      .request = request, .job = request.cases[rate.model], .ranks = rate.ranks, .implied = &rate};
}

Line with_link(Line line, const ExplainedTime& link) {
  line.system = &line.request.systems[link.system];
  line.sync = link.sync;
  line.link_share = link.share;
  return line;
}

/// The line once for each of the first `count` overlaps.
std::vector<Line> per_overlap(const Line& line, std::size_t count) {
  std::vector<Line> lines(count, line);
  for (std::size_t i = 0; i < count; ++i) lines[i].overlap = i;
  return lines;
}

std::vector<Line> lines_of(const WorkloadRequest& request, const WorkloadReport& report) {
  return mapped(report.rows, [&](const WorkloadRow& row) { return line_of(request, row); });
}

// --- text ---------------------------------------------------------------------------------------

/// "# " and the text, broken at blanks; continuation lines are indented.
std::string comment(std::string_view line) {
  constexpr std::size_t kWidth = 100;  // of plain text; tables are wider if names are long
  std::string text = wrapped(fmt::format("# {}", line), kWidth, 4);
  for (std::size_t end = 0; (end = text.find('\n', end)) != std::string::npos;) text[++end] = '#';
  return text + '\n';
}

std::string section(bool markdown, const std::vector<std::string>& lines, const Table& table) {
  std::string text;
  for (const std::string& line : lines) {
    text += markdown ? fmt::format("- {}\n", line) : comment(line);
  }
  if (table.rows.empty()) return text;
  return text + (markdown ? "\n" + markdown_table(table) : plain_table(table));
}

/// What the links take of each model, whatever computes.
Table exchange_table(const WorkloadRequest& request, const WorkloadReport& report) {
  const std::vector<Line> lines = lines_of(request, report);
  const bool notes =
      std::ranges::any_of(lines, [](const Line& line) { return !note_of(line).empty(); });
  return table_of(fmt::format("{}{}", kExchangeTable, notes ? " note" : ""), lines);
}

/// Steps, a row per overlap, so that any number of them fits a terminal.
Table step_table(const WorkloadRequest& request, const WorkloadReport& report) {
  std::vector<Line> lines;
  for (const Line& line : lines_of(request, report)) {
    append(lines, per_overlap(line, line.row->needed_GBps.size()));
  }
  return table_of(kStepTable, lines);
}

Table limits_table(const WorkloadRequest& request, const WorkloadReport& report) {
  Table table{.columns = {"model", "system", "overlap", "largest ranks"}};
  for (const WorkloadLimit& limit : report.limits) {
    table.rows.push_back({request.cases[limit.model].model.name,
                          title_of(request.systems[limit.system]), overlap_text(limit.overlap),
                          limit.ranks ? fmt::format("{}", *limit.ranks) : ""});
  }
  return table;
}

Table ranking_table(const WorkloadRequest& request, const WorkloadReport& report) {
  Table table{.columns = {"model", "ranks", "place", "system", "link ms", "times"}};
  for (const WorkloadRanking& ranking : report.rankings) {
    const double fastest = report.rows[ranking.rows.front()].sync->seconds;
    int place = 0;
    for (const std::size_t index : ranking.rows) {
      const WorkloadRow& row = report.rows[index];
      table.rows.push_back({request.cases[row.model].model.name, fmt::format("{}", row.ranks),
                            fmt::format("{}", ++place), title_of(request.systems[row.system]),
                            figure_text(row.sync->seconds * kMilli),
                            fmt::format("{:.2f}", row.sync->seconds / fastest)});
    }
  }
  return table;
}

// --- CSV and JSON -------------------------------------------------------------------------------

/// "# key: value" lines, as the CSVs of measurements have.
std::string head_csv(const WorkloadRequest& request) {
  std::string text = fmt::format("# busbar: {}\n", version());
  for (const std::string& line : head_notes(request)) {
    text += fmt::format("# {}\n", one_line(line));
  }
  return text;
}

Json models_json(const WorkloadRequest& request) {
  return json_array(request.cases, [](const WorkloadCase& job) {
    return Json{{"model", job.model.name},
                {"parameters", job.model.parameters},
                {"gradient_bytes", job.bytes},
                {"batch", json_or_null(job.batch)},
                {"compute_ms", json_or_null(milliseconds(job.compute_s))},
                {"compute_source", job.compute_source},
                {"compute_assumed", job.compute_assumed},
                {"source", job.model.source}};
  });
}

Json head_json(const WorkloadRequest& request) {
  Json systems = json_array(request.systems, [](const SystemRates& system) {
    return Json{{"system", system.system},
                {"simulated", system.simulated},
                {"constant_GBps", json_or_null(system.constant_GBps)}};
  });
  return {{"label", kWorkloadLabel},
          {"dtype", info(request.type).name},
          {"bucket_bytes", request.bucket == 0 ? Json(nullptr) : Json(request.bucket)},
          {"strong_scaling", request.strong},
          {"target_efficiency", request.target},
          {"models", models_json(request)},
          {"systems", std::move(systems)}};
}

}  // namespace

std::string workload_text(const WorkloadRequest& request, const WorkloadReport& report,
                          bool markdown) {
  std::vector<std::string> lines = head_notes(request);
  for (std::string& line : report_notes(report)) lines.push_back(std::move(line));
  std::string text = section(markdown, lines, exchange_table(request, report));
  const auto add = [&](const std::string& line, const Table& table) {
    if (!table.rows.empty()) text += "\n" + section(markdown, {line}, table);
  };
  const std::string target = percent(request.target);
  add(fmt::format("a step; overlap: the part of the computing behind which the exchange may hide; "
                  "share: its exposed part; need: bus bandwidth for {}% efficiency",
                  target),
      step_table(request, report));
  add(fmt::format("largest number of the ranks above with {}% efficiency; -: none", target),
      limits_table(request, report));
  add("systems by the time of the exchange", ranking_table(request, report));
  return text;
}

std::string implied_text(const WorkloadRequest& request, const std::vector<ImpliedRate>& implied,
                         bool markdown) {
  std::vector<std::string> lines = head_notes(request);
  lines.push_back(fmt::format(
      "{}: implied GB/s is what the links would have if all of the exposed time, and the overlap's "
      "part of the computing, were theirs: their least rate, not a measured one",
      request.reported_as));
  std::vector<Line> rows;
  for (const ImpliedRate& rate : implied) {
    append(rows, per_overlap(line_of(request, rate), rate.busbw_GBps.size()));
    for (std::string& line : implied_notes(request, rate)) lines.push_back(std::move(line));
  }
  return section(markdown, lines, table_of(kImpliedTable, rows));
}

std::string workload_json(const WorkloadRequest& request, const WorkloadReport& report) {
  Json json = head_json(request);
  json["rows"] = Json::array();
  for (const Line& line : lines_of(request, report)) {
    json["rows"].push_back(json_object(select_columns(kWorkloadColumns, kRowJson), line));
    Json steps = json_of(kStepJson, per_overlap(line, line.row->needed_GBps.size()));
    for (Json& step : steps) {
      if (step["samples_per_s"].is_null()) step.erase("samples_per_s");
    }
    json["rows"].back()["steps"] = std::move(steps);
  }
  json["largest_ranks"] = json_array(report.limits, [&](const WorkloadLimit& limit) {
    return Json{{"model", request.cases[limit.model].model.name},
                {"system", request.systems[limit.system].system},
                {"overlap", limit.overlap},
                {"ranks", json_or_null(limit.ranks)}};
  });
  const auto system_of = [&](std::size_t row) {
    return request.systems[report.rows[row].system].system;
  };
  json["rankings"] = json_array(report.rankings, [&](const WorkloadRanking& ranking) {
    return Json{{"model", request.cases[ranking.model].model.name},
                {"ranks", ranking.ranks},
                {"systems", json_array(ranking.rows, system_of)}};
  });
  return json_text(json);
}

std::string implied_json(const WorkloadRequest& request, const std::vector<ImpliedRate>& implied) {
  Json json = head_json(request);
  json["reported"] = request.reported_as;
  json["efficiency"] = json_or_null(request.reported_efficiency);
  json["implied"] = Json::array();
  for (const ImpliedRate& rate : implied) {
    const Line line = line_of(request, rate);
    const auto links =
        mapped(rate.links, [&](const ExplainedTime& link) { return with_link(line, link); });
    Json object = json_object(select_columns(kWorkloadColumns, kImpliedJson), line);
    object["rates"] = json_of(kRateJson, per_overlap(line, rate.busbw_GBps.size()));
    object["links"] = json_of(kLinkJson, links);
    json["implied"].push_back(std::move(object));
  }
  return json_text(json);
}

std::string workload_csv(const WorkloadRequest& request, const WorkloadReport& report) {
  std::vector<Line> lines;
  for (const Line& line : lines_of(request, report)) {
    append(lines, per_overlap(line, request.overlaps.size()));
  }
  return fmt::format("{}# target-efficiency: {:g}\n{}", head_csv(request), request.target,
                     csv_text(select_columns(kWorkloadColumns, kReportCsv), lines));
}

std::string implied_csv(const WorkloadRequest& request, const std::vector<ImpliedRate>& implied) {
  std::vector<Line> lines;
  for (const ImpliedRate& rate : implied) {
    for (const Line& line : per_overlap(line_of(request, rate), rate.busbw_GBps.size())) {
      if (rate.links.empty()) lines.push_back(line);
      for (const ExplainedTime& link : rate.links) lines.push_back(with_link(line, link));
    }
  }
  return fmt::format("{}# reported: {}\n# efficiency: {:g}\n{}", head_csv(request),
                     one_line(request.reported_as), request.reported_efficiency.value_or(0),
                     csv_text(select_columns(kWorkloadColumns, kImpliedCsv), lines));
}

}  // namespace busbar::study

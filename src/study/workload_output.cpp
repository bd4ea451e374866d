// SPDX-License-Identifier: BSD-3-Clause
#include "study/workload_output.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/embedded_text.hpp"
#include "base/text.hpp"
#include "report/table.hpp"
#include "study/workload_notes.hpp"

namespace busbar {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kMilli = 1e3;
constexpr double kMega = 1e6;

// --- values of a line ---------------------------------------------------------------------------

/// One line of an output: a model on so many ranks, with what the output is about.
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

template <class Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json milliseconds(const std::optional<MessageTime>& time) {
  return time ? Json(time->seconds * kMilli) : Json(nullptr);
}

/// Of a list with an element per overlap, or none.
Json element(const std::vector<double>& list, std::size_t overlap) {
  return overlap < list.size() ? Json(list[overlap]) : Json(nullptr);
}

Json step_value(const Line& line, double StepTime::*member, double factor = 1) {
  const std::vector<StepTime>& steps = line.row->steps;
  return line.overlap < steps.size() ? Json(steps[line.overlap].*member * factor) : Json(nullptr);
}

Json note_of(const std::optional<MessageTime>& sync) {
  if (!sync) return "no curve";
  return sync->outside ? Json("outside") : Json(nullptr);
}

Json compute_ms(const WorkloadCase& job) {
  return job.compute_s ? Json(*job.compute_s * kMilli) : Json(nullptr);
}

/// A column of a table or CSV, or a member of a JSON object.
struct Column {
  enum class Style { Plain, Percent, Overlap };

  std::string_view name;   ///< in CSV and JSON
  std::string_view title;  ///< of text; empty: in no table
  Json (*get)(const Line& line);
  Style style = Style::Plain;  ///< of text
};

using L = const Line&;
using Style = Column::Style;

constexpr auto kColumns = std::to_array<Column>({
    {"model", "model", [](L l) -> Json { return l.job.model.name; }},
    {"dtype", "", [](L l) -> Json { return std::string(info(l.request.type).name); }},
    {"parameters", "", [](L l) -> Json { return std::llround(l.job.model.parameters); }},
    {"gradient_bytes", "", [](L l) -> Json { return std::llround(l.job.bytes); }},
    {"gradient_MB", "MB", [](L l) -> Json { return l.job.bytes / kMega; }},
    {"ranks", "ranks", [](L l) -> Json { return l.ranks; }},
    {"overlap", "overlap", [](L l) -> Json { return l.request.overlaps[l.overlap]; },
     Style::Overlap},
    {"batch", "", [](L l) { return or_null(l.job.batch); }},
    {"compute_ms", "", [](L l) { return compute_ms(l.job); }},
    {"system", "", [](L l) { return l.system != nullptr ? Json(l.system->system) : Json(); }},
    {"system_title", "system", [](L l) -> Json { return title_of(*l.system); }},
    {"simulated", "", [](L l) { return l.system != nullptr ? Json(l.system->simulated) : Json(); }},
    {"busbw_GBps", "GB/s", [](L l) { return l.sync ? Json(l.sync->GBps) : Json(); }},
    {"sync_ms", "link ms", [](L l) { return milliseconds(l.sync); }},
    {"outside_measured_sizes", "", [](L l) { return l.sync ? Json(l.sync->outside) : Json(); }},
    {"data_parallel_ms", "DP ms", [](L l) { return milliseconds(l.row->data_parallel); }},
    {"data_parallel_bytes_ratio", "", [](L l) -> Json { return data_parallel_ratio(l.ranks); }},
    {"note", "note", [](L l) { return note_of(l.sync); }},
    {"wire_share", "", [](L l) { return or_null(l.row->wire_share); }},
    {"exposed_ms", "", [](L l) { return step_value(l, &StepTime::exposed, kMilli); }},
    {"step_ms", "step ms", [](L l) { return step_value(l, &StepTime::step, kMilli); }},
    {"exposed_share", "share%", [](L l) { return step_value(l, &StepTime::share); },
     Style::Percent},
    {"efficiency", "eff%", [](L l) { return step_value(l, &StepTime::efficiency); },
     Style::Percent},
    {"samples_per_s", "samples/s", [](L l) { return element(l.row->samples_per_s, l.overlap); }},
    {"needed_busbw_GBps", "need GB/s", [](L l) { return element(l.row->needed_GBps, l.overlap); }},
    {"implied_compute_ms", "compute ms", [](L l) -> Json { return l.implied->compute_s * kMilli; }},
    {"implied_exposed_ms", "exposed ms", [](L l) -> Json { return l.implied->exposed_s * kMilli; }},
    {"implied_busbw_GBps", "implied GB/s",
     [](L l) { return element(l.implied->busbw_GBps, l.overlap); }},
    {"share_of_exposed", "", [](L l) { return or_null(l.link_share); }},
});

/// Columns by name; "share=exposed_share" is one under another name.
std::vector<Column> columns_of(std::string_view names) {
  std::vector<Column> columns;
  std::size_t end = 0;
  for (std::size_t start = 0; start < names.size(); start = end + 1) {
    end = std::min(names.find(' ', start), names.size());
    const std::string_view item = names.substr(start, end - start);
    const std::size_t equals = item.find('=');
    const std::string_view name = item.substr(equals == std::string_view::npos ? 0 : equals + 1);
    columns.push_back(*std::find_if(kColumns.begin(), kColumns.end(),
                                    [&](const Column& column) { return column.name == name; }));
    columns.back().name = item.substr(0, equals);
  }
  return columns;
}

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

// --- forms of output ----------------------------------------------------------------------------

/// The text of a value, empty for null; `number` writes fractions.
template <class Number>
std::string text_of(const Json& value, Number number) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
  if (value.is_null()) return {};
  return value.is_number_float() ? number(value.get<double>()) : value.dump();
}

Table table_of(std::string_view names, const std::vector<Line>& lines) {
  constexpr auto kStyles = std::to_array({figure, percent, overlap_text});
  const std::vector<Column> columns = columns_of(names);
  Table table;
  for (const Column& column : columns) table.columns.emplace_back(column.title);
  for (const Line& line : lines) {
    table.rows.emplace_back();
    for (const Column& column : columns) {
      const auto style = kStyles.at(static_cast<std::size_t>(column.style));
      table.rows.back().push_back(text_of(column.get(line), style));
    }
  }
  return table;
}

std::string csv_of(std::string_view names, const std::vector<Line>& lines) {
  const auto number = [](double value) { return fmt::format("{:.7g}", value); };
  const std::vector<Column> columns = columns_of(names);
  std::vector<std::string> cells;
  for (const Column& column : columns) cells.emplace_back(column.name);
  std::string text = join(cells, ",") + "\n";
  for (const Line& line : lines) {
    cells.clear();
    for (const Column& column : columns) {
      cells.push_back(csv_cell(one_line(text_of(column.get(line), number))));
    }
    text += join(cells, ",") + "\n";
  }
  return text;
}

enum class Missing { Null, Absent };

Json json_of(std::string_view names, const Line& line, Missing missing = Missing::Null) {
  Json object = Json::object();
  for (const Column& column : columns_of(names)) {
    Json value = column.get(line);
    if (missing == Missing::Absent && value.is_null()) continue;
    object[std::string(column.name)] = std::move(value);
  }
  return object;
}

Json json_of(std::string_view names, const std::vector<Line>& lines,
             Missing missing = Missing::Null) {
  Json array = Json::array();
  for (const Line& line : lines) array.push_back(json_of(names, line, missing));
  return array;
}

std::string dump(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
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

void append(std::vector<Line>& lines, const std::vector<Line>& more) {
  for (const Line& line : more) lines.push_back(line);
}

std::vector<Line> lines_of(const WorkloadRequest& request, const WorkloadReport& report) {
  std::vector<Line> lines;
  for (const WorkloadRow& row : report.rows) lines.push_back(line_of(request, row));
  return lines;
}

// --- text ---------------------------------------------------------------------------------------

/// "# " and the text, broken at blanks; continuation lines are indented.
std::string comment(std::string_view line) {
  constexpr std::size_t kWidth = 100;  // of plain text; tables are wider if names are long
  std::string text = "#";
  std::size_t width = text.size();
  for (const std::string& word : split(line, ' ')) {
    if (width > 1 && width + 1 + word.size() > kWidth) {
      text += "\n#  ";
      width = 3;
    }
    text += ' ' + word;
    width += 1 + word.size();
  }
  return text + '\n';
}

/// Lines of explanation and a table.
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
  const bool notes = std::any_of(lines.begin(), lines.end(),
                                 [](const Line& line) { return !note_of(line.sync).is_null(); });
  return table_of(fmt::format("{}{}", kExchangeTable, notes ? " note" : ""), lines);
}

/// Steps, a row per overlap, so that any number of them fits a terminal.
Table step_table(const WorkloadRequest& request, const WorkloadReport& report) {
  std::vector<Line> lines;
  for (const WorkloadRow& row : report.rows) {
    append(lines, per_overlap(line_of(request, row), row.needed_GBps.size()));
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
                            figure(row.sync->seconds * kMilli),
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
  Json models = Json::array();
  for (const WorkloadCase& job : request.cases) {
    models.push_back({{"model", job.model.name},
                      {"parameters", job.model.parameters},
                      {"gradient_bytes", job.bytes},
                      {"batch", or_null(job.batch)},
                      {"compute_ms", compute_ms(job)},
                      {"compute_source", job.compute_source},
                      {"compute_assumed", job.compute_assumed},
                      {"source", job.model.source}});
  }
  return models;
}

Json head_json(const WorkloadRequest& request) {
  Json systems = Json::array();
  for (const SystemRates& system : request.systems) {
    systems.push_back({{"system", system.system},
                       {"simulated", system.simulated},
                       {"constant_GBps", or_null(system.constant_GBps)}});
  }
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
  if (const Table steps = step_table(request, report); !steps.rows.empty()) {
    text += "\n" +
            section(markdown,
                    {fmt::format("a step; overlap: the part of the computing behind which the "
                                 "exchange may hide; share: its exposed part; need: bus bandwidth "
                                 "for {}% efficiency",
                                 percent(request.target))},
                    steps);
  }
  if (!report.limits.empty()) {
    text += "\n" +
            section(markdown,
                    {fmt::format("largest number of the ranks above with {}% efficiency; -: none",
                                 percent(request.target))},
                    limits_table(request, report));
  }
  if (!report.rankings.empty()) {
    text += "\n" + section(markdown, {"systems by the time of the exchange"},
                           ranking_table(request, report));
  }
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
    json["rows"].push_back(json_of(kRowJson, line));
    json["rows"].back()["steps"] =
        json_of(kStepJson, per_overlap(line, line.row->needed_GBps.size()), Missing::Absent);
  }
  json["largest_ranks"] = Json::array();
  for (const WorkloadLimit& limit : report.limits) {
    json["largest_ranks"].push_back({{"model", request.cases[limit.model].model.name},
                                     {"system", request.systems[limit.system].system},
                                     {"overlap", limit.overlap},
                                     {"ranks", or_null(limit.ranks)}});
  }
  json["rankings"] = Json::array();
  for (const WorkloadRanking& ranking : report.rankings) {
    Json order = Json::array();
    for (const std::size_t row : ranking.rows) {
      order.push_back(request.systems[report.rows[row].system].system);
    }
    json["rankings"].push_back({{"model", request.cases[ranking.model].model.name},
                                {"ranks", ranking.ranks},
                                {"systems", std::move(order)}});
  }
  return dump(json);
}

std::string implied_json(const WorkloadRequest& request, const std::vector<ImpliedRate>& implied) {
  Json json = head_json(request);
  json["reported"] = request.reported_as;
  json["efficiency"] = or_null(request.reported_efficiency);
  json["implied"] = Json::array();
  for (const ImpliedRate& rate : implied) {
    const Line line = line_of(request, rate);
    std::vector<Line> links;
    for (const ExplainedTime& link : rate.links) links.push_back(with_link(line, link));
    Json object = json_of(kImpliedJson, line);
    object["rates"] = json_of(kRateJson, per_overlap(line, rate.busbw_GBps.size()));
    object["links"] = json_of(kLinkJson, links);
    json["implied"].push_back(std::move(object));
  }
  return dump(json);
}

std::string workload_csv(const WorkloadRequest& request, const WorkloadReport& report) {
  std::vector<Line> lines;
  for (const Line& line : lines_of(request, report)) {
    append(lines, per_overlap(line, request.overlaps.size()));
  }
  return fmt::format("{}# target-efficiency: {:g}\n{}", head_csv(request), request.target,
                     csv_of(kReportCsv, lines));
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
                     csv_of(kImpliedCsv, lines));
}

}  // namespace busbar

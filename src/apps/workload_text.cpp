// SPDX-License-Identifier: BSD-3-Clause
#include "apps/workload_text.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "apps/workload_words.hpp"
#include "base/text.hpp"
#include "report/text_table.hpp"

namespace busbar {
namespace {

constexpr double kMilli = 1e3;
constexpr double kMega = 1e6;

constexpr std::string_view kOutside = "outside measured sizes";

bool is_outside(const WorkloadRow& row) { return row.sync && row.sync->outside; }

std::string note_of(const WorkloadRow& row) {
  if (!row.sync) return "no curve";
  return is_outside(row) ? "outside" : "";
}

std::string milliseconds(const std::optional<MessageTime>& time) {
  return time ? figure(time->seconds * kMilli) : "";
}

/// What the links take of each model, whatever computes.
TextTable exchange_table(const WorkloadRequest& request, const WorkloadReport& report) {
  const bool notes = std::any_of(report.rows.begin(), report.rows.end(),
                                 [](const WorkloadRow& row) { return !note_of(row).empty(); });
  TextTable table{.columns = {"model", "MB", "system", "ranks", "GB/s", "link ms", "DP ms"}};
  if (notes) table.columns.emplace_back("note");
  for (const WorkloadRow& row : report.rows) {
    const WorkloadCase& job = request.cases[row.model];
    table.rows.push_back({job.model.name, figure(job.bytes / kMega),
                          name_of(request.systems[row.system]), fmt::format("{}", row.ranks),
                          row.sync ? figure(row.sync->GBps) : "", milliseconds(row.sync),
                          milliseconds(row.data_parallel)});
    if (notes) table.rows.back().push_back(note_of(row));
  }
  return table;
}

/// Time, share and efficiency of a step, or gaps where the links' rate is not known.
std::vector<std::string> step_cells(const WorkloadRow& row, std::size_t overlap) {
  std::vector<std::string> cells(4);
  if (overlap < row.steps.size()) {
    const StepTime& step = row.steps[overlap];
    cells = {figure(step.step * kMilli), percent(step.share), percent(step.efficiency), ""};
  }
  if (overlap < row.samples_per_s.size()) cells[3] = figure(row.samples_per_s[overlap]);
  cells.push_back(figure(row.needed_GBps[overlap]));
  return cells;
}

/// What a step makes of it: a row per overlap, so that any number of them fits a terminal.
TextTable steps_table(const WorkloadRequest& request, const WorkloadReport& report) {
  TextTable table{.columns = {"model", "system", "ranks", "overlap", "step ms", "share%", "eff%",
                              "samples/s", "need GB/s"}};
  for (const WorkloadRow& row : report.rows) {
    for (std::size_t i = 0; i < row.needed_GBps.size(); ++i) {
      table.rows.push_back({request.cases[row.model].model.name,
                            name_of(request.systems[row.system]), fmt::format("{}", row.ranks),
                            overlap_words(request.overlaps[i])});
      for (std::string& cell : step_cells(row, i)) table.rows.back().push_back(std::move(cell));
    }
  }
  return table;
}

std::vector<std::string> legend(const WorkloadReport& report) {
  std::vector<std::string> lines;
  std::set<int> ranks;
  for (const WorkloadRow& row : report.rows) ranks.insert(row.ranks);
  std::vector<std::string> ratios;
  for (const int n : ranks) {
    ratios.push_back(fmt::format("{:.4g} ({})", data_parallel_ratio(n), n));
  }
  lines.push_back(fmt::format(
      "link ms: an all-reduce, DistributedDataParallel; DP ms: DataParallel, a broadcast "
      "and a reduce of one message each, which move more bytes, times (ranks): {}",
      join(ratios, ", ")));
  if (std::any_of(report.rows.begin(), report.rows.end(), is_outside)) {
    lines.push_back(fmt::format(
        "outside: {}, extrapolated at the rate of the nearest size; too short below the smallest",
        kOutside));
  }
  if (std::any_of(report.rows.begin(), report.rows.end(),
                  [](const WorkloadRow& row) { return !row.sync; })) {
    lines.emplace_back("no curve: the system has no all-reduce of so many ranks");
  }
  return lines;
}

TextTable limits_table(const WorkloadRequest& request, const WorkloadReport& report) {
  TextTable table{.columns = {"model", "system", "overlap", "largest ranks"}};
  for (const WorkloadLimit& limit : report.limits) {
    table.rows.push_back({request.cases[limit.model].model.name,
                          name_of(request.systems[limit.system]), overlap_words(limit.overlap),
                          limit.ranks ? fmt::format("{}", *limit.ranks) : ""});
  }
  return table;
}

TextTable ranking_table(const WorkloadRequest& request, const WorkloadReport& report) {
  TextTable table{.columns = {"model", "ranks", "place", "system", "link ms", "times"}};
  for (const WorkloadRanking& ranking : report.rankings) {
    const double fastest = report.rows[ranking.rows.front()].sync->seconds;
    int place = 0;
    for (const std::size_t index : ranking.rows) {
      const WorkloadRow& row = report.rows[index];
      table.rows.push_back({request.cases[row.model].model.name, fmt::format("{}", row.ranks),
                            fmt::format("{}", ++place), name_of(request.systems[row.system]),
                            figure(row.sync->seconds * kMilli),
                            fmt::format("{:.2f}", row.sync->seconds / fastest)});
    }
  }
  return table;
}

/// What the links of each system explain of the exposed time.
std::vector<std::string> explanations(const WorkloadRequest& request, const ImpliedRate& rate) {
  const std::string& model = request.cases[rate.model].model.name;
  if (rate.links.empty() && !request.systems.empty()) {
    return {fmt::format("{}: no curve of {} ranks", model, rate.ranks)};
  }
  std::vector<std::string> lines;
  for (const ExplainedTime& link : rate.links) {
    const std::string_view conclusion =
        link.share < 1 ? "the rest is no link time: waiting for the slowest rank, kernels, input"
                       : "more than was exposed: the rest hid behind the computing";
    lines.push_back(fmt::format("{}: {} takes {} ms at {} GB/s{}, {}% of the exposed time; {}",
                                model, name_of(request.systems[link.system]),
                                figure(link.sync.seconds * kMilli), figure(link.sync.GBps),
                                link.sync.outside ? fmt::format(" ({})", kOutside) : "",
                                percent(link.share), conclusion));
  }
  return lines;
}

}  // namespace

std::string workload_text(const WorkloadOptions& options, const WorkloadRequest& request,
                          const WorkloadReport& report) {
  const bool markdown = options.markdown;
  std::vector<std::string> lines = head_lines(options, request);
  for (std::string& line : legend(report)) lines.push_back(std::move(line));
  std::string text = section(markdown, lines, exchange_table(request, report));
  if (const TextTable steps = steps_table(request, report); !steps.rows.empty()) {
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

std::string implied_text(const WorkloadOptions& options, const WorkloadRequest& request,
                         const std::vector<ImpliedRate>& implied) {
  TextTable table{
      .columns = {"model", "MB", "ranks", "compute ms", "exposed ms", "overlap", "implied GB/s"}};
  std::vector<std::string> lines = head_lines(options, request);
  lines.push_back(fmt::format(
      "{}: implied GB/s is what the links would have if all of the exposed time, and the overlap's "
      "part of the computing, were theirs: their least rate, not a measured one",
      options.reported_as));
  for (const ImpliedRate& rate : implied) {
    const WorkloadCase& job = request.cases[rate.model];
    for (std::size_t i = 0; i < rate.busbw_GBps.size(); ++i) {
      table.rows.push_back({job.model.name, figure(job.bytes / kMega),
                            fmt::format("{}", rate.ranks), figure(rate.compute_s * kMilli),
                            figure(rate.exposed_s * kMilli), overlap_words(request.overlaps[i]),
                            figure(rate.busbw_GBps[i])});
    }
    for (std::string& line : explanations(request, rate)) lines.push_back(std::move(line));
  }
  return section(options.markdown, lines, table);
}

}  // namespace busbar

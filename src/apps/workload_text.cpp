// SPDX-License-Identifier: BSD-3-Clause
#include "apps/workload_text.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "report/text_table.hpp"

namespace busbar {
namespace {

constexpr double kMilli = 1e3;
constexpr double kMega = 1e6;
constexpr double kPercent = 100;

/// Four figures that count, without an exponent where people would not write one.
std::string figure(double value) {
  constexpr double kWhole = 1000;
  return value >= kWhole ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

std::string percent(double share) { return fmt::format("{:.1f}", share * kPercent); }

std::string overlap_words(double overlap) { return fmt::format("{:.2g}", overlap); }

std::string name_of(const SystemRates& system) {
  return system.system + (system.simulated ? " (simulated)" : "");
}

/// Lines of explanation and a table, plain or Markdown.
std::string section(bool markdown, const std::vector<std::string>& lines, const TextTable& table) {
  std::string text;
  for (const std::string& line : lines) text += fmt::format("{}{}\n", markdown ? "- " : "# ", line);
  if (table.rows.empty()) return text;
  return text + (markdown ? "\n" + markdown_table(table) : plain_table(table));
}

/// "allreduce at 2, 4 ranks"
std::string curves_words(const SystemRates& system) {
  std::vector<std::string> parts;
  for (const std::string_view collective : {"allreduce", "broadcast", "reduce"}) {
    std::set<int> ranks;
    for (const Curve& curve : system.curves) {
      if (curve.key.collective == collective) ranks.insert(curve.key.ranks);
    }
    std::vector<std::string> words;
    for (const int n : ranks) words.push_back(fmt::format("{}", n));
    if (!words.empty()) parts.push_back(fmt::format("{} of {}", collective, join(words, ", ")));
  }
  return join(parts, "; ");
}

std::string rates_line(const SystemRates& system) {
  if (system.constant_GBps) {
    return fmt::format("{}: {} GB/s bus bandwidth, every size, every number of ranks",
                       system.system, figure(*system.constant_GBps));
  }
  Bytes least = system.curves.front().points.front().size;
  Bytes most = 0;
  std::set<std::string> kinds;
  for (const Curve& curve : system.curves) {
    least = std::min(least, curve.points.front().size);
    most = std::max(most, curve.points.back().size);
    kinds.insert(
        fmt::format("{} {}", curve.key.type, curve.key.in_place ? "in place" : "out of place"));
  }
  return fmt::format("{}: {} ranks, {} to {}, {}", name_of(system), curves_words(system),
                     format_bytes(least), format_bytes(most),
                     join(std::vector<std::string>(kinds.begin(), kinds.end()), ", "));
}

std::vector<std::string> case_lines(const WorkloadRequest& request) {
  std::vector<std::string> lines;
  std::vector<std::string> missing;
  for (const WorkloadCase& job : request.cases) {
    if (job.compute_s) {
      lines.push_back(fmt::format("compute: {} {} ms: {}", job.model.name,
                                  figure(*job.compute_s * kMilli), job.compute_source));
    } else {
      missing.push_back(job.model.name);
    }
  }
  if (!missing.empty()) {
    lines.push_back(
        fmt::format("compute: the throughput is missing of {}: their exchange only; give "
                    "--throughput MODEL=N (of one GPU, per second) or --compute-ms MODEL=N",
                    join(missing, ", ")));
  }
  return lines;
}

std::vector<std::string> head_lines(const WorkloadOptions& options,
                                    const WorkloadRequest& request) {
  std::vector<std::string> lines{fmt::format("busbar workload: {}", kWorkloadLabel)};
  lines.push_back(fmt::format("gradients: {}, {}; MB is 10^6 bytes{}", info(options.type).name,
                              options.bucket == 0 ? std::string("one message")
                                                  : fmt::format("buckets of {} one after the other",
                                                                format_bytes(options.bucket)),
                              options.strong ? "; strong scaling: the ranks share the batch" : ""));
  for (const SystemRates& system : request.systems) lines.push_back("rates: " + rates_line(system));
  for (std::string& line : case_lines(request)) lines.push_back(std::move(line));
  return lines;
}

bool any_compute(const WorkloadRequest& request) {
  return std::any_of(request.cases.begin(), request.cases.end(),
                     [](const WorkloadCase& job) { return job.compute_s.has_value(); });
}

std::string note_of(const WorkloadRow& row) {
  if (!row.sync) return "no curve of so many ranks";
  return row.sync->outside ? "outside measured sizes" : "";
}

std::vector<std::string> step_cells(const WorkloadRow& row, std::size_t overlap) {
  std::vector<std::string> cells(4);
  if (overlap < row.steps.size()) {
    cells[0] = percent(row.steps[overlap].share);
    cells[1] = percent(row.steps[overlap].efficiency);
  }
  if (overlap < row.samples_per_s.size()) cells[2] = figure(row.samples_per_s[overlap]);
  if (overlap < row.needed_GBps.size()) cells[3] = figure(row.needed_GBps[overlap]);
  return cells;
}

TextTable steps_table(const WorkloadRequest& request, const WorkloadReport& report) {
  TextTable table{.columns = {"model", "MB", "system", "ranks", "GB/s", "link ms", "DP ms"}};
  const bool compute = any_compute(request);
  if (compute) {
    for (const double overlap : request.overlaps) {
      for (const std::string_view column : {"share%", "eff%", "per s", "need GB/s"}) {
        table.columns.push_back(fmt::format("{}@{}", column, overlap_words(overlap)));
      }
    }
  }
  const bool notes = std::any_of(report.rows.begin(), report.rows.end(),
                                 [](const WorkloadRow& row) { return !note_of(row).empty(); });
  if (notes) table.columns.emplace_back("note");
  for (const WorkloadRow& row : report.rows) {
    const WorkloadCase& job = request.cases[row.model];
    std::vector<std::string> cells{
        job.model.name,
        figure(job.bytes / kMega),
        name_of(request.systems[row.system]),
        fmt::format("{}", row.ranks),
        row.sync ? figure(row.sync->GBps) : "",
        row.sync ? figure(row.sync->seconds * kMilli) : "",
        row.data_parallel ? figure(row.data_parallel->seconds * kMilli) : ""};
    if (compute) {
      for (std::size_t i = 0; i < request.overlaps.size(); ++i) {
        for (std::string& cell : step_cells(row, i)) cells.push_back(std::move(cell));
      }
    }
    if (notes) cells.push_back(note_of(row));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

std::vector<std::string> legend(const WorkloadRequest& request, const WorkloadReport& report) {
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
  if (any_compute(request)) {
    lines.push_back(fmt::format(
        "@X: hidden behind X of the computing; share: exposed part of a step; need: bus bandwidth "
        "for {}% efficiency",
        percent(request.target)));
  }
  const bool outside = std::any_of(report.rows.begin(), report.rows.end(),
                                   [](const auto& row) { return row.sync && row.sync->outside; });
  if (outside) {
    lines.emplace_back(
        "outside measured sizes: extrapolated at the rate of the nearest size; too short below "
        "the smallest");
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

}  // namespace

std::string workload_text(const WorkloadOptions& options, const WorkloadRequest& request,
                          const WorkloadReport& report) {
  const bool markdown = options.markdown;
  std::vector<std::string> lines = head_lines(options, request);
  for (std::string& line : legend(request, report)) lines.push_back(std::move(line));
  std::string text = section(markdown, lines, steps_table(request, report));
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
  TextTable table{.columns = {"model", "MB", "ranks", "compute ms", "exposed ms"}};
  for (const double overlap : request.overlaps) {
    table.columns.push_back(fmt::format("implied GB/s@{}", overlap_words(overlap)));
  }
  std::vector<std::string> words;
  for (const ImpliedRate& rate : implied) {
    const WorkloadCase& job = request.cases[rate.model];
    std::vector<std::string> cells{job.model.name, figure(job.bytes / kMega),
                                   fmt::format("{}", rate.ranks), figure(rate.compute_s * kMilli),
                                   figure(rate.exposed_s * kMilli)};
    for (const double GBps : rate.busbw_GBps) cells.push_back(figure(GBps));
    table.rows.push_back(std::move(cells));
    if (rate.links.empty() && !request.systems.empty()) {
      words.push_back(fmt::format("{}: no curve of {} ranks", job.model.name, rate.ranks));
    }
    for (const ExplainedTime& link : rate.links) {
      const std::string conclusion =
          link.share < 1 ? "the rest is no link time: waiting for the slowest rank, kernels, input"
                         : "more than was exposed: the rest hid behind the computing";
      words.push_back(fmt::format("{}: {} takes {} ms at {} GB/s{}, {}% of the exposed time; {}",
                                  job.model.name, name_of(request.systems[link.system]),
                                  figure(link.sync.seconds * kMilli), figure(link.sync.GBps),
                                  link.sync.outside ? " (outside measured sizes)" : "",
                                  percent(link.share), conclusion));
    }
  }
  std::vector<std::string> lines = head_lines(options, request);
  lines.push_back(fmt::format(
      "{}: implied GB/s is what the links would have if all of the exposed time, and X of the "
      "computing (@X), were theirs: their least rate, not a measured one",
      options.reported_as));
  for (std::string& word : words) lines.push_back(std::move(word));
  return section(options.markdown, lines, table);
}

}  // namespace busbar

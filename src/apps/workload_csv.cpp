// SPDX-License-Identifier: BSD-3-Clause
// The CSV of `busbar workload`; workload_text.hpp declares it.
#include <array>
#include <span>

#include <fmt/format.h>

#include "apps/workload_text.hpp"
#include "apps/workload_words.hpp"
#include "base/text.hpp"
#include "harness/cli.hpp"
#include "report/csv_writer.hpp"

namespace busbar {
namespace {

constexpr double kMilli = 1e3;

/// The columns of both forms: of what a row is.
constexpr std::array<std::string_view, 8> kCaseColumns{
    "model", "dtype", "parameters", "gradient_bytes", "ranks", "overlap", "batch", "compute_ms"};
constexpr std::array<std::string_view, 4> kLinkColumns{"system", "simulated", "busbw_GBps",
                                                       "sync_ms"};

std::string number(double value) { return fmt::format("{:.7g}", value); }

std::string number(const std::optional<double>& value, double scale = 1) {
  return value ? number(*value * scale) : std::string();
}

void append(std::vector<std::string>& cells, std::vector<std::string> more) {
  for (std::string& cell : more) cells.push_back(std::move(cell));
}

std::string line_of(std::span<const std::string> cells) {
  std::vector<std::string> quoted;
  for (const std::string& cell : cells) quoted.push_back(csv_cell(one_line(cell)));
  return join(quoted, ",") + "\n";
}

std::string columns_line(std::span<const std::string_view> own) {
  std::vector<std::string> names(kCaseColumns.begin(), kCaseColumns.end());
  names.insert(names.end(), kLinkColumns.begin(), kLinkColumns.end());
  names.insert(names.end(), own.begin(), own.end());
  return line_of(names);
}

/// "# key: value" lines, as the CSVs of measurements have.
std::string head(const WorkloadOptions& options, const WorkloadRequest& request) {
  std::string text = fmt::format("# busbar: {}\n", version());
  for (const std::string& line : head_lines(options, request)) {
    text += fmt::format("# {}\n", one_line(line));
  }
  return text;
}

std::vector<std::string> case_cells(const WorkloadOptions& options, const WorkloadCase& job,
                                    int ranks, double overlap) {
  return {job.model.name,
          std::string(info(options.type).name),
          fmt::format("{:.0f}", job.model.parameters),
          fmt::format("{:.0f}", job.bytes),
          fmt::format("{}", ranks),
          number(overlap),
          number(job.batch),
          number(job.compute_s, kMilli)};
}

std::vector<std::string> link_cells(const SystemRates& system,
                                    const std::optional<MessageTime>& sync) {
  return {system.system, system.simulated ? "1" : "0", sync ? number(sync->GBps) : "",
          sync ? number(sync->seconds * kMilli) : ""};
}

std::string outside_cell(const std::optional<MessageTime>& sync) {
  if (!sync) return {};
  return sync->outside ? "1" : "0";
}

std::vector<std::string> step_cells(const WorkloadRow& row, std::size_t i) {
  std::vector<std::string> cells(6);
  if (i < row.steps.size()) {
    cells[0] = number(row.steps[i].exposed * kMilli);
    cells[1] = number(row.steps[i].step * kMilli);
    cells[2] = number(row.steps[i].share);
    cells[3] = number(row.steps[i].efficiency);
  }
  if (i < row.samples_per_s.size()) cells[4] = number(row.samples_per_s[i]);
  if (i < row.needed_GBps.size()) cells[5] = number(row.needed_GBps[i]);
  return cells;
}

}  // namespace

std::string workload_csv(const WorkloadOptions& options, const WorkloadRequest& request,
                         const WorkloadReport& report) {
  constexpr std::array<std::string_view, 10> kColumns{"outside_measured_sizes",
                                                      "data_parallel_ms",
                                                      "data_parallel_bytes_ratio",
                                                      "wire_share",
                                                      "exposed_ms",
                                                      "step_ms",
                                                      "exposed_share",
                                                      "efficiency",
                                                      "samples_per_s",
                                                      "needed_busbw_GBps"};
  std::string text = head(options, request);
  text += fmt::format("# target-efficiency: {:g}\n", request.target) + columns_line(kColumns);
  for (const WorkloadRow& row : report.rows) {
    for (std::size_t i = 0; i < request.overlaps.size(); ++i) {
      std::vector<std::string> cells =
          case_cells(options, request.cases[row.model], row.ranks, request.overlaps[i]);
      append(cells, link_cells(request.systems[row.system], row.sync));
      append(cells, {outside_cell(row.sync),
                     row.data_parallel ? number(row.data_parallel->seconds * kMilli) : "",
                     number(data_parallel_ratio(row.ranks)), number(row.wire_share)});
      append(cells, step_cells(row, i));
      text += line_of(cells);
    }
  }
  return text;
}

std::string implied_csv(const WorkloadOptions& options, const WorkloadRequest& request,
                        const std::vector<ImpliedRate>& implied) {
  constexpr std::array<std::string_view, 4> kColumns{"outside_measured_sizes", "exposed_ms",
                                                     "implied_busbw_GBps", "share_of_exposed"};
  std::string text = head(options, request);
  text += fmt::format("# reported: {}\n# efficiency: {:g}\n", one_line(options.reported_as),
                      options.reported_efficiency.value_or(0));
  text += columns_line(kColumns);
  for (const ImpliedRate& rate : implied) {
    for (std::size_t i = 0; i < rate.busbw_GBps.size(); ++i) {
      const auto line = [&](const std::vector<std::string>& link, const std::string& outside,
                            const std::string& share) {
        std::vector<std::string> cells =
            case_cells(options, request.cases[rate.model], rate.ranks, request.overlaps[i]);
        append(cells, link);
        append(cells,
               {outside, number(rate.exposed_s * kMilli), number(rate.busbw_GBps[i]), share});
        text += line_of(cells);
      };
      if (rate.links.empty()) line(std::vector<std::string>(kLinkColumns.size()), "", "");
      for (const ExplainedTime& link : rate.links) {
        line(link_cells(request.systems[link.system], link.sync), outside_cell(link.sync),
             number(link.share));
      }
    }
  }
  return text;
}

}  // namespace busbar

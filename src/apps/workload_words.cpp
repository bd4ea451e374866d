// SPDX-License-Identifier: BSD-3-Clause
#include "apps/workload_words.hpp"

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "apps/workload_text.hpp"
#include "base/text.hpp"

namespace busbar {
namespace {

constexpr double kMilli = 1e3;

/// "allreduce of 2, 4; broadcast of 2"
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
  return fmt::format("{}: {} ranks, {} to {}, {}{}", name_of(system), curves_words(system),
                     format_bytes(least), format_bytes(most),
                     join(std::vector<std::string>(kinds.begin(), kinds.end()), ", "),
                     system.simulated ? "; too fast below 128 MiB: docs/simulation.md" : "");
}

std::vector<std::string> case_lines(const WorkloadRequest& request) {
  std::vector<std::string> lines;
  std::vector<std::string> missing;
  for (const WorkloadCase& job : request.cases) {
    if (job.compute_assumed) {
      lines.push_back("assumed: " + assumption(job));
    } else if (job.compute_s) {
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

}  // namespace

std::string figure(double value) {
  constexpr double kWhole = 1000;
  return value >= kWhole ? fmt::format("{:.0f}", value) : fmt::format("{:.4g}", value);
}

std::string assumption(const WorkloadCase& job) {
  return fmt::format("{} computes {} ms, {}; give --throughput {}=N for another GPU",
                     job.model.name, figure(*job.compute_s * kMilli), job.compute_source,
                     job.model.name);
}

std::string percent(double share) {
  constexpr double kPercent = 100;
  return fmt::format("{:.1f}", share * kPercent);
}

std::string overlap_words(double overlap) { return fmt::format("{:.2g}", overlap); }

std::string name_of(const SystemRates& system) {
  return system.system + (system.simulated ? " (simulated)" : "");
}

std::string comment(std::string_view line) {
  std::string text = "#";
  std::size_t width = text.size();
  for (const std::string& word : split(line, ' ')) {
    if (width > 1 && width + 1 + word.size() > kWorkloadColumns) {
      text += "\n#  ";
      width = 3;
    }
    text += ' ' + word;
    width += 1 + word.size();
  }
  return text + '\n';
}

std::string section(bool markdown, const std::vector<std::string>& lines, const TextTable& table) {
  std::string text;
  for (const std::string& line : lines) {
    text += markdown ? fmt::format("- {}\n", line) : comment(line);
  }
  if (table.rows.empty()) return text;
  return text + (markdown ? "\n" + markdown_table(table) : plain_table(table));
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

}  // namespace busbar

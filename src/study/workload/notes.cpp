// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/text.hpp"
#include "base/units.hpp"
#include "study/workload/output.hpp"

namespace busbar::study {
namespace {

constexpr std::string_view kOutside = "outside measured sizes";

/// "allreduce of 2, 4; broadcast of 2"
std::string curves_text(const SystemRates& system) {
  std::vector<std::string> parts;
  for (const std::string_view collective : {"allreduce", "broadcast", "reduce"}) {
    std::set<int> ranks;
    for (const RateCurve& curve : system.curves) {
      if (curve.key.collective == collective) ranks.insert(curve.key.ranks);
    }
    if (!ranks.empty()) {
      parts.push_back(fmt::format("{} of {}", collective, fmt::join(ranks, ", ")));
    }
  }
  return join(parts, "; ");
}

std::string rates_line(const SystemRates& system) {
  if (system.constant_GBps) {
    return fmt::format("{}: {} GB/s bus bandwidth, every size, every number of ranks",
                       system.system, figure_text(*system.constant_GBps));
  }
  std::set<Bytes> sizes;
  std::set<std::string> kinds;
  for (const RateCurve& curve : system.curves) {
    for (const auto& [size, rate_GBps] : curve.points) sizes.insert(size);
    kinds.insert(
        fmt::format("{} {}", curve.key.type, curve.key.in_place ? "in place" : "out of place"));
  }
  return fmt::format("{}: {} ranks, {} to {}, {}{}", title_of(system), curves_text(system),
                     format_bytes(*sizes.begin()), format_bytes(*sizes.rbegin()),
                     fmt::join(kinds, ", "),
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
                                  figure_text(*job.compute_s * kMilli), job.compute_source));
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

std::string percent(double share) {
  constexpr double kPercent = 100;
  return fmt::format("{:.1f}", share * kPercent);
}

std::string overlap_text(double share) { return fmt::format("{:.2g}", share); }

std::string title_of(const SystemRates& system) {
  return system.system + (system.simulated ? " (simulated)" : "");
}

std::vector<std::string> head_notes(const WorkloadRequest& request) {
  std::vector<std::string> lines{fmt::format("busbar workload: {}", kWorkloadLabel)};
  lines.push_back(fmt::format("gradients: {}, {}; MB is 10^6 bytes{}", info(request.type).name,
                              request.bucket == 0 ? std::string("one message")
                                                  : fmt::format("buckets of {} one after the other",
                                                                format_bytes(request.bucket)),
                              request.strong ? "; strong scaling: the ranks share the batch" : ""));
  for (const SystemRates& system : request.systems) lines.push_back("rates: " + rates_line(system));
  for (std::string& line : case_lines(request)) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> report_notes(const WorkloadReport& report) {
  std::vector<std::string> lines;
  const auto ranks = set_of(report.rows, &WorkloadRow::ranks);
  const auto ratio = [](int n) { return fmt::format("{:.4g} ({})", data_parallel_ratio(n), n); };
  lines.push_back(
      "link ms: an all-reduce, DistributedDataParallel; DP ms: DataParallel, a broadcast and a "
      "reduce of one message each, which move more bytes, times (ranks): " +
      join_each(ranks, ", ", ratio));
  if (std::ranges::any_of(report.rows,
                          [](const WorkloadRow& row) { return row.sync && row.sync->outside; })) {
    lines.push_back(fmt::format(
        "outside: {}, extrapolated at the rate of the nearest size; too short below the smallest",
        kOutside));
  }
  if (std::ranges::any_of(report.rows, [](const WorkloadRow& row) { return !row.sync; })) {
    lines.emplace_back("no curve: the system has no all-reduce of that many ranks");
  }
  return lines;
}

std::vector<std::string> implied_notes(const WorkloadRequest& request, const ImpliedRate& rate) {
  const std::string& model = request.cases[rate.model].model.name;
  if (rate.links.empty() && !request.systems.empty()) {
    return {fmt::format("{}: no curve of {} ranks", model, rate.ranks)};
  }
  std::vector<std::string> lines;
  for (const ExplainedTime& link : rate.links) {
    const std::string_view conclusion =
        link.share < 1 ? "the rest is not communication: stragglers, kernels, input"
                       : "more than was exposed: the rest hid behind the computing";
    lines.push_back(fmt::format(
        "{}: {} takes {} ms at {} GB/s{}, {}% of the exposed time; {}", model,
        title_of(request.systems[link.system]), figure_text(link.sync.seconds * kMilli),
        figure_text(link.sync.GBps), link.sync.outside ? fmt::format(" ({})", kOutside) : "",
        percent(link.share), conclusion));
  }
  return lines;
}

std::string assumption(const WorkloadCase& job) {
  return fmt::format("{} computes {} ms, {}; give --throughput {}=N for another GPU",
                     job.model.name, figure_text(*job.compute_s * kMilli), job.compute_source,
                     job.model.name);
}

}  // namespace busbar::study

// SPDX-License-Identifier: BSD-3-Clause
#include "study/workload/workload.hpp"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.hpp"

namespace busbar::study {
namespace {

/// The numbers of ranks to look at; a constant rate holds for any.
std::vector<int> ranks_of(const WorkloadRequest& request) {
  std::set<int> measured;  // that curves have an all-reduce of
  for (const SystemRates& system : request.systems) {
    for (const int ranks : measured_ranks(system)) measured.insert(ranks);
  }
  const bool any = std::ranges::any_of(
      request.systems, [](const SystemRates& s) { return s.constant_GBps.has_value(); });
  if (!request.ranks.empty()) {
    for (const int wanted : request.ranks) {
      if (any || measured.contains(wanted)) continue;
      throw usage_error(
          "--ranks {}: there is no all-reduce with that many ranks; the curves have {}", wanted,
          measured.empty() ? "none" : fmt::format("{}", fmt::join(measured, ", ")));
    }
    return request.ranks;
  }
  if (!measured.empty()) return {measured.begin(), measured.end()};
  if (any) return {2, 4, 8, 16};
  throw usage_error(
      "--curve: there is no all-reduce of two ranks or more, which sums the gradients; add one by "
      "another --curve");
}

/// What the step's computing takes on each of n ranks.
double compute_seconds(const WorkloadRequest& request, double alone_s, int ranks) {
  return request.strong ? alone_s / ranks : alone_s;
}

WorkloadRow row_of(const WorkloadRequest& request, std::size_t model, std::size_t system,
                   int ranks) {
  const WorkloadCase& job = request.cases[model];
  const SystemRates& rates = request.systems[system];
  WorkloadRow row{.model = model,
                  .system = system,
                  .ranks = ranks,
                  .sync = sync_time(rates, ranks, job.bytes, static_cast<double>(request.bucket)),
                  .data_parallel = data_parallel_time(rates, ranks, job.bytes)};
  if (!job.compute_s) return row;
  const double compute = compute_seconds(request, *job.compute_s, ranks);
  for (const double overlap : request.overlaps) {
    row.needed_GBps.push_back(needed_busbw(job.bytes, ranks, compute, request.target, overlap));
  }
  if (!row.sync) return row;
  row.wire_share = row.sync->seconds / (compute + row.sync->seconds);
  for (const double overlap : request.overlaps) {
    row.steps.push_back(step_time(compute, row.sync->seconds, overlap));
    if (!job.batch) continue;
    const double samples = request.strong ? *job.batch : *job.batch * ranks;
    row.samples_per_s.push_back(samples / row.steps.back().step);
  }
  return row;
}

std::vector<WorkloadLimit> limits_of(const WorkloadRequest& request,
                                     const std::vector<WorkloadRow>& rows) {
  std::vector<WorkloadLimit> limits;
  for (const WorkloadRow& row : rows) {
    for (const StepTime& step : row.steps) {
      const auto same = [&](const WorkloadLimit& known) {
        return known.model == row.model && known.system == row.system &&
               known.overlap == step.overlap;
      };
      const WorkloadLimit none{.model = row.model, .system = row.system, .overlap = step.overlap};
      WorkloadLimit& limit = find_or_add(limits, same, none);
      if (step.efficiency >= request.target) limit.ranks = row.ranks;  // rows rise in ranks
    }
  }
  return limits;
}

std::vector<WorkloadRanking> rankings_of(const std::vector<WorkloadRow>& rows) {
  std::vector<WorkloadRanking> rankings;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].sync) continue;
    const auto same = [&](const WorkloadRanking& known) {
      return known.model == rows[i].model && known.ranks == rows[i].ranks;
    };
    find_or_add(rankings, same, {.model = rows[i].model, .ranks = rows[i].ranks}).rows.push_back(i);
  }
  std::erase_if(rankings, [](const WorkloadRanking& ranking) { return ranking.rows.size() < 2; });
  for (WorkloadRanking& ranking : rankings) {
    std::ranges::stable_sort(ranking.rows, [&](std::size_t a, std::size_t b) {
      return rows[a].sync->seconds < rows[b].sync->seconds;
    });
  }
  return rankings;
}

}  // namespace

StepTime step_time(double compute_s, double sync_s, double overlap) {
  const double exposed = std::max(0.0, sync_s - overlap * compute_s);
  const double step = compute_s + exposed;
  return {.overlap = overlap,
          .exposed = exposed,
          .step = step,
          .share = exposed / step,
          .efficiency = compute_s / step};
}

double data_parallel_ratio(int ranks) { return 2.0 / allreduce_factor(ranks); }

double exposed_of_efficiency(double compute_s, double efficiency) {
  return compute_s * (1 / efficiency - 1);
}

double needed_busbw(double bytes, int ranks, double compute_s, double efficiency, double overlap) {
  const double longest = exposed_of_efficiency(compute_s, efficiency) + overlap * compute_s;
  return allreduce_busbw(bytes, ranks, longest);
}

WorkloadReport study_workload(const WorkloadRequest& request) {
  const std::vector<int> ranks = ranks_of(request);
  WorkloadReport report;
  for (std::size_t model = 0; model < request.cases.size(); ++model) {
    for (std::size_t system = 0; system < request.systems.size(); ++system) {
      for (const int n : ranks) report.rows.push_back(row_of(request, model, system, n));
    }
  }
  report.limits = limits_of(request, report.rows);
  report.rankings = rankings_of(report.rows);
  return report;
}

std::vector<ImpliedRate> implied_rates(const WorkloadRequest& request, int ranks,
                                       double efficiency) {
  std::vector<ImpliedRate> implied;
  for (std::size_t i = 0; i < request.cases.size(); ++i) {
    const WorkloadCase& job = request.cases[i];
    if (!job.compute_s) continue;
    const double compute = compute_seconds(request, *job.compute_s, ranks);
    ImpliedRate rate{.model = i,
                     .ranks = ranks,
                     .compute_s = compute,
                     .exposed_s = exposed_of_efficiency(compute, efficiency)};
    for (const double overlap : request.overlaps) {
      // What hides behind the computing moved bytes, too.
      rate.busbw_GBps.push_back(needed_busbw(job.bytes, ranks, compute, efficiency, overlap));
    }
    for (std::size_t system = 0; system < request.systems.size(); ++system) {
      const auto sync =
          sync_time(request.systems[system], ranks, job.bytes, static_cast<double>(request.bucket));
      if (!sync) continue;
      rate.links.push_back(
          {.system = system, .sync = *sync, .share = sync->seconds / rate.exposed_s});
    }
    implied.push_back(std::move(rate));
  }
  return implied;
}

}  // namespace busbar::study

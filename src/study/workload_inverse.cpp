// SPDX-License-Identifier: BSD-3-Clause
#include "study/workload_inverse.hpp"

namespace busbar {

double efficiency_of_share(double share) { return 1 - share; }

double efficiency_of_speedup(double speedup, int ranks) { return speedup / ranks; }

std::vector<ImpliedRate> implied_rates(const WorkloadRequest& request, int ranks,
                                       double efficiency) {
  std::vector<ImpliedRate> implied;
  for (std::size_t i = 0; i < request.cases.size(); ++i) {
    const WorkloadCase& job = request.cases[i];
    if (!job.compute_s) continue;
    const double compute = request.strong ? *job.compute_s / ranks : *job.compute_s;
    ImpliedRate rate{.model = i,
                     .ranks = ranks,
                     .compute_s = compute,
                     .exposed_s = exposed_of_efficiency(compute, efficiency)};
    for (const double overlap : request.overlaps) {
      // What hides behind the computing moved bytes, too.
      const double longest = rate.exposed_s + overlap * compute;
      rate.busbw_GBps.push_back(allreduce_busbw(job.bytes, ranks, longest));
    }
    for (std::size_t system = 0; system < request.systems.size(); ++system) {
      const auto sync = sync_time(request.systems[system], ranks, job.bytes, request.bucket_bytes);
      if (!sync) continue;
      rate.links.push_back(
          {.system = system, .sync = *sync, .share = sync->seconds / rate.exposed_s});
    }
    implied.push_back(std::move(rate));
  }
  return implied;
}

}  // namespace busbar

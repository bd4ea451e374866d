// SPDX-License-Identifier: BSD-3-Clause
#include "study/workload_step.hpp"

#include <algorithm>

namespace busbar {
namespace {

constexpr double kGiga = 1e9;

}  // namespace

StepTime step_time(double compute_s, double sync_s, double overlap) {
  const double exposed = std::max(0.0, sync_s - overlap * compute_s);
  const double step = compute_s + exposed;
  return {.compute = compute_s,
          .sync = sync_s,
          .overlap = overlap,
          .exposed = exposed,
          .step = step,
          .share = exposed / step,
          .efficiency = compute_s / step};
}

double allreduce_factor(int ranks) { return 2.0 * (ranks - 1) / ranks; }

double allreduce_seconds(double bytes, int ranks, double busbw_GBps) {
  return allreduce_factor(ranks) * bytes / (busbw_GBps * kGiga);
}

double allreduce_busbw(double bytes, int ranks, double seconds) {
  return allreduce_factor(ranks) * bytes / seconds / kGiga;
}

double data_parallel_ratio(int ranks) { return 2.0 / allreduce_factor(ranks); }

double exposed_of_efficiency(double compute_s, double efficiency) {
  return compute_s * (1 / efficiency - 1);
}

double needed_busbw(double bytes, int ranks, double compute_s, double efficiency, double overlap) {
  const double longest = exposed_of_efficiency(compute_s, efficiency) + overlap * compute_s;
  return allreduce_busbw(bytes, ranks, longest);
}

}  // namespace busbar

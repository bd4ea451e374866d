// SPDX-License-Identifier: BSD-3-Clause
#include "harness/period.hpp"

#include <algorithm>

#include "stats/summary.hpp"

namespace busbar {

std::optional<double> measure_period(const RoundGroup& round_group, ChunkRunner& streaming,
                                     const PeriodPlan& plan) {
  constexpr double kShare = 0.1;
  constexpr double kMostBatches = 20;
  streaming.begin_phase("timing back to back");
  (void)streaming.run(ChunkShape::of(plan.batch, plan.batch));
  const double batch_us =
      round_group.world.largest(plan.operation_us * static_cast<double>(plan.batch));
  const double fit = kShare * plan.budget_s * 1e6 / std::max(1e-3, batch_us);
  const auto batches = static_cast<std::uint64_t>(std::clamp(fit, 1.0, kMostBatches));
  const auto times_us = streaming.run(ChunkShape::of(batches * plan.batch, plan.batch)).samples_us;
  if (round_group.idle || times_us.empty()) return std::nullopt;
  return stats::median(times_us);
}

}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <optional>

#include "harness/chunk.hpp"

namespace busbar {

/// How the period of a row's operations is measured.
struct PeriodPlan {
  std::uint64_t batch = 20;  ///< operations of a sample, and of a graph
  double operation_us = 0;   ///< about
  double budget_s = 3;       ///< of the row, of which it takes a tenth
};

/// Time in us per operation of operations back to back, by a runner of streaming chunks: the median
/// of samples. Nothing on a rank that is in no group. Collective over the job.
[[nodiscard]] std::optional<double> measure_period(const RoundGroup& round_group,
                                                   ChunkRunner& streaming, const PeriodPlan& plan);

}  // namespace busbar

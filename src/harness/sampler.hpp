// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "harness/chunk.hpp"
#include "harness/evidence.hpp"
#include "stats/stop_rule.hpp"

namespace busbar {

class Soak;

/// How a row is sampled.
struct SamplingPlan {
  std::optional<std::uint64_t>
      operations{};  ///< exactly that many times least_batch, else the stop rule's
  std::optional<std::uint64_t> warmup_operations{};  ///< exactly that many, else until steady
  std::uint64_t least_batch = 1;                     ///< -m, or the operations of a graph
  stats::StopLimits limits{};
  std::optional<stats::StopLimits> whole{};  ///< of the row, where `limits` are a visit's share
  bool first_visit = true;                   ///< may become the only one
  double timer_cost_s = 0;                   ///< of one reading of the stopwatch
  Soak* soak = nullptr;                      ///< --duration: decides instead
};

/// Called after each chunk: samples so far, and the relative half width of the CI where there is
/// one. May be empty: the width costs time.
using ProgressReport = std::function<void(std::size_t samples, std::optional<double> half_width)>;

/// Warms up and samples until the plan says stop, into the evidence's samples. The leader of each
/// row decides; all ranks of the job go on until every row has enough. Collective over the job.
void take_samples(const RoundGroup& round_group, ChunkRunner& runner, const SamplingPlan& plan,
                  const ProgressReport& report, Evidence& evidence);

}  // namespace busbar

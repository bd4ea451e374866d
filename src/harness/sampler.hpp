// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "harness/chunk.hpp"
#include "stats/stop_rule.hpp"
#include "stats/summary.hpp"

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

/// All samples of a row and how they came about; the same on every rank.
struct Samples {
  std::vector<double> times_us;
  std::vector<std::vector<double>> visits{};  ///< times_us by visit; none: one stretch
  /// Of a soak, whose times are not kept: what they come to, and times_us has the medians of its
  /// intervals.
  std::optional<stats::Summary> summary{};
  std::vector<Arrival> arrivals{};                   ///< as ChunkResult's
  std::vector<std::vector<double>> rank_times_us{};  ///< the same
  std::vector<double> start_skews_us;
  std::vector<double> loads_us{};     ///< per operation of a chunk
  std::vector<double> enqueue_us;     ///< host time of issuing, per operation of a chunk
  std::vector<double> host_times_us;  ///< per operation of a whole chunk by the host's clock
  std::uint64_t operations = 0;
  std::uint64_t warmup_operations = 0;
  std::uint64_t batch = 1;
  bool steady = true;  ///< the last two warm-up windows agreed (or there was no time for two)
  stats::StopReason stop = stats::StopReason::None;
  Disturbances disturbances;  ///< per operation, worst rank
};

/// Called after each chunk: samples so far, and the relative half width of the CI where there is
/// one. May be empty: the width costs time.
using ProgressReport = std::function<void(std::size_t samples, std::optional<double> half_width)>;

/// Warms up and samples until the plan says stop. The leader of each row decides; all ranks of the
/// job go on until every row has enough. Collective over the job.
[[nodiscard]] Samples take_samples(const RoundGroup& round_group, ChunkRunner& runner,
                                   const SamplingPlan& plan, const ProgressReport& report);

}  // namespace busbar

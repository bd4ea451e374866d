// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "study/workload_model.hpp"
#include "study/workload_rates.hpp"
#include "study/workload_step.hpp"

namespace busbar {

/// A model as it is trained here.
struct WorkloadCase {
  WorkloadModel model{};
  double bytes = 0;                   ///< of the gradients, one step
  std::optional<double> batch{};      ///< per rank (with strong scaling: of all ranks)
  std::optional<double> compute_s{};  ///< of a step on one GPU alone; nothing: not known
  std::string compute_source{};       ///< where compute_s is from, in words
  bool compute_assumed = false;       ///< of the model's published device, whatever GPU is meant
};

struct WorkloadRequest {
  std::vector<WorkloadCase> cases{};
  std::vector<SystemRates> systems{};
  std::vector<int> ranks{};        ///< rising; empty: those of the curves
  double bucket_bytes = 0;         ///< 0: one message
  std::vector<double> overlaps{};  ///< 0 to 1
  double target = 0;               ///< efficiency, above 0 and below 1
  bool strong = false;             ///< the batch is shared by the ranks, not each one's
};

/// One model on so many ranks of one system. Everything that is time is of the links alone, a lower
/// bound.
struct WorkloadRow {
  std::size_t model = 0;   ///< of the request's cases
  std::size_t system = 0;  ///< of the request's systems
  int ranks = 0;
  std::optional<MessageTime> sync{};           ///< DistributedDataParallel: an all-reduce
  std::optional<MessageTime> data_parallel{};  ///< DataParallel: broadcast and reduce
  std::optional<double> wire_share{};          ///< sync / (compute + sync)
  std::vector<StepTime> steps{};               ///< per overlap; none without a compute time
  std::vector<double> samples_per_s{};         ///< of all ranks, per overlap
  std::vector<double> needed_GBps{};           ///< for the target, per overlap
};

/// The largest number of ranks that still reaches the target.
struct WorkloadLimit {
  std::size_t model = 0;
  std::size_t system = 0;
  double overlap = 0;
  std::optional<int> ranks{};  ///< nothing: none of those that were looked at
};

/// Systems of one model and number of ranks, the fastest exchange first.
struct WorkloadRanking {
  std::size_t model = 0;
  int ranks = 0;
  std::vector<std::size_t> rows{};  ///< of the report
};

struct WorkloadReport {
  std::vector<WorkloadRow> rows{};
  std::vector<WorkloadLimit> limits{};      ///< of cases with a compute time
  std::vector<WorkloadRanking> rankings{};  ///< where two systems or more were measured
};

/// Reckons all cases on all systems. Throws Error (Usage) where no system has a rate for a number
/// of ranks that was asked for.
[[nodiscard]] WorkloadReport study_workload(const WorkloadRequest& request);

/// Bytes of all gradients of a model.
[[nodiscard]] double gradient_bytes(const WorkloadModel& model, double bytes_per_parameter);

}  // namespace busbar

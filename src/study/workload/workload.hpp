// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "model/data_type.hpp"
#include "study/workload/model.hpp"
#include "study/workload/rates.hpp"

namespace busbar::study {

/// A training step of one GPU among others: it computes, and what of the exchange of gradients does
/// not hide behind the computing prolongs it. Seconds.
struct StepTime {
  double overlap = 0;     ///< the part of the computing behind which the exchange may hide, 0 to 1
  double exposed = 0;     ///< max(0, sync - overlap * compute)
  double step = 0;        ///< compute + exposed
  double share = 0;       ///< exposed / step
  double efficiency = 0;  ///< compute / step: the throughput of n GPUs over n times one's
};

[[nodiscard]] StepTime step_time(double compute_s, double sync_s, double overlap);

/// Bytes of DataParallel (a broadcast of the parameters and a reduce of the gradients: 2 S) over
/// those of an all-reduce: n/(n-1).
[[nodiscard]] double data_parallel_ratio(int ranks);

/// What a step of this efficiency spends beyond its computing, in seconds; efficiency in (0, 1).
[[nodiscard]] double exposed_of_efficiency(double compute_s, double efficiency);

/// The bus bandwidth in GB/s from which on a step has the efficiency; 0 < efficiency < 1.
[[nodiscard]] double needed_busbw(double bytes, int ranks, double compute_s, double efficiency,
                                  double overlap);

/// A model with its batch and computing time.
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
  std::vector<int> ranks{};         ///< rising; empty: those of the curves
  DataType type = DataType::Float;  ///< of the gradients
  Bytes bucket = 0;                 ///< 0: one message
  std::vector<double> overlaps{};   ///< 0 to 1
  double target = 0;                ///< efficiency, above 0 and below 1
  bool strong = false;              ///< the ranks share the batch; otherwise each has its own
  std::optional<double> reported_efficiency{};  ///< of --efficiency, --share or --speedup
  std::string reported_as{};                    ///< the option and its text
};

/// One model on a number of ranks of one system. Everything that is time is of the links alone, a
/// lower bound.
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

/// Computes all cases on all systems. Throws Error (Usage) if no system has a rate for a requested
/// number of ranks.
[[nodiscard]] WorkloadReport study_workload(const WorkloadRequest& request);

/// What one measured rate explains of an exposed time.
struct ExplainedTime {
  std::size_t system = 0;
  MessageTime sync{};
  double share = 0;  ///< sync over the exposed time, above 1 where some of it is hidden
};

/// The rates that a reported efficiency of a model implies.
struct ImpliedRate {
  std::size_t model = 0;  ///< of the request's cases
  int ranks = 0;
  double compute_s = 0;
  double exposed_s = 0;
  std::vector<double> busbw_GBps{};    ///< per overlap, were all of the exposed time link time
  std::vector<ExplainedTime> links{};  ///< of the systems that have a rate
};

/// For each case with a compute time; the request's target is not used.
[[nodiscard]] std::vector<ImpliedRate> implied_rates(const WorkloadRequest& request, int ranks,
                                                     double efficiency);

}  // namespace busbar::study

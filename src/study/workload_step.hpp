// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace busbar {

/// A training step of one GPU among others: it computes, and what of the exchange of gradients does
/// not hide behind the computing prolongs it. Seconds.
struct StepTime {
  double compute = 0;
  double sync = 0;        ///< on the links
  double overlap = 0;     ///< the part of the computing behind which the exchange may hide, 0 to 1
  double exposed = 0;     ///< max(0, sync - overlap * compute)
  double step = 0;        ///< compute + exposed
  double share = 0;       ///< exposed / step
  double efficiency = 0;  ///< compute / step: the throughput of n GPUs over n times one's
};

[[nodiscard]] StepTime step_time(double compute_s, double sync_s, double overlap);

/// 2(n-1)/n: bytes that cross each rank's link for one byte of an all-reduce by rings (nccl-tests,
/// doc/PERFORMANCE.md); 0 for one rank.
[[nodiscard]] double allreduce_factor(int ranks);

/// Seconds of an all-reduce of so many bytes at a bus bandwidth.
[[nodiscard]] double allreduce_seconds(double bytes, int ranks, double busbw_GBps);
/// The bus bandwidth in GB/s of an all-reduce that took so long.
[[nodiscard]] double allreduce_busbw(double bytes, int ranks, double seconds);

/// Bytes of DataParallel (a broadcast of the parameters and a reduce of the gradients: 2 S) over
/// those of an all-reduce: n/(n-1).
[[nodiscard]] double data_parallel_ratio(int ranks);

/// What a step of this efficiency spends beyond its computing, in seconds; efficiency in (0, 1).
[[nodiscard]] double exposed_of_efficiency(double compute_s, double efficiency);

/// The bus bandwidth in GB/s from which on a step has the efficiency; 0 < efficiency < 1.
[[nodiscard]] double needed_busbw(double bytes, int ranks, double compute_s, double efficiency,
                                  double overlap);

}  // namespace busbar

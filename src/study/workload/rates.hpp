// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "study/dataset.hpp"

namespace busbar::study {

/// Bus bandwidths in GB/s by size: the medians of a curve's rows.
struct RateCurve {
  CurveKey key{};
  std::map<Bytes, double> points{};
};

/// How fast a system's collectives are: one figure for everything, or curves.
struct SystemRates {
  std::string system{};
  bool simulated = false;
  std::optional<double> constant_GBps{};
  std::vector<RateCurve> curves{};  ///< one per collective and number of ranks
};

/// 2(n-1)/n: bytes that cross each rank's link for one byte of an all-reduce by rings (nccl-tests,
/// doc/PERFORMANCE.md); 0 for one rank.
[[nodiscard]] double allreduce_factor(int ranks);

/// The bus bandwidth in GB/s of an all-reduce that took so long.
[[nodiscard]] double allreduce_busbw(double bytes, int ranks, double seconds);

/// What a message takes.
struct MessageTime {
  double seconds = 0;
  double GBps = 0;       ///< the bus bandwidth that this is of
  bool outside = false;  ///< no such size was measured: the rate of the nearest one
};

/// Which of a file's curves stand for gradients.
struct RatesRequest {
  std::string type{};     ///< preferred where it was measured; else any
  bool in_place = false;  ///< preferred likewise
  std::vector<std::string_view> collectives{"allreduce", "broadcast", "reduce"};
};

/// One entry per label, in the order of the datasets. Throws Error (Usage) where a file has none of
/// the request's collectives on two ranks or more, or where two curves of a label differ in
/// nodes, devices or settings.
[[nodiscard]] std::vector<SystemRates> rates_of(std::span<const Dataset> datasets,
                                                const RatesRequest& request);

/// Numbers of ranks with a curve of all-reduce, rising; none for a constant.
[[nodiscard]] std::vector<int> measured_ranks(const SystemRates& rates);

/// One operation of that many bytes; nothing if it was not measured with that many ranks.
[[nodiscard]] std::optional<MessageTime> message_time(const SystemRates& rates,
                                                      std::string_view collective, int ranks,
                                                      double bytes);

/// An all-reduce in buckets one after the other, the last one smaller; bucket 0: one message.
[[nodiscard]] std::optional<MessageTime> sync_time(const SystemRates& rates, int ranks,
                                                   double bytes, double bucket_bytes);

/// DataParallel: a broadcast of the parameters and a reduce of the gradients, one message each.
[[nodiscard]] std::optional<MessageTime> data_parallel_time(const SystemRates& rates, int ranks,
                                                            double bytes);

}  // namespace busbar::study

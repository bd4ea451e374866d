// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "study/workload.hpp"

namespace busbar {

/// What one measured rate explains of an exposed time.
struct ExplainedTime {
  std::size_t system = 0;
  MessageTime sync{};
  double share = 0;  ///< sync over the exposed time, above 1 where some of it is hidden
};

/// What a reported efficiency says of a model's exchange.
struct ImpliedRate {
  std::size_t model = 0;  ///< of the request's cases
  int ranks = 0;
  double compute_s = 0;
  double exposed_s = 0;
  std::vector<double> busbw_GBps{};    ///< per overlap, were all of the exposed time link time
  std::vector<ExplainedTime> links{};  ///< of the systems that have a rate
};

/// 1 - share; the share in (0, 1).
[[nodiscard]] double efficiency_of_share(double share);
/// A speed-up over one GPU, by n ranks.
[[nodiscard]] double efficiency_of_speedup(double speedup, int ranks);

/// For each case with a compute time; the request's target is not used.
[[nodiscard]] std::vector<ImpliedRate> implied_rates(const WorkloadRequest& request, int ranks,
                                                     double efficiency);

}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "study/workload/workload.hpp"

namespace busbar::study {

/// The meaning of all figures, for every form of output.
inline constexpr std::string_view kWorkloadLabel =
    "link-time lower bound: what the links alone take; waiting for the slowest rank, reduction "
    "kernels and input come on top";

inline constexpr double kMilli = 1e3;  ///< milliseconds of a second

/// "12.5"
[[nodiscard]] std::string percent(double share);
/// "0.67"
[[nodiscard]] std::string overlap_text(double share);
/// "dgx-2 (simulated)"
[[nodiscard]] std::string title_of(const SystemRates& system);

/// @name Explanations, a line each
/// @{
/// The gradients, rates and computing times of a request.
[[nodiscard]] std::vector<std::string> head_notes(const WorkloadRequest& request);
/// The meaning of the columns of a report.
[[nodiscard]] std::vector<std::string> report_notes(const WorkloadReport& report);
/// How much of the exposed time the links of each system explain.
[[nodiscard]] std::vector<std::string> implied_notes(const WorkloadRequest& request,
                                                     const ImpliedRate& rate);
/// A computing time that is assumed: whose throughput it is from, and how to give another.
[[nodiscard]] std::string assumption(const WorkloadCase& job);
/// @}

/// Tables of the exchange, of steps, of the largest numbers of ranks and of the systems' order;
/// plain or Markdown.
[[nodiscard]] std::string workload_text(const WorkloadRequest& request,
                                        const WorkloadReport& report, bool markdown);
/// The table of the inverse, and how much of the exposed time the links explain.
[[nodiscard]] std::string implied_text(const WorkloadRequest& request,
                                       const std::vector<ImpliedRate>& implied, bool markdown);

/// @name The same for machines: docs/workload.md
/// @{
[[nodiscard]] std::string workload_json(const WorkloadRequest& request,
                                        const WorkloadReport& report);
[[nodiscard]] std::string implied_json(const WorkloadRequest& request,
                                       const std::vector<ImpliedRate>& implied);
/// A row per model, system, number of ranks and overlap.
[[nodiscard]] std::string workload_csv(const WorkloadRequest& request,
                                       const WorkloadReport& report);
/// A row per model, overlap and system; one without a system if none was given.
[[nodiscard]] std::string implied_csv(const WorkloadRequest& request,
                                      const std::vector<ImpliedRate>& implied);
/// @}

}  // namespace busbar::study

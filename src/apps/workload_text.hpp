// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "apps/workload_options.hpp"
#include "study/workload.hpp"
#include "study/workload_inverse.hpp"

namespace busbar {

/// What every form says of its figures.
inline constexpr std::string_view kWorkloadLabel =
    "link-time lower bound: what the links alone take; waiting for the slowest rank, reduction "
    "kernels and input come on top";

/// Tables of the exchange, of steps, of the largest numbers of ranks and of the systems' order;
/// plain or Markdown.
[[nodiscard]] std::string workload_text(const WorkloadOptions& options,
                                        const WorkloadRequest& request,
                                        const WorkloadReport& report);
/// The table of the inverse, and in words what the links explain.
[[nodiscard]] std::string implied_text(const WorkloadOptions& options,
                                       const WorkloadRequest& request,
                                       const std::vector<ImpliedRate>& implied);

/// @name The same for machines: docs/workload.md
/// @{
[[nodiscard]] std::string workload_json(const WorkloadOptions& options,
                                        const WorkloadRequest& request,
                                        const WorkloadReport& report);
[[nodiscard]] std::string implied_json(const WorkloadOptions& options,
                                       const WorkloadRequest& request,
                                       const std::vector<ImpliedRate>& implied);
/// A row per model, system, number of ranks and overlap.
[[nodiscard]] std::string workload_csv(const WorkloadOptions& options,
                                       const WorkloadRequest& request,
                                       const WorkloadReport& report);
/// A row per model, overlap and system; one without a system where none was given.
[[nodiscard]] std::string implied_csv(const WorkloadOptions& options,
                                      const WorkloadRequest& request,
                                      const std::vector<ImpliedRate>& implied);
/// @}

}  // namespace busbar

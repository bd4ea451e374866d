// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>
#include <vector>

#include "study/workload.hpp"

namespace busbar {

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

}  // namespace busbar

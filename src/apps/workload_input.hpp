// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "apps/workload_options.hpp"
#include "study/workload.hpp"

namespace busbar {

/// Reads models and curves. Throws a usage error of one line.
[[nodiscard]] WorkloadRequest workload_request(const WorkloadOptions& options);

}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "harness/memory_plan.hpp"
#include "harness/row_buffers.hpp"
#include "harness/run_parts.hpp"
#include "harness/sampler.hpp"
#include "harness/verifier.hpp"

namespace busbar {

/// What one row is measured with.
struct RowSetup {
  const RunParts& parts;
  const Crew& crew;
  const Call& like;  ///< every call of the row but for its buffers
  const SizePlan& plan;
  RowBuffers& buffers;
  Verifier& verifier;
};

/// Measures and checks a row into its record; its samples in us. The record is of a skipped row,
/// without samples, where a device's library refuses the row's first operation. Collective over the
/// job.
[[nodiscard]] std::vector<double> measure_row(const RowSetup& setup, Record& record,
                                              const ProgressReport& report);

}  // namespace busbar

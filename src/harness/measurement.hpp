// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "harness/connected.hpp"
#include "harness/evidence.hpp"
#include "harness/journal.hpp"
#include "harness/outputs.hpp"
#include "harness/sampler.hpp"
#include "harness/soak.hpp"

namespace busbar {

/// Runs an operation once, untimed: a library connects, allocates and loads its code at the first
/// operation of a kind. Returns why it refused, or empty; the same on every rank. Throws Error
/// where some ranks of a row refuse what others have begun, which then never ends. Collective.
[[nodiscard]] std::string prime(const RoundGroup& round_group, Communicator& communicator,
                                const Call& call);

/// Measures and checks a row. What it found goes into `evidence`, also where it throws: nothing but
/// a reason where a rank lacks memory or a device's library refuses the row's first operation.
/// `report_interval` is of a soak, on the rank that writes its row. Collective over the job.
void measure(const RowSetup& setup, const ProgressReport& report,
             const IntervalReport& report_interval, Evidence& evidence);

/// Measures all rows of a launch that an earlier run has not, pass by pass; rows of the groups of a
/// round at the same time. The row that fails is written, too, before the error goes on.
/// Collective over the job.
void run_rows(const Job& job, std::span<const PlannedRow> rows, Connected& connected,
              Journal& journal, Outputs& outputs);

}  // namespace busbar

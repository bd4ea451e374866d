// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/error.hpp"
#include "harness/run.hpp"

namespace busbar {

/// One run of a collective, from placement to footers. Collective. Throws Error.
[[nodiscard]] Status run_session(const Options& options, const Collective& collective,
                                 const Invocation& invocation, Bootstrap& world,
                                 Watchdog& watchdog);

/// --backend sim: predicts every row from a system file (topo/predict) and gives it to the outputs
/// of a measured run; every row and head says `simulated`. One process, without MPI. Throws Error
/// (Usage) before anything is written.
[[nodiscard]] Status run_simulation(const Options& wanted, const Collective& collective,
                                    const Invocation& invocation);

}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "harness/session.hpp"

#include <fmt/format.h>

#include "harness/context.hpp"
#include "harness/outputs.hpp"
#include "harness/placement.hpp"
#include "harness/runner.hpp"
#include "model/backend.hpp"

namespace busbar {
namespace {

void check_ranks(const Options& options, int ranks) {
  if (options.root && *options.root >= ranks) {
    throw usage_error(fmt::format("-r {}: there are {} ranks; give 0 to {} or all", *options.root,
                                  ranks, ranks - 1));
  }
  if (options.inject_fault && options.inject_fault->rank >= ranks) {
    throw usage_error(fmt::format("--inject-fault: there is no rank {}; give 0 to {}",
                                  options.inject_fault->rank, ranks - 1));
  }
}

Progress choose_progress(ProgressChoice choice, const Placements& placements) {
  if (choice == ProgressChoice::Auto) {
    return placements.oversubscribed ? Progress::Yield : Progress::Block;
  }
  return choice == ProgressChoice::Yield ? Progress::Yield : Progress::Block;
}

/// Wrong data is 1; a run in which no row could be measured has nothing to show for a 0. A fault
/// that no row has was asked for in vain: it would look like a check that sees nothing.
Status verdict(Bootstrap& bootstrap, const RunSummary& summary, const Options& options) {
  Status status = Status::Ok;
  if (options.inject_fault && summary.fault_rows == 0) status = Status::Usage;
  if (summary.rows == 0) status = Status::Skipped;
  if (summary.wrong_rows > 0) status = Status::Wrong;
  bootstrap.broadcast(status);
  if (status != Status::Usage) return status;
  const Fault& fault = *options.inject_fault;
  throw usage_error(fmt::format("--inject-fault {}:{}: {}", fault.rank, fault.index,
                                options.checks == 0
                                    ? "results are not checked with -c 0"
                                    : "no row has such an element in this rank's result"));
}

double slowest_timer_s(Bootstrap& bootstrap, Stopwatch& stopwatch) {
  double cost = stopwatch.cost().count();
  bootstrap.combine({&cost, 1}, Combine::Max);
  return cost;
}

}  // namespace

Status run_session(const Options& options, const Invocation& invocation, Bootstrap& bootstrap,
                   Watchdog& watchdog) {
  watchdog.step("setting up");
  check_ranks(options, bootstrap.size());
  const BackendChoice backend = choose_backend(options.backend, bootstrap);
  const Collective& collective = *registered_collectives().front();
  Outputs outputs(bootstrap, options);
  const Placements placements = place_ranks(bootstrap, options.bind);
  const Progress progress = choose_progress(options.progress, placements);
  bootstrap.set_progress(progress);
  const auto communicator = backend.backend->connect(bootstrap, {.progress = progress});
  const RunParts parts{.options = options,
                       .collective = collective,
                       .backend = backend.backend->name(),
                       .bootstrap = bootstrap,
                       .communicator = *communicator,
                       .placements = placements,
                       .progress = progress,
                       .timer_cost_s = slowest_timer_s(bootstrap, communicator->stopwatch()),
                       .watchdog = watchdog};
  const std::vector<SizePlan> plans = plan_sweep(parts, options.types.front(), options.ops.front());
  const ContextInput context{.options = options,
                             .collective = collective,
                             .backend = backend,
                             .placements = placements,
                             .plans = plans,
                             .progress = progress,
                             .ranks = bootstrap.size(),
                             .nodes = bootstrap.nodes(),
                             .timer_cost_s = parts.timer_cost_s,
                             .command = invocation.command,
                             .environment = invocation.environment};
  outputs.check_resumable(configuration(context));
  outputs.begin(make_context(context));
  Runner(parts, outputs).run();
  outputs.end();
  return verdict(bootstrap, outputs.summary(), options);
}

}  // namespace busbar

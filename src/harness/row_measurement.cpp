// SPDX-License-Identifier: BSD-3-Clause
#include "harness/row_measurement.hpp"

#include <algorithm>

#include "harness/prime.hpp"
#include "harness/row_result.hpp"
#include "stats/summary.hpp"

namespace busbar {
namespace {

constexpr std::uint64_t kGraphOperations = 20;  // nccl-tests' iterations, all in one graph

ChunkRunner::Settings chunk_settings(const RunParts& parts) {
  const Options& options = parts.options;
  return {.cadence = options.cadence,
          .blocking = options.blocking,
          .aggregation = options.aggregation,
          .group = options.aggregated,
          .graph_launches = options.graph_launches,
          .hold = parts.on_devices && options.blocking == Blocking::Off};
}

SamplingPlan sampling_plan(const RunParts& parts) {
  const Options& options = parts.options;
  SamplingPlan plan{.operations = options.operations,
                    .warmup_operations = options.warmup_operations,
                    .least_batch = options.aggregated};
  if (options.graph_launches > 0) {  // a graph of all operations is one sample
    plan.least_batch *= options.operations.value_or(kGraphOperations);
    if (options.operations) plan.operations = 1;
  }
  // An isolated operation, or one behind a barrier, is a sample of its own, however short.
  const bool isolated =
      options.cadence == Cadence::Isolated || options.blocking == Blocking::UntimedBarrier;
  if (!isolated) plan.timer_cost_s = parts.timer_cost_s;
  plan.limits.ci_width = options.ci_width;
  plan.limits.time_budget_s = options.time_budget.count();
  return plan;
}

/// Where operations follow each other without a wait, issuing them may be what takes the time.
bool is_limited_by_issuing(const RunParts& parts, const Record& record) {
  const Options& options = parts.options;
  const bool streaming = options.cadence == Cadence::Streaming && options.blocking == Blocking::Off;
  return parts.on_devices && streaming && is_launch_bound(record);
}

/// Out of place the first check is of the very buffers that were timed. In place the timed
/// operations worked on their own results, so every check is of an operation of its own.
class RowCheck {
 public:
  RowCheck(const RowSetup& setup, std::span<const Call> calls, std::uint64_t sent,
           std::uint64_t calls_used)
      : setup_(setup), calls_(calls), sent_(sent), calls_used_(calls_used) {}

  void run(Record& record) {
    const Options& options = setup_.parts.options;
    Verdict verdict;
    for (std::uint64_t check = 0; check < options.checks; ++check) {
      setup_.parts.watchdog.tick();
      const bool again = check > 0 || calls_.front().in_place;
      const std::span<const Call> used = calls_.first(again ? 1 : calls_used_);
      if (again) operate_anew(used, options.seed + check);
      const bool planted = check == 0 && options.inject_fault &&
                           setup_.verifier.plant(*options.inject_fault, used.front());
      if (planted) add_flag(record, kFaultInjected);
      verdict = setup_.verifier.check(used, options.seed + check);
      const bool wrong_somewhere = !setup_.crew.everyone.agree(verdict.wrong == 0);
      if (wrong_somewhere) break;
    }
    record.wrong = verdict.wrong;
    record.status = verdict.wrong > 0 ? RowStatus::Wrong : RowStatus::Ok;
    record.reason = verdict.first_wrong;
  }

 private:
  void operate_anew(std::span<const Call> used, std::uint64_t seed) {
    setup_.buffers.poison_results(calls_.front().in_place);
    setup_.verifier.fill(used, sent_, seed);
    setup_.crew.everyone.barrier();
    setup_.parts.communicator.enqueue(used.front());
    setup_.parts.communicator.wait();
  }

  const RowSetup& setup_;
  std::span<const Call> calls_;
  std::uint64_t sent_;  // elements of a send buffer
  std::uint64_t calls_used_;
};

void add_choice(Record& record, const std::optional<LibraryChoice>& choice) {
  if (!choice) return;
  record.algorithm = choice->algorithm;
  record.protocol = choice->protocol;
  record.channels = choice->channels;
}

}  // namespace

std::vector<double> measure_row(const RowSetup& setup, Record& record,
                                const ProgressReport& report) {
  const RunParts& parts = setup.parts;
  parts.watchdog.tick();
  const std::vector<Call> calls = setup.buffers.calls(setup.like, record.in_place);
  const std::uint64_t sent = setup.plan.footprint.send / info(setup.like.type).size;
  if (parts.on_devices) {
    record.reason = prime(setup.crew, parts.communicator, calls.front());
    parts.watchdog.tick();
    if (!record.reason.empty()) {
      record.status = RowStatus::Skipped;
      return {};
    }
  }
  ChunkRunner chunks(setup.crew, parts.communicator, calls, chunk_settings(parts),
                     [&parts] { parts.watchdog.tick(); });
  setup.buffers.poison_results(record.in_place);
  setup.verifier.fill(calls, sent, parts.options.seed);
  parts.watchdog.tick();
  if (parts.options.nccl_choice) add_choice(record, chunks.observe());
  Samples samples = take_samples(setup.crew, chunks, sampling_plan(parts), report);
  add_statistics(record, samples, parts.collective);
  if (is_limited_by_issuing(parts, record)) add_flag(record, kLaunchBound);
  if (parts.placements.hosts == 1 && !samples.start_skews_us.empty()) {
    record.start_skew_us = stats::median(samples.start_skews_us);
  }
  if (parts.options.checks > 0) RowCheck(setup, calls, sent, chunks.calls_used()).run(record);
  return std::move(samples.times_us);
}

}  // namespace busbar

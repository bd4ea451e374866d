// SPDX-License-Identifier: BSD-3-Clause
#include "harness/runner.hpp"

#include <algorithm>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include "base/error.hpp"
#include "harness/host.hpp"
#include "harness/row_result.hpp"
#include "stats/summary.hpp"

namespace busbar {
namespace {

Bytes allowed_per_rank(const Options& options, const Placements& placements) {
  if (options.memory_limit) {
    return *options.memory_limit / static_cast<Bytes>(placements.most_ranks_per_host);
  }
  return static_cast<Bytes>(static_cast<double>(placements.least_memory) * kMemoryShare);
}

/// Ops that a collective is run with: one nameless one where it reduces nothing.
std::vector<ReduceOp> ops_of(const Options& options, const Collective& collective) {
  return collective.reduces ? options.ops : std::vector<ReduceOp>{ReduceOp::None};
}

}  // namespace

std::vector<SizePlan> plan_sweep(const RunParts& parts, DataType type, ReduceOp op) {
  const Options& options = parts.options;
  const bool rotate = options.cache == Cache::Rotate;
  const Bytes least_rotation = 128 * kMiB;  // where the cache is unknown or small
  const MemoryRequest request{
      .collective = &parts.collective,
      .type = type,
      .op = parts.collective.reduces ? op : ReduceOp::None,
      .ranks = parts.bootstrap.size(),
      .ranks_per_host = parts.placements.most_ranks_per_host,
      .available_per_rank = allowed_per_rank(options, parts.placements),
      .out_of_place = options.placement != Placement::In,
      .in_place = options.placement != Placement::Out,
      .rotate_through = rotate ? std::max(2 * parts.placements.largest_cache, least_rotation) : 0};
  std::vector<SizePlan> plans;
  for (const Bytes size : options.sweep.sizes()) {
    plans.push_back(plan_size(request, parts.communicator, size));
  }
  return plans;
}

Runner::Runner(const RunParts& parts, Outputs& outputs)
    : parts_(parts), options_(parts.options), outputs_(outputs) {}

void Runner::run() {
  for (std::uint64_t cycle = 0; options_.cycles == 0 || cycle < options_.cycles; ++cycle) {
    run_cycle(cycle);
  }
}

std::vector<int> Runner::roots() const {
  if (!parts_.collective.rooted) return {0};
  if (options_.root) return {*options_.root};
  std::vector<int> all(static_cast<std::size_t>(parts_.bootstrap.size()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void Runner::run_cycle(std::uint64_t cycle) {
  for (const DataType type : options_.types) {
    for (const ReduceOp op : ops_of(options_, parts_.collective)) {
      for (const int root : roots()) {
        run_sweep({.cycle = cycle, .type = type, .op = op, .root = root});
      }
    }
  }
}

void Runner::run_sweep(const SweepKey& key) {
  Verifier verifier(parts_.bootstrap, parts_.communicator, key.type, key.op);
  for (const SizePlan& plan : plan_sweep(parts_, key.type, key.op)) run_size(key, plan, verifier);
}

Call Runner::call_like(const SweepKey& key) const {
  return {.collective = &parts_.collective, .type = key.type, .op = key.op, .root = key.root};
}

Record Runner::blank(const SweepKey& key, const SizePlan& plan, bool in_place) const {
  Record record{.collective = std::string(parts_.collective.name),
                .backend = std::string(parts_.backend),
                .ranks = parts_.bootstrap.size(),
                .nodes = parts_.bootstrap.nodes(),
                .type = std::string(info(key.type).name),
                .op = std::string(name(key.op)),
                .in_place = in_place,
                .size = plan.footprint.count > 0 ? plan.footprint.size : plan.wanted,
                .count = plan.footprint.count,
                .cadence = std::string(name(options_.cadence)),
                .aggregation = std::string(name(options_.aggregation)),
                .progress = parts_.progress == Progress::Yield ? "yield" : "block",
                .cache = std::string(name(options_.cache)),
                .cycle = key.cycle};
  if (parts_.collective.rooted) record.root = key.root;
  if (plan.segment > 0) record.segment_bytes = plan.segment * info(key.type).size;
  if (plan.segment > 0) add_flag(record, "segmented");
  if (parts_.placements.oversubscribed) add_flag(record, "oversubscribed");
  if (options_.inject_fault) add_flag(record, "fault-injected");
  return record;
}

void Runner::run_size(const SweepKey& key, const SizePlan& plan, Verifier& verifier) {
  const Call like = call_like(key);
  std::optional<RowBuffers> buffers;
  for (const bool in_place : {false, true}) {
    if (options_.placement == (in_place ? Placement::Out : Placement::In)) continue;
    Record record = blank(key, plan, in_place);
    parts_.watchdog.step(row_name(record));
    if (outputs_.replay(record)) continue;
    const std::string obstacle = find_obstacle(plan, in_place, buffers);
    if (obstacle.empty()) {
      measure_or_fail(std::move(record), like, plan, *buffers, verifier);
    } else {
      skip(std::move(record), obstacle);
    }
  }
}

std::string Runner::row_name(const Record& record) const {
  return fmt::format("{} {} {}", parts_.collective.title, format_bytes(record.size),
                     record.in_place ? "in place" : "out of place");
}

std::string Runner::find_obstacle(const SizePlan& plan, bool in_place,
                                  std::optional<RowBuffers>& buffers) {
  const bool planned = in_place ? plan.in_place : plan.out_of_place;
  if (!planned) return plan.reason;
  if (buffers || try_allocate(plan, buffers)) return {};
  return "a rank could not allocate its buffers; --memory-limit makes the plan smaller";
}

bool Runner::try_allocate(const SizePlan& plan, std::optional<RowBuffers>& buffers) {
  try {
    buffers.emplace(parts_.communicator, plan);
  } catch (const Error&) {
    buffers.reset();
  }
  const bool everywhere = parts_.bootstrap.agree(buffers.has_value());
  if (!everywhere) buffers.reset();
  return everywhere;
}

void Runner::skip(Record record, const std::string& reason) {
  record.status = RowStatus::Skipped;
  record.reason = reason;
  record.finished_at = local_time();
  outputs_.write(record, {});
}

void Runner::measure_or_fail(Record record, const Call& like, const SizePlan& plan,
                             RowBuffers& buffers, Verifier& verifier) {
  std::vector<double> samples_us;
  try {
    samples_us = measure(record, like, plan, buffers, verifier);
  } catch (const Error& error) {  // the row in flight is on record too, for those who ask why
    record.status = RowStatus::Failed;
    record.reason = error.what();
    record.finished_at = local_time();
    outputs_.write(record, {});
    throw;
  }
  record.finished_at = local_time();
  outputs_.write(record, samples_us);
}

std::vector<double> Runner::measure(Record& record, const Call& like, const SizePlan& plan,
                                    RowBuffers& buffers, Verifier& verifier) {
  parts_.watchdog.tick();
  const std::vector<Call> calls = buffers.calls(like, record.in_place);
  const std::uint64_t sent = plan.footprint.send / info(like.type).size;
  ChunkRunner chunks(parts_.bootstrap, parts_.communicator, calls,
                     {.cadence = options_.cadence,
                      .blocking = options_.blocking,
                      .aggregation = options_.aggregation},
                     [this] { parts_.watchdog.tick(); });
  buffers.poison_results(record.in_place);
  verifier.fill(calls, sent, options_.seed);
  parts_.watchdog.tick();
  Samples samples =
      take_samples(parts_.bootstrap, chunks, sampling_plan(), progress_report(record));
  add_statistics(record, samples, parts_.collective);
  if (parts_.placements.hosts == 1 && !samples.start_skews_us.empty()) {
    record.start_skew_us = stats::median(samples.start_skews_us);
  }
  if (options_.checks > 0) {
    const Verdict verdict = verify(calls, sent, buffers, verifier, chunks);
    record.wrong = verdict.wrong;
    record.status = verdict.wrong > 0 ? RowStatus::Wrong : RowStatus::Ok;
    record.reason = verdict.first_wrong;
  }
  return std::move(samples.times_us);
}

/// Out of place the first check is of the very buffers that were timed. In place the timed
/// operations worked on their own results, so every check is of an operation of its own.
Verdict Runner::verify(std::span<const Call> calls, std::uint64_t sent, RowBuffers& buffers,
                       Verifier& verifier, const ChunkRunner& chunks) {
  Verdict verdict;
  for (std::uint64_t check = 0; check < options_.checks && verdict.wrong == 0; ++check) {
    parts_.watchdog.tick();
    const std::uint64_t seed = options_.seed + check;
    std::span<const Call> used =
        calls.first(std::min<std::size_t>(calls.size(), chunks.operations()));
    if (check > 0 || calls.front().in_place) {
      used = calls.first(1);
      buffers.poison_results(calls.front().in_place);
      verifier.fill(used, sent, seed);
      parts_.bootstrap.barrier();
      parts_.communicator.enqueue(used.front());
      parts_.communicator.wait();
    }
    if (check == 0 && options_.inject_fault) verifier.plant(*options_.inject_fault, used.front());
    verdict = verifier.check(used, seed);
  }
  return verdict;
}

SamplingPlan Runner::sampling_plan() const {
  SamplingPlan plan{.operations = options_.operations,
                    .warmup_operations = options_.warmup_operations,
                    .least_batch = options_.aggregated};
  // An isolated operation is a chunk and a sample of its own, however short.
  if (options_.cadence == Cadence::Streaming) plan.timer_cost_s = parts_.timer_cost_s;
  plan.limits.ci_width = options_.ci_width;
  plan.limits.time_budget_s = options_.time_budget.count();
  return plan;
}

ProgressReport Runner::progress_report(const Record& record) {
  ProgressLine* line = outputs_.progress_line();
  if (line == nullptr) return {};
  const std::string head = row_name(record);
  line->show(head + ": warming up");
  return [line, head](std::size_t samples, std::optional<double> half_width) {
    const std::string width =
        half_width ? fmt::format("±{:.1f} %", *half_width * 100) : "no interval yet";
    line->show(fmt::format("{}: {} samples, {}", head, samples, width));
  };
}

}  // namespace busbar

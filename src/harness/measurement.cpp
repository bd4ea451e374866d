// SPDX-License-Identifier: BSD-3-Clause
#include "harness/measurement.hpp"

#include "harness/together.hpp"
#include "model/agreement.hpp"

namespace busbar {
namespace {

constexpr std::uint64_t kGraphOperations = 20;  // nccl-tests' iterations, all in one graph

ChunkRunner::Settings chunk_settings(const RowSetup& setup) {
  const Job& job = setup.job;
  const Options& options = setup.options();
  RankLoad& load = setup.load;
  const bool several = setup.round.ranks.members.size() > 1;
  // Else the device would still be at the operation before while the host works.
  const bool waits = load.on_host() && job.on_devices && options.blocking == Blocking::Off;
  return {.cadence = options.cadence,
          .blocking = waits ? Blocking::Wait : options.blocking,
          .aggregation = options.aggregation,
          .group = options.aggregated,
          .graph_launches = options.graph_launches,
          .hold = job.on_devices && options.blocking == Blocking::Off && !load.any(),
          .arrivals = several && job.collective.waits_for_all() && !options.duration,
          .rank_times = options.wants_rank_times(),
          .prepare = load.any() ? [&load] { load.run(); } : std::function<void()>{}};
}

SamplingPlan sampling_plan(const RowSetup& setup) {
  const Options& options = setup.options();
  const std::uint64_t visit = setup.row.pass;
  SamplingPlan plan{.operations = options.operations,
                    .warmup_operations = options.warmup_operations,
                    .least_batch = options.aggregated};
  if (options.graph_launches > 0) {  // a graph of all operations is one sample
    plan.least_batch *= options.operations.value_or(kGraphOperations);
    if (options.operations) plan.operations = 1;
  }
  // An isolated operation, or one behind a barrier or a load, is a sample of its own, however
  // short.
  const bool isolated = options.cadence == Cadence::Isolated ||
                        options.blocking == Blocking::UntimedBarrier || options.loads_before();
  if (!isolated) plan.timer_cost_s = setup.round.timer_cost_s;
  plan.limits = options.stop_limits();
  if (options.visits == 1) return plan;
  plan.whole = plan.limits;
  plan.limits = stats::share_of(plan.limits, options.visits);
  plan.first_visit = visit == 0;
  if (plan.operations) {
    const bool one_more = visit < *plan.operations % options.visits;
    plan.operations = *plan.operations / options.visits + (one_more ? 1 : 0);
  }
  return plan;
}

/// One row, with the calls of its buffers.
class RowMeasurement {
 public:
  RowMeasurement(const RowSetup& setup, Evidence& evidence)
      : setup_(setup),
        evidence_(evidence),
        options_(setup.job.options),
        communicator_(setup.round.communicator),
        tracker_(*setup.job.watchdog.tracker()),
        calls_(setup.buffers->calls(setup.like, setup.row.in_place)),
        chunks_(setup.round.ranks, communicator_, calls_, chunk_settings(setup), tracker_) {}

  void take(const ProgressReport& report, const IntervalReport& report_interval) {
    Bootstrap& world = setup_.job.world;
    tracker_.tick();
    if (setup_.job.on_devices) {
      evidence_.skipped = prime(setup_.round.ranks, communicator_, calls_.front());
      tracker_.tick();
      if (!evidence_.skipped.empty()) return;
    }
    evidence_.checkable = world.agree(!communicator_.overwrites(calls_.front()));
    setup_.buffers->poison_results(setup_.row.in_place);
    setup_.verifier.fill(calls_, setup_.sent_elements(), options_.seed);
    tracker_.tick();
    if (options_.nccl_choice) evidence_.choice = chunks_.observe().value_or(LibraryChoice{});
    SamplingPlan plan = sampling_plan(setup_);
    std::optional<Soak> soak;
    if (options_.duration) plan.soak = &soak.emplace(soak_settings(report_interval));
    if (setup_.row.together) {
      take_turns(plan.limits.time_budget_s);
    } else {
      take_samples(setup_.round.ranks, chunks_, plan, report, evidence_);
    }
    // Visits are of the same operation: the first is checked.
    if (!soak && checks() && (options_.visits == 1 || setup_.row.pass == 0)) check_row();
  }

 private:
  /// Of the row and the load beside it: enough for an interval. On a device operations are issued
  /// in batches, so that issuing does not count.
  void take_turns(double budget_s) {
    constexpr int kTurns = 6;
    constexpr int kWindows = 3 * kTurns;
    Party party{.name = "operations", .communicator = &communicator_, .call = calls_.front()};
    if (setup_.job.on_devices) party.batch = 20;
    Together together(setup_.job, setup_.round.ranks.members, {party}, true, setup_.load.beside());
    together.warm_up();
    for (int turn = 0; turn < kTurns; ++turn) {
      together.take_turn(1e6 * budget_s / kWindows, turn % 2 == 1, {&evidence_, 1});
    }
    evidence_.stop = stats::StopReason::Count;
  }

  /// The same on every rank, idle ones too.
  [[nodiscard]] bool checks() const { return options_.checks > 0 && evidence_.checkable; }

  /// Checks these calls' results, `again` of an operation of its own.
  DataCheck check_once(std::span<const Call> used, std::uint64_t check, bool again) {
    tracker_.tick();
    const std::uint64_t seed = options_.seed + check;
    if (again) {
      setup_.buffers->poison_results(setup_.row.in_place);
      setup_.verifier.fill(used, setup_.sent_elements(), seed);
      setup_.job.world.barrier();
      communicator_.enqueue(used.front());
      communicator_.wait();
    }
    const bool plants = check == 0 && options_.inject_fault && !evidence_.fault_injected;
    if (plants) {
      evidence_.fault_injected = setup_.verifier.plant(*options_.inject_fault, used.front());
    }
    return setup_.verifier.check(used, seed);
  }

  /// Out of place the first check is of the very buffers that were timed. In place the timed
  /// operations worked on their own results, so every check is of an operation of its own.
  void check_row() {
    tracker_.phase("checking");
    const std::span<const Call> calls(calls_);
    const std::uint64_t timed = setup_.row.together ? 1 : chunks_.calls_used();
    for (std::uint64_t check = 0; check < options_.checks; ++check) {
      const bool again = check > 0 || setup_.row.in_place;
      evidence_.check = check_once(calls.first(again ? 1 : timed), check, again);
      const bool right_everywhere = setup_.job.world.agree(evidence_.check->wrong == 0);
      if (!right_everywhere) break;
    }
  }

  /// At the end of an interval the results of its last operation are checked; out of place they are
  /// poisoned then, so that the next check is of what was received since.
  Soak::Settings soak_settings(const IntervalReport& report_interval) {
    Soak::Settings settings{
        .duration = *options_.duration, .interval = options_.interval, .report = report_interval};
    if (!checks()) return settings;
    settings.checked_bytes = setup_.verifier.checked_bytes(calls_.front());
    settings.check = [this] {
      tracker_.phase("checking");
      const std::size_t last = (chunks_.operations() - 1) % calls_.size();
      const bool in_place = setup_.row.in_place;
      DataCheck found = check_once(std::span(calls_).subspan(last, 1), 0, in_place);
      if (!in_place) setup_.buffers->poison_results(false);
      return found;
    };
    return settings;
  }

  const RowSetup& setup_;
  Evidence& evidence_;
  const Options& options_;
  Communicator& communicator_;
  StepTracker& tracker_;
  std::vector<Call> calls_;
  ChunkRunner chunks_;
};

}  // namespace

std::string prime(const RoundGroup& round_group, Communicator& communicator, const Call& call) {
  round_group.world.barrier();
  std::string mine;  // why the library refuses the operation
  try {
    communicator.enqueue(call);
  } catch (const Error& error) {
    if (error.status() != Status::Unavailable) throw;
    mine = error.what();
  }
  const bool all_issued = round_group.members.agree(mine.empty());
  const bool none_issued = round_group.members.agree(!mine.empty());
  std::string refusal = first_text(round_group.world, mine);
  if (!round_group.world.agree(all_issued || none_issued)) {
    throw runtime_failure(
        fmt::format("the library refuses on some ranks what it began on others: {}", refusal));
  }
  if (mine.empty()) communicator.wait();
  return refusal;
}

void measure(const RowSetup& setup, const ProgressReport& report,
             const IntervalReport& report_interval, Evidence& evidence) {
  const SizePlan& plan = setup.plan;
  const ConnectedRound& round = setup.round;
  evidence.nodes = round.ranks.members.nodes();
  evidence.connect_s = round.group_connect_s;
  evidence.segment_bytes = plan.segment * info(setup.row.type).size;
  evidence.in_cache =
      setup.job.options.cache == Cache::Rotate && !plan.leaves_cache && plan.footprint.count > 0;
  evidence.device_set = round.bound.device_set;
  evidence.skipped = setup.obstacle;
  if (!setup.obstacle.empty()) return;
  evidence.registered = setup.registered;
  evidence.pages = setup.pages;
  if (round.bound.bus_GBps != nullptr) {
    evidence.bound_kind = round.bound.kind;
    evidence.bound_GBps = round.bound.bus_GBps({.collective = &setup.job.collective,
                                                .ranks = round.ranks.members.size(),
                                                .size = plan.footprint.size,
                                                .in_place = setup.row.in_place,
                                                .slots = plan.slots,
                                                .traffic = plan.footprint.traffic.get()});
  }
  setup.load.delay(setup.options(), setup.job.world.rank());
  round.communicator.use_variant(setup.row.variant);
  RowMeasurement(setup, evidence).take(report, report_interval);
}

}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "harness/row.hpp"

#include <cmath>

#include "model/agreement.hpp"
#include "stats/autocorrelation.hpp"
#include "stats/summary.hpp"

namespace busbar {
namespace {

/// Bytes from slot to slot of the large and of the small area.
std::array<Bytes, 2> strides_of(const SizePlan& plan, Bytes offset) {
  const auto [small, large] = std::minmax(plan.footprint.send, plan.footprint.recv);
  return {slot_stride(large + offset), plan.out_of_place ? slot_stride(small + offset) : 0};
}

}  // namespace

Bytes RowBuffers::bytes_of(const SizePlan& plan, Bytes offset) {
  if (!plan.out_of_place && !plan.in_place) return 0;
  const auto [large, small] = strides_of(plan, offset);
  return (large + small) * plan.slots;
}

RowBuffers::RowBuffers(Communicator& communicator, const SizePlan& plan, Bytes offset)
    : communicator_(communicator),
      plan_(plan),
      offset_(offset),
      strides_(strides_of(plan, offset)) {
  for (const Bytes stride : strides_) {
    if (stride > 0) areas_.push_back(communicator.allocate(stride * plan.slots));
  }
}

void RowBuffers::register_buffers() {
  for (const Buffer& area : areas_) communicator_.register_buffer(area);
}

std::vector<double> RowBuffers::huge_page_shares() const {
  std::vector<double> shares;
  for (const Buffer& area : areas_) {
    if (const auto share = communicator_.huge_page_share(area)) shares.push_back(*share);
  }
  return shares;
}

std::byte* RowBuffers::part(std::size_t area, std::uint64_t slot) const {
  if (area >= areas_.size()) return nullptr;
  return areas_[area].data() + slot * strides_.at(area) + offset_;
}

std::vector<Call> RowBuffers::calls(Call like, bool in_place) const {
  const Bytes element = info(like.type).size;
  const bool sends_more = plan_.footprint.send >= plan_.footprint.recv;
  like.count = plan_.footprint.count;
  like.traffic = plan_.footprint.traffic.get();
  like.segment = plan_.segment;
  like.in_place = in_place;
  std::vector<Call> calls;
  for (std::uint64_t slot = 0; slot < plan_.slots; ++slot) {
    like.send = part(sends_more ? 0 : 1, slot);
    like.recv = part(sends_more ? 1 : 0, slot);
    if (in_place) {
      const InPlace offsets = communicator_.in_place(*like.collective, like.count);
      like.send = part(0, slot) + offsets.send_offset * element;
      like.recv = part(0, slot) + offsets.recv_offset * element;
    }
    calls.push_back(like);
  }
  return calls;
}

void RowBuffers::poison_results(bool in_place) {
  const Footprint& footprint = plan_.footprint;
  const bool receives_more = footprint.recv > footprint.send;
  if (in_place && !receives_more) return;  // all of it is sent
  for (std::uint64_t slot = 0; slot < plan_.slots; ++slot) {
    communicator_.poison(part(receives_more ? 0 : 1, slot), footprint.recv);
  }
}

void add_bandwidths(Record& record, double bus_factor) {
  const double median_us = record.time_median_us.value_or(0);
  if (median_us <= 0) return;
  record.algbw_GBps = gigabytes_per_second(record.size, Seconds{median_us / 1e6});
  if (bus_factor > 0) record.busbw_GBps = *record.algbw_GBps * bus_factor;
}

namespace {

/// Nothing of no samples.
std::optional<double> median_of(const std::vector<double>& samples) {
  return samples.empty() ? std::nullopt : std::optional{stats::median(samples)};
}

void add_interval(Record& record, const Samples& samples) {
  const bool visited = samples.visits.size() > 1;
  const bool of_run = visited || samples.summary;
  record.visits = std::max<std::size_t>(1, samples.visits.size());
  if (visited) {
    const auto medians = mapped(samples.visits, stats::median);
    const auto summary = stats::summarize(medians);
    const auto count = static_cast<double>(medians.size());
    record.visit_cv = summary->deviation * std::sqrt(count / (count - 1)) / summary->mean;
  }
  auto interval =
      visited ? stats::run_interval(samples.visits) : stats::median_interval(samples.times_us);
  if (interval && samples.summary) {  // of the intervals' medians
    interval->low = std::min(interval->low, samples.summary->median);
    interval->high = std::max(interval->high, samples.summary->median);
  }
  record.time_ci_low_us = interval ? std::optional{interval->low} : std::nullopt;
  record.time_ci_high_us = interval ? std::optional{interval->high} : std::nullopt;
  record.interval_scope = !interval ? "" : of_run ? "run" : "moment";
  if (!interval) add_flag(record, Flag::NoInterval);
}

}  // namespace

void add_statistics(Record& record, const Samples& samples, double bus_factor) {
  const auto summary = samples.summary ? samples.summary : stats::summarize(samples.times_us);
  record.samples = summary ? summary->count : 0;
  record.operations = samples.operations;
  record.batch = samples.batch;
  record.warmup_operations = samples.warmup_operations;
  record.stop_reason = name(samples.stop);
  record.minor_faults_per_op = samples.disturbances.minor_faults;
  record.involuntary_switches_per_op = samples.disturbances.involuntary_switches;
  if (!summary) return;
  record.time_median_us = summary->median;
  record.time_mean_us = summary->mean;
  record.time_min_us = summary->min;
  record.time_p90_us = summary->p90;
  record.time_p99_us = summary->p99;
  record.time_max_us = summary->max;
  constexpr std::size_t kFewestForTail = 1000;  // a thousandth of them is a sample
  if (!samples.summary && summary->count >= kFewestForTail) {
    record.time_p999_us = stats::percentile(samples.times_us, 99.9);
  }
  constexpr std::size_t kFewSamples = 50;  // fewer cannot show their own correlation
  if (!samples.summary) {
    record.autocorrelation_time = stats::integrated_autocorrelation_time(samples.times_us);
  }
  if (summary->count < kFewSamples) add_flag(record, Flag::FewSamples);
  add_interval(record, samples);
  record.enqueue_time_us = median_of(samples.enqueue_us);
  record.host_time_us = median_of(samples.host_times_us);
  record.start_skew_us = median_of(samples.start_skews_us);
  const auto load_us = median_of(samples.loads_us);
  if (load_us > 0) record.load_us = load_us;
  if (!samples.steady) add_flag(record, Flag::NotSteady);
  if (stats::is_drifting(samples.times_us)) add_flag(record, Flag::Drifting);
  add_bandwidths(record, bus_factor);
}

void add_efficiency(Record& record) {
  if (!record.busbw_GBps || !record.bound_GBps) return;
  record.efficiency = *record.busbw_GBps / *record.bound_GBps;
}

void add_bound(Record& record, const SetBound& bound, const BoundRow& row) {
  if (bound.bus_GBps == nullptr || record.status == RowStatus::Skipped) return;
  record.bound_GBps = bound.bus_GBps(row);
  if (!record.bound_GBps) return;
  record.bound_kind = bound.kind;
  add_efficiency(record);
}

bool is_launch_bound(const Record& record) {
  constexpr double kShare = 0.9;
  return record.enqueue_time_us && record.time_median_us &&
         *record.enqueue_time_us >= kShare * *record.time_median_us;
}

std::vector<SweepKey> sweeps_of(const Options& options, const Collective& collective, int ranks) {
  const std::vector<ReduceOp> ops =
      collective.reduces ? options.ops : std::vector<ReduceOp>{ReduceOp::None};
  std::vector<int> roots{0};
  if (collective.rooted && options.root) roots = {*options.root};
  if (collective.rooted && !options.root) roots = first_numbers(static_cast<std::size_t>(ranks));
  std::vector<SweepKey> sweeps;
  for (const DataType type : options.types) {
    for (const ReduceOp op : ops) {
      for (const int root : roots) {
        SweepKey key{.type = type, .op = op, .root = root};
        if (options.pairs == Pairs::All) {
          key.pair = Pair{.sender = 0, .receiver = 1};
          sweeps.push_back(key);
          key.pair = Pair{.sender = 1, .receiver = 0};
        }
        sweeps.push_back(key);
      }
    }
  }
  return sweeps;
}

std::vector<bool> placements_of(Placement placement) {
  if (placement == Placement::Both) return {false, true};
  return {placement == Placement::In};
}

Record blank_record(const Collective& collective, const SweepKey& key, const Footprint& footprint,
                    Bytes wanted, bool in_place) {
  Record record{.collective = std::string(collective.name),
                .type = std::string(info(key.type).name),
                .op = std::string(name(key.op)),
                .in_place = in_place,
                .size = footprint.count > 0 ? footprint.size : wanted,
                .count = footprint.count,
                .cycle = key.cycle,
                .device_set = key.bound.device_set};
  if (collective.rooted) record.root = key.root;
  if (footprint.traffic) {
    record.distribution = footprint.traffic->distribution();
    record.imbalance = footprint.traffic->imbalance();
  }
  return record;
}

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

stats::StopLimits limits_of(const Options& options) {
  return {.ci_width = options.ci_width, .time_budget_s = options.time_budget.count()};
}

namespace {

constexpr std::uint64_t kGraphOperations = 20;  // nccl-tests' iterations, all in one graph

ChunkRunner::Settings chunk_settings(const RowSetup& setup) {
  const Run& run = setup.run;
  const Options& options = setup.options();
  RankLoad& load = setup.load;
  const bool several = run.group.size() > 1;
  // Else the device would still be at the operation before while the host works.
  const bool waits = load.on_host() && run.on_devices && options.blocking == Blocking::Off;
  return {.cadence = options.cadence,
          .blocking = waits ? Blocking::Wait : options.blocking,
          .aggregation = options.aggregation,
          .group = options.aggregated,
          .graph_launches = options.graph_launches,
          .hold = run.on_devices && options.blocking == Blocking::Off && !load.any(),
          .arrivals = several && run.collective.waits_for_all() && !options.duration,
          .rank_times = options.wants_rank_times(),
          .prepare = load.any() ? [&load] { load.run(); } : std::function<void()>{}};
}

SamplingPlan sampling_plan(const RowSetup& setup) {
  const Run& run = setup.run;
  const Options& options = setup.options();
  const std::uint64_t visit = setup.key.visit;
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
  if (!isolated) plan.timer_cost_s = run.timer_cost_s;
  plan.limits = limits_of(options);
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

/// Where operations follow each other without a wait, issuing them may be what takes the time.
bool is_limited_by_issuing(const RowSetup& setup, const Record& record) {
  const Options& options = setup.options();
  const bool streaming = options.cadence == Cadence::Streaming && options.blocking == Blocking::Off;
  return setup.run.on_devices && streaming && is_launch_bound(record);
}

/// Checks these calls' results, `again` of an operation of its own.
DataCheck check_once(const RowSetup& setup, RowBuffers& buffers, std::span<const Call> used,
                     std::uint64_t check, bool again, Record& record) {
  const Run& run = setup.run;
  const Options& options = run.options;
  run.watchdog.tracker()->tick();
  const std::uint64_t seed = options.seed + check;
  if (again) {
    buffers.poison_results(record.in_place);
    setup.verifier.fill(used, setup.sent_elements(), seed);
    run.world.barrier();
    run.communicator.enqueue(used.front());
    run.communicator.wait();
  }
  const bool planted = check == 0 && options.inject_fault &&
                       !has_flag(record, Flag::FaultInjected) &&
                       setup.verifier.plant(*options.inject_fault, used.front());
  if (planted) add_flag(record, Flag::FaultInjected);
  return setup.verifier.check(used, seed);
}

void add_verdict(Record& record, const DataCheck& verdict) {
  record.wrong = verdict.wrong;
  record.status = verdict.wrong > 0 ? RowStatus::Wrong : RowStatus::Ok;
  record.reason = verdict.first_wrong;
}

/// Out of place the first check is of the very buffers that were timed. In place the timed
/// operations worked on their own results, so every check is of an operation of its own.
void check_row(const RowSetup& setup, RowBuffers& buffers, std::span<const Call> calls,
               std::uint64_t calls_used, Record& record) {
  setup.run.watchdog.tracker()->phase("checking");
  DataCheck verdict;
  for (std::uint64_t check = 0; check < setup.run.options.checks; ++check) {
    const bool again = check > 0 || record.in_place;
    verdict = check_once(setup, buffers, calls.first(again ? 1 : calls_used), check, again, record);
    const bool right_everywhere = setup.run.world.agree(verdict.wrong == 0);
    if (!right_everywhere) break;
  }
  add_verdict(record, verdict);
}

/// At the end of an interval the results of its last operation are checked; out of place they are
/// poisoned then, so that the next check is of what was received since.
Soak::Settings soak_settings(const RowSetup& setup, RowBuffers& buffers,
                             std::span<const Call> calls, const ChunkRunner& chunks,
                             Record& record) {
  const Options& options = setup.run.options;
  Soak::Settings settings{
      .duration = *options.duration, .interval = options.interval, .report = setup.report_interval};
  if (setup.checks(record)) {
    settings.checked_bytes = setup.verifier.checked_bytes(calls.front());
    settings.check = [&, calls] {
      setup.run.watchdog.tracker()->phase("checking");
      const std::size_t last = (chunks.operations() - 1) % calls.size();
      DataCheck found =
          check_once(setup, buffers, calls.subspan(last, 1), 0, record.in_place, record);
      if (!record.in_place) buffers.poison_results(false);
      return found;
    };
  }
  return settings;
}

/// Of a soak, beside its statistics. What happened is found on the rank that writes the row.
void add_soak(const RowSetup& setup, const Soak& soak, Row& row) {
  if (setup.checks(row.record)) add_verdict(row.record, soak.verdict());
  constexpr double kShare = 0.999;
  if (const auto interval = soak.times().quantile_interval(kShare)) {
    row.record.time_p999_us = soak.times().quantile(kShare);
    row.record.time_p999_low_us = interval->low;
    row.record.time_p999_high_us = interval->high;
  }
  if (setup.report_interval) row.findings = soak.findings();
}

/// nccl-tests' NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY, whose bus bandwidth is always of (n - 1)/n.
std::vector<std::string> traffic_lines(const Record& record, const Traffic& traffic,
                                       const RowSetup& setup) {
  std::vector<std::string> lines{fmt::format(
      "NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY: mode={} nranks={} total_bytes={} time_usec={:.2f}",
      traffic.distribution(), record.ranks, record.size, *record.time_median_us)};
  const Bytes element = info(setup.like.type).size;
  for (int rank = 0; rank < record.ranks; ++rank) {
    const Bytes sent = traffic.send_offset(rank, record.ranks) * element;
    const Bytes received = traffic.recv_offset(record.ranks, rank) * element;
    const double rate =
        gigabytes_per_second(std::max(sent, received), Seconds{*record.time_median_us / 1e6});
    lines.push_back(fmt::format("  rank={} send_bytes={} recv_bytes={} alg_bw={:.2f} bus_bw={:.2f}",
                                rank, sent, received, rate,
                                rate * setup.run.collective.bus_factor(record.ranks)));
  }
  return lines;
}

void add_effect(Record& record, const BesideEffect& effect, double bus_factor) {
  record.loaded_time_us = effect.loaded_us;
  record.operation_slowdown = effect.operation_slowdown;
  record.load_slowdown = effect.load_slowdown;
  Record loaded{.size = record.size, .time_median_us = effect.loaded_us};
  add_bandwidths(loaded, bus_factor);
  record.loaded_busbw_GBps = loaded.busbw_GBps;
}

void add_choice(ChunkRunner& chunks, Record& record) {
  const auto choice = chunks.observe();
  if (!choice) return;
  record.algorithm = choice->algorithm;
  record.protocol = choice->protocol;
  record.channels = choice->channels;
}

}  // namespace

void measure_row(const RowSetup& setup, RowBuffers& buffers, Row& row,
                 const ProgressReport& report) {
  const Run& run = setup.run;
  const RoundGroup round_group = run.round_group();
  Record& record = row.record;
  StepTracker& tracker = *run.watchdog.tracker();
  tracker.tick();
  const std::vector<Call> calls = buffers.calls(setup.like, record.in_place);
  if (run.on_devices) {
    record.reason = prime(round_group, run.communicator, calls.front());
    tracker.tick();
    if (!record.reason.empty()) {
      record.status = RowStatus::Skipped;
      return;
    }
  }
  const bool kept = !run.communicator.overwrites(calls.front());
  if (!run.world.agree(kept)) add_flag(record, Flag::NotChecked);
  ChunkRunner chunks(round_group, run.communicator, calls, chunk_settings(setup), tracker);
  buffers.poison_results(record.in_place);
  setup.verifier.fill(calls, setup.sent_elements(), run.options.seed);
  tracker.tick();
  if (run.options.nccl_choice) add_choice(chunks, record);
  SamplingPlan plan = sampling_plan(setup);
  std::optional<Soak> soak;
  if (run.options.duration) {
    plan.soak = &soak.emplace(soak_settings(setup, buffers, calls, chunks, record));
  }
  Samples samples = take_samples(round_group, chunks, plan, report);
  if (run.rank_map.hosts > 1) samples.start_skews_us.clear();  // of clocks that differ
  const Traffic* traffic = setup.plan.footprint.traffic.get();
  const double factor = bus_factor_of(run.collective, record.ranks, traffic);
  add_statistics(record, samples, factor);
  if (run.options.loads_beside()) {
    add_effect(record,
               measure_beside(round_group, chunks, setup.load.beside(), samples.batch,
                              plan.limits.time_budget_s),
               factor);
  }
  if (is_limited_by_issuing(setup, record)) add_flag(record, Flag::LaunchBound);
  // Visits are of the same operation: the first is checked.
  if (soak) {
    add_soak(setup, *soak, row);
  } else if (setup.checks(record) && setup.key.visit == 0) {
    check_row(setup, buffers, calls, chunks.calls_used(), record);
  }
  add_bound(record, setup.key.bound,
            {.collective = &run.collective,
             .ranks = record.ranks,
             .size = record.size,
             .in_place = record.in_place,
             .slots = setup.plan.slots,
             .traffic = traffic});
  if (!soak) row.samples_us = std::move(samples.times_us);
  row.arrivals = std::move(samples.arrivals);
  row.rank_times_us = std::move(samples.rank_times_us);
  if (run.options.traffic_summary && record.time_median_us && traffic != nullptr) {
    row.findings = traffic_lines(record, *traffic, setup);
  }
}

}  // namespace busbar

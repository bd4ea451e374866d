// SPDX-License-Identifier: BSD-3-Clause
#include "harness/row.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/fixed_text.hpp"
#include "base/text.hpp"
#include "model/record.hpp"
#include "stats/autocorrelation.hpp"
#include "stats/median_interval.hpp"
#include "stats/steady_state.hpp"
#include "stats/summary.hpp"

namespace busbar {
namespace {

Bytes larger(const Footprint& footprint) { return std::max(footprint.send, footprint.recv); }
Bytes smaller(const Footprint& footprint) { return std::min(footprint.send, footprint.recv); }

Bytes large_area(const SizePlan& plan, Bytes offset) {
  return slot_stride(larger(plan.footprint) + offset) * plan.slots;
}

Bytes small_area(const SizePlan& plan, Bytes offset) {
  return plan.out_of_place ? slot_stride(smaller(plan.footprint) + offset) * plan.slots : 0;
}

}  // namespace

Bytes RowBuffers::bytes_of(const SizePlan& plan, Bytes offset) {
  if (!plan.out_of_place && !plan.in_place) return 0;
  return large_area(plan, offset) + small_area(plan, offset);
}

RowBuffers::RowBuffers(Communicator& communicator, const SizePlan& plan, Bytes offset)
    : communicator_(communicator),
      footprint_(plan.footprint),
      segment_(plan.segment),
      slots_(plan.slots),
      offset_(offset),
      large_(communicator.allocate(large_area(plan, offset))) {
  if (plan.out_of_place) small_ = communicator.allocate(small_area(plan, offset));
}

void RowBuffers::register_buffers() {
  communicator_.register_buffer(large_);
  if (small_.data() != nullptr) communicator_.register_buffer(small_);
}

std::vector<double> RowBuffers::huge_page_shares() const {
  std::vector<double> shares;
  for (const Buffer* area : {&large_, &small_}) {
    if (area->data() == nullptr) continue;
    if (const auto share = communicator_.huge_page_share(*area)) shares.push_back(*share);
  }
  return shares;
}

std::byte* RowBuffers::part(const Buffer& area, Bytes bytes, std::uint64_t slot) const {
  if (area.data() == nullptr) return nullptr;
  return area.data() + slot * slot_stride(bytes + offset_) + offset_;
}

std::vector<Call> RowBuffers::calls(Call like, bool in_place) const {
  const Bytes element = info(like.type).size;
  const bool sends_more = footprint_.send >= footprint_.recv;
  like.count = footprint_.count;
  like.segment = segment_;
  like.in_place = in_place;
  std::vector<Call> calls;
  for (std::uint64_t slot = 0; slot < slots_; ++slot) {
    std::byte* large = part(large_, larger(footprint_), slot);
    std::byte* small = part(small_, smaller(footprint_), slot);
    like.send = sends_more ? large : small;
    like.recv = sends_more ? small : large;
    if (in_place) {
      const InPlace offsets = communicator_.in_place(*like.collective, like.count);
      like.send = large + offsets.send_offset * element;
      like.recv = large + offsets.recv_offset * element;
    }
    calls.push_back(like);
  }
  return calls;
}

void RowBuffers::poison_results(bool in_place) {
  if (in_place && footprint_.recv <= footprint_.send) return;  // all of it is sent
  const bool is_large = in_place || footprint_.recv > footprint_.send;
  for (std::uint64_t slot = 0; slot < slots_; ++slot) {
    std::byte* result =
        is_large ? part(large_, larger(footprint_), slot) : part(small_, smaller(footprint_), slot);
    communicator_.poison(result, footprint_.recv);
  }
}

namespace {

constexpr char kSeparator = '\x1f';  // ASCII's unit separator is in no cell

std::string to_text(const Record& record) {
  std::string text;
  for (const RecordField& field : record_fields()) text += field.get(record) + kSeparator;
  return text;
}

Record from_text(const std::string& text) {
  Record record;
  const std::vector<std::string> cells = split(text, kSeparator);
  const auto fields = record_fields();
  for (std::size_t i = 0; i < fields.size(); ++i) fields[i].set(record, cells.at(i));
  return record;
}

/// Blocks of different lengths from all ranks, in rank order.
std::vector<std::vector<std::byte>> gather_blocks(Bootstrap& world,
                                                  std::span<const std::byte> mine) {
  const std::vector<std::size_t> lengths = world.gather(mine.size());
  const std::size_t longest = *std::max_element(lengths.begin(), lengths.end());
  std::vector<std::byte> padded(std::max<std::size_t>(longest, 1));
  std::copy(mine.begin(), mine.end(), padded.begin());
  std::vector<std::byte> all(padded.size() * lengths.size());
  world.gather_bytes(padded, all);
  std::vector<std::vector<std::byte>> blocks;
  for (std::size_t rank = 0; rank < lengths.size(); ++rank) {
    const std::byte* begin = all.data() + rank * padded.size();
    blocks.emplace_back(begin, begin + lengths[rank]);
  }
  return blocks;
}

}  // namespace

std::vector<Row> gather_rows(const PairGroup& pair_group, const Row& mine) {
  const std::string text = pair_group.leads() ? to_text(mine.record) : std::string();
  const std::span<const double> samples =
      pair_group.leads() ? std::span<const double>(mine.samples_us) : std::span<const double>();
  const auto texts = gather_blocks(pair_group.world, std::as_bytes(std::span(text)));
  const auto numbers = gather_blocks(pair_group.world, std::as_bytes(samples));
  std::vector<Row> rows;
  for (std::size_t rank = 0; pair_group.world.rank() == 0 && rank < texts.size(); ++rank) {
    if (texts[rank].empty()) continue;
    std::string received(texts[rank].size(), '\0');
    std::memcpy(received.data(), texts[rank].data(), received.size());
    Row row{.record = from_text(received), .samples_us = {}};
    row.samples_us.resize(numbers[rank].size() / sizeof(double));
    std::memcpy(row.samples_us.data(), numbers[rank].data(), numbers[rank].size());
    rows.push_back(std::move(row));
  }
  return rows;
}

namespace {

/// Fewer samples cannot show their own correlation: an interval from them is flagged.
constexpr std::size_t kFewSamples = 50;

void add_interval(Record& record, const std::vector<double>& times_us) {
  record.autocorrelation_time = stats::integrated_autocorrelation_time(times_us);
  if (times_us.size() < kFewSamples) add_flag(record, "few-samples");
  const auto interval = stats::median_interval(times_us);
  if (!interval) return add_flag(record, "no-interval");
  record.time_ci_low_us = interval->low;
  record.time_ci_high_us = interval->high;
}

}  // namespace

void add_bandwidths(Record& record, const Collective& collective) {
  const double median_us = record.time_median_us.value_or(0);
  if (median_us <= 0) return;
  record.algbw_GBps = gigabytes_per_second(record.size, Seconds{median_us / 1e6});
  const double factor = collective.bus_factor(record.ranks);
  if (factor > 0) record.busbw_GBps = *record.algbw_GBps * factor;
}

void add_statistics(Record& record, const Samples& samples, const Collective& collective) {
  record.samples = samples.times_us.size();
  record.operations = samples.operations;
  record.batch = samples.batch;
  record.warmup_operations = samples.warmup_operations;
  record.stop_reason = name(samples.stop);
  record.minor_faults_per_op = samples.disturbances.minor_faults;
  record.involuntary_switches_per_op = samples.disturbances.involuntary_switches;
  const auto summary = stats::summarize(samples.times_us);
  if (!summary) return;
  record.time_median_us = summary->median;
  record.time_mean_us = summary->mean;
  record.time_min_us = summary->min;
  record.time_p90_us = summary->p90;
  record.time_p99_us = summary->p99;
  record.time_max_us = summary->max;
  add_interval(record, samples.times_us);
  if (!samples.enqueue_us.empty()) record.enqueue_time_us = stats::median(samples.enqueue_us);
  if (!samples.host_times_us.empty()) record.host_time_us = stats::median(samples.host_times_us);
  if (!samples.steady) add_flag(record, "not-steady");
  if (stats::is_drifting(samples.times_us)) add_flag(record, "drifting");
  add_bandwidths(record, collective);
}

void add_bound(Record& record, const SetBound& bound, const BoundRow& row) {
  if (bound.bus_GBps == nullptr || record.status == RowStatus::Skipped) return;
  record.bound_GBps = bound.bus_GBps(row);
  if (!record.bound_GBps) return;
  record.bound_kind = bound.kind;
  if (record.busbw_GBps) record.efficiency = *record.busbw_GBps / *record.bound_GBps;
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
  if (collective.rooted && !options.root) {
    roots.resize(static_cast<std::size_t>(ranks));
    std::iota(roots.begin(), roots.end(), 0);
  }
  std::vector<SweepKey> sweeps;
  for (const DataType type : options.types) {
    for (const ReduceOp op : ops) {
      for (const int root : roots) sweeps.push_back({.type = type, .op = op, .root = root});
    }
  }
  return sweeps;
}

bool is_wanted(Placement placement, bool in_place) {
  return placement != (in_place ? Placement::Out : Placement::In);
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
  if (key.pair) {
    record.sender = key.pair->sender;
    record.receiver = key.pair->receiver;
  }
  return record;
}

void add_flag(Record& record, std::string_view flag) {
  if (!record.flags.empty()) record.flags += ' ';
  record.flags += flag;
}

bool has_flag(const Record& record, std::string_view flag) {
  const std::vector<std::string> flags = split(record.flags, ' ');
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

namespace {

/// Issues the operation; why the library refuses it, or empty.
std::string try_to_issue(Communicator& communicator, const Call& call) {
  try {
    communicator.enqueue(call);
    return {};
  } catch (const Error& error) {
    if (error.status() != Status::Unavailable) throw;
    return error.what();
  }
}

}  // namespace

std::string first_text(Bootstrap& world, const std::string& mine) {
  std::array<char, 400> text{};
  copy_text(mine, text);
  for (const auto& other : world.gather(text)) {
    if (other.front() != '\0') return other.data();
  }
  return {};
}

std::string prime(const PairGroup& pair_group, Communicator& communicator, const Call& call) {
  pair_group.world.barrier();
  const std::string mine = try_to_issue(communicator, call);
  const bool issued = mine.empty();
  const bool all_issued = pair_group.members.agree(issued);
  const bool none_issued = pair_group.members.agree(!issued);
  std::string refusal = first_text(pair_group.world, mine);
  if (!pair_group.world.agree(all_issued || none_issued)) {
    throw runtime_failure(
        fmt::format("the library refuses on some ranks what it began on others: {}", refusal));
  }
  if (issued) communicator.wait();
  return refusal;
}

namespace {

constexpr std::uint64_t kGraphOperations = 20;  // nccl-tests' iterations, all in one graph

ChunkRunner::Settings chunk_settings(const Run& run) {
  const Options& options = run.options;
  return {.cadence = options.cadence,
          .blocking = options.blocking,
          .aggregation = options.aggregation,
          .group = options.aggregated,
          .graph_launches = options.graph_launches,
          .hold = run.on_devices && options.blocking == Blocking::Off};
}

SamplingPlan sampling_plan(const Run& run) {
  const Options& options = run.options;
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
  if (!isolated) plan.timer_cost_s = run.timer_cost_s;
  plan.limits.ci_width = options.ci_width;
  plan.limits.time_budget_s = options.time_budget.count();
  return plan;
}

/// Where operations follow each other without a wait, issuing them may be what takes the time.
bool is_limited_by_issuing(const Run& run, const Record& record) {
  const Options& options = run.options;
  const bool streaming = options.cadence == Cadence::Streaming && options.blocking == Blocking::Off;
  return run.on_devices && streaming && is_launch_bound(record);
}

/// Out of place the first check is of the very buffers that were timed. In place the timed
/// operations worked on their own results, so every check is of an operation of its own.
class RowCheck {
 public:
  RowCheck(const RowSetup& setup, std::span<const Call> calls, std::uint64_t sent,
           std::uint64_t calls_used)
      : setup_(setup), calls_(calls), sent_(sent), calls_used_(calls_used) {}

  void run(Record& record) {
    const Options& options = setup_.run.options;
    Verdict verdict;
    for (std::uint64_t check = 0; check < options.checks; ++check) {
      setup_.run.watchdog.tick();
      const bool again = check > 0 || calls_.front().in_place;
      const std::span<const Call> used = calls_.first(again ? 1 : calls_used_);
      if (again) rerun(used, options.seed + check);
      const bool planted = check == 0 && options.inject_fault &&
                           setup_.verifier.plant(*options.inject_fault, used.front());
      if (planted) add_flag(record, kFaultInjected);
      verdict = setup_.verifier.check(used, options.seed + check);
      const bool wrong_somewhere = !setup_.pair_group.world.agree(verdict.wrong == 0);
      if (wrong_somewhere) break;
    }
    record.wrong = verdict.wrong;
    record.status = verdict.wrong > 0 ? RowStatus::Wrong : RowStatus::Ok;
    record.reason = verdict.first_wrong;
  }

 private:
  void rerun(std::span<const Call> used, std::uint64_t seed) {
    setup_.buffers.poison_results(calls_.front().in_place);
    setup_.verifier.fill(used, sent_, seed);
    setup_.pair_group.world.barrier();
    setup_.run.communicator.enqueue(used.front());
    setup_.run.communicator.wait();
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
  const Run& run = setup.run;
  run.watchdog.tick();
  const std::vector<Call> calls = setup.buffers.calls(setup.like, record.in_place);
  const std::uint64_t sent = setup.plan.footprint.send / info(setup.like.type).size;
  if (run.on_devices) {
    record.reason = prime(setup.pair_group, run.communicator, calls.front());
    run.watchdog.tick();
    if (!record.reason.empty()) {
      record.status = RowStatus::Skipped;
      return {};
    }
  }
  ChunkRunner chunks(setup.pair_group, run.communicator, calls, chunk_settings(run),
                     [&run] { run.watchdog.tick(); });
  setup.buffers.poison_results(record.in_place);
  setup.verifier.fill(calls, sent, run.options.seed);
  run.watchdog.tick();
  if (run.options.nccl_choice) add_choice(record, chunks.observe());
  Samples samples = take_samples(setup.pair_group, chunks, sampling_plan(run), report);
  add_statistics(record, samples, run.collective);
  if (is_limited_by_issuing(run, record)) add_flag(record, kLaunchBound);
  if (run.rank_map.hosts == 1 && !samples.start_skews_us.empty()) {
    record.start_skew_us = stats::median(samples.start_skews_us);
  }
  if (run.options.checks > 0) RowCheck(setup, calls, sent, chunks.calls_used()).run(record);
  return std::move(samples.times_us);
}

}  // namespace busbar

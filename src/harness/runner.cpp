// SPDX-License-Identifier: BSD-3-Clause
#include "harness/runner.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "harness/host.hpp"
#include "harness/row.hpp"
#include "harness/split.hpp"

namespace busbar {
namespace {

constexpr Pair kNoPair{.sender = -1, .receiver = -1};

/// The pair of a round that this rank is in, or kNoPair.
Pair pair_of(const std::vector<Pair>& round, int rank) {
  for (const Pair& pair : round) {
    if (pair.sender == rank || pair.receiver == rank) return pair;
  }
  return kNoPair;
}

/// Bytes that --cache rotate goes through: twice the cache, or a least amount where the cache is
/// unknown or small.
Bytes rotation(const Run& run) {
  if (run.options.cache != Cache::Rotate) return 0;
  if (run.on_devices) return std::max(2 * run.device_cache, 256 * kMiB);
  return std::max(2 * run.rank_map.largest_cache, 128 * kMiB);
}

std::string own_obstacle(const SizePlan& plan, bool in_place) {
  const bool planned = in_place ? plan.in_place : plan.out_of_place;
  if (planned) return {};
  return in_place && !plan.in_place_reason.empty() ? plan.in_place_reason : plan.reason;
}

/// What the kernel gave the buffers of all ranks; empty where one does not know. Collective.
std::string kind_of_pages(Bootstrap& world, const std::vector<double>& huge_shares) {
  // Known, the least share and the most: the last as a negative of a maximum.
  std::array<double, 3> least{0, 0, 0};
  if (!huge_shares.empty()) {
    const auto [low, high] = std::minmax_element(huge_shares.begin(), huge_shares.end());
    least = {1, *low, -*high};
  }
  world.combine(least, Combine::Min);
  if (least[0] < 1) return {};
  if (least[2] == 0) return "small";
  return least[1] < 1 ? "mixed" : "huge";
}

/// Without rotating buffers, and where the library has taken nothing yet.
MemoryRequest memory_request(const Run& run, DataType type, ReduceOp op) {
  return {.collective = &run.collective,
          .type = type,
          .op = run.collective.reduces ? op : ReduceOp::None,
          .ranks = run.group.size(),
          .place = run.memory.place,
          .ranks_per_place = run.memory.ranks,
          .available_per_rank = run.memory.per_rank(),
          .out_of_place = run.options.placement != Placement::In,
          .in_place = run.options.placement != Placement::Out};
}

}  // namespace

std::string row_name(const Run& run, const Record& record) {
  const std::string pair =
      record.sender ? fmt::format(" from rank {} to {}", *record.sender, *record.receiver) : "";
  return fmt::format("{} {} {}{}", run.collective.title, format_bytes(record.size),
                     record.in_place ? "in place" : "out of place", pair);
}

std::vector<SizePlan> plan_sweep(const Run& run, DataType type, ReduceOp op, Bytes library_growth) {
  MemoryRequest request = memory_request(run, type, op);
  request.library_growth = library_growth;
  request.rotate_through = rotation(run);
  std::vector<SizePlan> plans;
  for (const Bytes size : run.options.sweep.sizes()) {
    plans.push_back(plan_size(request, run.communicator, size));
  }
  return plans;
}

Runner::Runner(const Run& run, Outputs& outputs)
    : run_(run), options_(run.options), outputs_(outputs) {}

Bytes Runner::prepare() {
  if (run_.on_devices) run_first_operation();
  const Bytes growth = library_growth();
  Bytes most = 0;
  for (const SweepKey& key : sweeps_of(options_, run_.collective, 1)) {
    for (const SizePlan& plan : plan_sweep(run_, key.type, key.op, growth)) {
      most = std::max(most, RowBuffers::bytes_of(plan, options_.unalign * info(key.type).size));
    }
  }
  run_.communicator.reserve(most);
  return growth;
}

/// Of 1 MiB, if that is possible at all. If the library refuses it, so does the first row.
void Runner::run_first_operation() {
  const SweepKey key = sweeps_of(options_, run_.collective, run_.smallest_group).front();
  const SizePlan plan = plan_size(memory_request(run_, key.type, key.op), run_.communicator, kMiB);
  if (!run_.world.agree(plan.out_of_place || plan.in_place)) return;
  run_.watchdog.step("running a first operation");
  const Bytes offset = options_.unalign * info(key.type).size;
  run_.communicator.reserve(RowBuffers::bytes_of(plan, offset));
  if (try_allocate(plan, offset)) {
    const std::vector<Call> calls = buffers_->calls(call_like(key), !plan.out_of_place);
    (void)prime({.world = run_.world, .members = run_.group}, run_.communicator, calls.front());
  }
  buffers_.reset();
}

void Runner::run() {
  for (std::uint64_t cycle = 0; options_.cycles == 0 || cycle < options_.cycles; ++cycle) {
    run_cycle(cycle);
  }
}

/// On the rank where the library has taken most, so that all ranks make the same plan.
Bytes Runner::library_growth() {
  auto growth = static_cast<double>(run_.communicator.library_growth());
  run_.world.combine({&growth, 1}, Combine::Max);
  return static_cast<Bytes>(growth);
}

void Runner::run_cycle(std::uint64_t cycle) {
  for (SweepKey& key : sweeps_of(options_, run_.collective, run_.smallest_group)) {
    key.cycle = cycle;
    if (options_.pairs == Pairs::All) {
      run_pairs(key);
    } else {
      run_sweep(key, {.world = run_.world, .members = run_.group});
    }
  }
}

void Runner::run_pairs(SweepKey key) {
  const int rank = run_.world.rank();
  for (const std::vector<Pair>& round : pair_rounds(run_.world.size())) {
    const Pair pair = pair_of(round, rank);
    const bool idle = pair.sender < 0;
    const auto part = run_.world.split(idle ? rank : std::min(pair.sender, pair.receiver));
    key.pair = pair;
    run_sweep(key, {.world = run_.world, .members = *part, .idle = idle});
  }
}

void Runner::run_sweep(SweepKey key, const PairGroup& pair_group) {
  if (run_.bound_of && !pair_group.idle) key.bound = run_.bound_of(key.pair);
  Verifier verifier(pair_group, run_.group, run_.communicator, key.type, key.op, key.pair);
  for (const SizePlan& plan : plan_sweep(run_, key.type, key.op, library_growth())) {
    run_size(key, pair_group, plan, verifier);
  }
}

Call Runner::call_like(const SweepKey& key) const {
  Call like{.collective = &run_.collective, .type = key.type, .op = key.op, .root = key.root};
  if (run_.collective.peers != nullptr) {
    like.peers = run_.collective.peers({.rank = run_.group.rank(),
                                        .ranks = run_.group.size(),
                                        .root = key.root,
                                        .pair = key.pair});
  }
  return like;
}

Record Runner::blank(const SweepKey& key, const PairGroup& pair_group, const SizePlan& plan,
                     bool in_place) const {
  Record record = blank_record(run_.collective, key, plan.footprint, plan.wanted, in_place);
  record.backend = run_.backend;
  record.ranks = pair_group.members.size();
  record.nodes = pair_group.members.nodes();
  record.cadence = name(options_.cadence);
  record.aggregation = name(options_.aggregation);
  record.progress = run_.progress == Progress::Yield ? "yield" : "block";
  record.cache = name(options_.cache);
  record.group = run_.group_number();
  if (plan.segment > 0) record.segment_bytes = plan.segment * info(key.type).size;
  add_flags(record, plan);
  return record;
}

void Runner::add_flags(Record& record, const SizePlan& plan) const {
  if (plan.segment > 0) add_flag(record, "segmented");
  if (run_.rank_map.oversubscribed) add_flag(record, "oversubscribed");
  const bool in_cache = options_.cache == Cache::Rotate && !plan.leaves_cache;
  if (in_cache && plan.footprint.count > 0) add_flag(record, "rotates-in-cache");
  for (const std::string_view flag : run_.flags) add_flag(record, flag);
}

/// What was asked for with -R, and whether the library did it.
void Runner::add_registration(Record& record) const {
  if (options_.registration == Registration::None) return;
  const bool local = options_.registration == Registration::Local;
  add_flag(record, !registered_ ? "not-registered" : local ? "registered" : "symmetric");
}

void Runner::run_size(const SweepKey& key, const PairGroup& pair_group, const SizePlan& plan,
                      Verifier& verifier) {
  const Call like = call_like(key);
  const Bytes offset = options_.unalign * info(key.type).size;
  for (const bool in_place : {false, true}) {
    if (!is_wanted(options_.placement, in_place)) continue;
    Record record = blank(key, pair_group, plan, in_place);
    run_.watchdog.step(row_name(run_, record));
    if (outputs_.resume_rows(all_rows(pair_group, {.record = record}))) continue;
    const std::string obstacle = find_obstacle(plan, offset, in_place);
    if (obstacle.empty()) {
      measure_or_fail(std::move(record), pair_group, key, like, plan, verifier);
    } else {
      skip(std::move(record), pair_group, obstacle);
    }
  }
  buffers_.reset();
}

/// Plans of ranks differ where their devices or their groups do; what one cannot run, none does.
std::string Runner::find_obstacle(const SizePlan& plan, Bytes offset, bool in_place) {
  std::string obstacle = first_text(run_.world, own_obstacle(plan, in_place));
  if (!obstacle.empty()) return obstacle;
  if (buffers_ || try_allocate(plan, offset)) return {};
  return "a rank could not allocate its buffers; --memory-limit makes the plan smaller";
}

bool Runner::try_allocate(const SizePlan& plan, Bytes offset) {
  try {
    buffers_.emplace(run_.communicator, plan, offset);
  } catch (const Error& error) {
    if (error.status() != Status::Unavailable) throw;
    buffers_.reset();
  }
  const bool everywhere = run_.world.agree(buffers_.has_value());
  if (!everywhere) {
    buffers_.reset();
    return false;
  }
  buffers_->register_buffers();
  registered_ = run_.world.agree(run_.communicator.is_registered());
  pages_ = kind_of_pages(run_.world, buffers_->huge_page_shares());
  return true;
}

std::vector<Row> Runner::all_rows(const PairGroup& pair_group, Row mine) const {
  const bool several = options_.pairs == Pairs::All || options_.split;
  if (several) return gather_rows(pair_group, mine);
  return {std::move(mine)};
}

void Runner::write(const PairGroup& pair_group, Row mine) {
  mine.record.finished_at = local_time();
  for (const Row& row : all_rows(pair_group, std::move(mine))) {
    outputs_.write(row.record, row.samples_us);
  }
}

void Runner::skip(Record record, const PairGroup& pair_group, const std::string& reason) {
  record.status = RowStatus::Skipped;
  record.reason = reason;
  write(pair_group, {.record = std::move(record)});
}

void Runner::measure_or_fail(Record record, const PairGroup& pair_group, const SweepKey& key,
                             const Call& like, const SizePlan& plan, Verifier& verifier) {
  add_registration(record);
  record.pages = pages_;
  Row row;
  try {
    row.samples_us = measure_row({.run = run_,
                                  .pair_group = pair_group,
                                  .like = like,
                                  .plan = plan,
                                  .buffers = *buffers_,
                                  .verifier = verifier},
                                 record, progress_report(record));
    add_bound(record, key.bound,
              {.collective = &run_.collective,
               .ranks = record.ranks,
               .size = record.size,
               .in_place = record.in_place,
               .slots = plan.slots});
  } catch (const Error& error) {  // the row in flight is on record too, for those who ask why
    record.status = RowStatus::Failed;
    record.reason = error.what();
    record.finished_at = local_time();
    outputs_.write(record, {});
    throw Error{Status::Runtime, error.what()};  // other ranks may not know of it
  }
  row.record = std::move(record);
  write(pair_group, std::move(row));
}

ProgressReport Runner::progress_report(const Record& record) {
  ProgressLine* line = outputs_.progress_line();
  if (line == nullptr) return {};
  const std::string head = row_name(run_, record);
  line->show(head + ": warming up");
  return [line, head](std::size_t samples, std::optional<double> half_width) {
    const std::string width =
        half_width ? fmt::format("±{:.1f} %", *half_width * 100) : "no interval yet";
    line->show(fmt::format("{}: {} samples, {}", head, samples, width));
  };
}

}  // namespace busbar

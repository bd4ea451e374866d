// SPDX-License-Identifier: BSD-3-Clause
#include "harness/runner.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/error.hpp"
#include "harness/host.hpp"
#include "harness/prime.hpp"
#include "harness/row_measurement.hpp"
#include "harness/row_result.hpp"
#include "harness/split.hpp"

namespace busbar {
namespace {

constexpr Pair kNobody{.sender = -1, .receiver = -1};

/// Ops that a collective is run with: one nameless one where it reduces nothing.
std::vector<ReduceOp> ops_of(const Options& options, const Collective& collective) {
  return collective.reduces ? options.ops : std::vector<ReduceOp>{ReduceOp::None};
}

/// The pair of a round that this rank is in, or nobody.
Pair pair_of(const std::vector<Pair>& round, int rank) {
  for (const Pair& pair : round) {
    if (pair.sender == rank || pair.receiver == rank) return pair;
  }
  return kNobody;
}

/// Bytes that --cache rotate goes through: twice the cache, or a least amount where the cache is
/// unknown or small.
Bytes rotation(const RunParts& parts) {
  if (parts.options.cache != Cache::Rotate) return 0;
  if (parts.on_devices) return std::max(2 * parts.device_cache, 256 * kMiB);
  return std::max(2 * parts.placements.largest_cache, 128 * kMiB);
}

std::string own_obstacle(const SizePlan& plan, bool in_place) {
  const bool planned = in_place ? plan.in_place : plan.out_of_place;
  if (planned) return {};
  return in_place && !plan.in_place_reason.empty() ? plan.in_place_reason : plan.reason;
}

/// What the kernel gave the buffers of all ranks; empty where one does not know. Collective.
std::string kind_of_pages(Bootstrap& everyone, const std::vector<double>& huge_shares) {
  // Known, the least share and the most: the last as a negative of a maximum.
  std::array<double, 3> least{0, 0, 0};
  if (!huge_shares.empty()) {
    const auto [low, high] = std::minmax_element(huge_shares.begin(), huge_shares.end());
    least = {1, *low, -*high};
  }
  everyone.combine(least, Combine::Min);
  if (least[0] < 1) return {};
  if (least[2] == 0) return "small";
  return least[1] < 1 ? "mixed" : "huge";
}

/// Without rotating buffers, and where the library has taken nothing yet.
MemoryRequest memory_request(const RunParts& parts, DataType type, ReduceOp op) {
  return {.collective = &parts.collective,
          .type = type,
          .op = parts.collective.reduces ? op : ReduceOp::None,
          .ranks = parts.team.size(),
          .place = parts.memory.place,
          .ranks_per_place = parts.memory.ranks,
          .available_per_rank = parts.memory.per_rank(),
          .out_of_place = parts.options.placement != Placement::In,
          .in_place = parts.options.placement != Placement::Out};
}

}  // namespace

std::string row_name(const RunParts& parts, const Record& record) {
  const std::string pair =
      record.sender ? fmt::format(" from rank {} to {}", *record.sender, *record.receiver) : "";
  return fmt::format("{} {} {}{}", parts.collective.title, format_bytes(record.size),
                     record.in_place ? "in place" : "out of place", pair);
}

std::vector<SizePlan> plan_sweep(const RunParts& parts, DataType type, ReduceOp op,
                                 Bytes library_growth) {
  MemoryRequest request = memory_request(parts, type, op);
  request.library_growth = library_growth;
  request.rotate_through = rotation(parts);
  std::vector<SizePlan> plans;
  for (const Bytes size : parts.options.sweep.sizes()) {
    plans.push_back(plan_size(request, parts.communicator, size));
  }
  return plans;
}

Runner::Runner(const RunParts& parts, Outputs& outputs)
    : parts_(parts), options_(parts.options), outputs_(outputs) {}

Bytes Runner::prepare() {
  if (parts_.on_devices) run_first_operation();
  const Bytes growth = library_growth();
  Bytes most = 0;
  for (const DataType type : options_.types) {
    for (const ReduceOp op : ops_of(options_, parts_.collective)) {
      for (const SizePlan& plan : plan_sweep(parts_, type, op, growth)) {
        most = std::max(most, RowBuffers::bytes_of(plan, options_.unalign * info(type).size));
      }
    }
  }
  parts_.communicator.reserve(most);
  return growth;
}

/// Of 1 MiB, if that is possible at all. If the library refuses it, so does the first row.
void Runner::run_first_operation() {
  const SweepKey key{.type = options_.types.front(),
                     .op = ops_of(options_, parts_.collective).front(),
                     .root = roots().front()};
  const SizePlan plan =
      plan_size(memory_request(parts_, key.type, key.op), parts_.communicator, kMiB);
  if (!parts_.everyone.agree(plan.out_of_place || plan.in_place)) return;
  parts_.watchdog.step("running a first operation");
  const Bytes offset = options_.unalign * info(key.type).size;
  parts_.communicator.reserve(RowBuffers::bytes_of(plan, offset));
  if (try_allocate(plan, offset)) {
    const std::vector<Call> calls = buffers_->calls(call_like(key), !plan.out_of_place);
    (void)prime({.everyone = parts_.everyone, .sharers = parts_.team}, parts_.communicator,
                calls.front());
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
  auto growth = static_cast<double>(parts_.communicator.library_growth());
  parts_.everyone.combine({&growth, 1}, Combine::Max);
  return static_cast<Bytes>(growth);
}

std::vector<int> Runner::roots() const {
  if (!parts_.collective.rooted) return {0};
  if (options_.root) return {*options_.root};
  std::vector<int> all(static_cast<std::size_t>(parts_.smallest_team));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

void Runner::run_cycle(std::uint64_t cycle) {
  for (const DataType type : options_.types) {
    for (const ReduceOp op : ops_of(options_, parts_.collective)) {
      for (const int root : roots()) {
        const SweepKey key{.cycle = cycle, .type = type, .op = op, .root = root};
        if (options_.pairs == Pairs::All) {
          run_pairs(key);
        } else {
          run_sweep(key, {.everyone = parts_.everyone, .sharers = parts_.team});
        }
      }
    }
  }
}

void Runner::run_pairs(SweepKey key) {
  const int rank = parts_.everyone.rank();
  for (const std::vector<Pair>& round : pair_rounds(parts_.everyone.size())) {
    const Pair pair = pair_of(round, rank);
    const bool idle = pair.sender < 0;
    const auto part = parts_.everyone.split(idle ? rank : std::min(pair.sender, pair.receiver));
    key.pair = pair;
    run_sweep(key, {.everyone = parts_.everyone, .sharers = *part, .idle = idle});
  }
}

void Runner::run_sweep(SweepKey key, const Crew& crew) {
  if (parts_.bound_of && !crew.idle) key.bound = parts_.bound_of(key.pair);
  Verifier verifier(crew, parts_.team, parts_.communicator, key.type, key.op, key.pair);
  for (const SizePlan& plan : plan_sweep(parts_, key.type, key.op, library_growth())) {
    run_size(key, crew, plan, verifier);
  }
}

Call Runner::call_like(const SweepKey& key) const {
  Call like{.collective = &parts_.collective, .type = key.type, .op = key.op, .root = key.root};
  if (parts_.collective.peers != nullptr) {
    like.peers = parts_.collective.peers({.rank = parts_.team.rank(),
                                          .ranks = parts_.team.size(),
                                          .root = key.root,
                                          .pair = key.pair});
  }
  return like;
}

Record Runner::blank(const SweepKey& key, const Crew& crew, const SizePlan& plan,
                     bool in_place) const {
  Record record{.collective = std::string(parts_.collective.name),
                .backend = std::string(parts_.backend),
                .ranks = crew.sharers.size(),
                .nodes = crew.sharers.nodes(),
                .type = std::string(info(key.type).name),
                .op = std::string(name(key.op)),
                .in_place = in_place,
                .size = plan.footprint.count > 0 ? plan.footprint.size : plan.wanted,
                .count = plan.footprint.count,
                .cadence = std::string(name(options_.cadence)),
                .aggregation = std::string(name(options_.aggregation)),
                .progress = parts_.progress == Progress::Yield ? "yield" : "block",
                .cache = std::string(name(options_.cache)),
                .cycle = key.cycle,
                .group = parts_.group,
                .device_set = key.bound.device_set};
  if (parts_.collective.rooted) record.root = key.root;
  if (key.pair) {
    record.sender = key.pair->sender;
    record.receiver = key.pair->receiver;
  }
  if (plan.segment > 0) record.segment_bytes = plan.segment * info(key.type).size;
  add_flags(record, plan);
  return record;
}

void Runner::add_flags(Record& record, const SizePlan& plan) const {
  if (plan.segment > 0) add_flag(record, "segmented");
  if (parts_.placements.oversubscribed) add_flag(record, "oversubscribed");
  const bool in_cache = options_.cache == Cache::Rotate && !plan.leaves_cache;
  if (in_cache && plan.footprint.count > 0) add_flag(record, "rotates-in-cache");
  for (const std::string_view flag : parts_.flags) add_flag(record, flag);
}

/// What was asked for with -R, and whether the library did it.
void Runner::add_registration(Record& record) const {
  if (options_.registration == Registration::None) return;
  const bool local = options_.registration == Registration::Local;
  add_flag(record, !registered_ ? "not-registered" : local ? "registered" : "symmetric");
}

void Runner::run_size(const SweepKey& key, const Crew& crew, const SizePlan& plan,
                      Verifier& verifier) {
  const Call like = call_like(key);
  const Bytes offset = options_.unalign * info(key.type).size;
  for (const bool in_place : {false, true}) {
    if (options_.placement == (in_place ? Placement::Out : Placement::In)) continue;
    Record record = blank(key, crew, plan, in_place);
    parts_.watchdog.step(row_name(parts_, record));
    if (outputs_.replay(all_rows(crew, {.record = record}))) continue;
    const std::string obstacle = find_obstacle(plan, offset, in_place);
    if (obstacle.empty()) {
      measure_or_fail(std::move(record), crew, key, like, plan, verifier);
    } else {
      skip(std::move(record), crew, obstacle);
    }
  }
  buffers_.reset();
}

/// Plans of ranks differ where their devices or their groups do; what one cannot run, none does.
std::string Runner::find_obstacle(const SizePlan& plan, Bytes offset, bool in_place) {
  std::string obstacle = first_text(parts_.everyone, own_obstacle(plan, in_place));
  if (!obstacle.empty()) return obstacle;
  if (buffers_ || try_allocate(plan, offset)) return {};
  return "a rank could not allocate its buffers; --memory-limit makes the plan smaller";
}

bool Runner::try_allocate(const SizePlan& plan, Bytes offset) {
  try {
    buffers_.emplace(parts_.communicator, plan, offset);
  } catch (const Error& error) {
    if (error.status() != Status::Unavailable) throw;
    buffers_.reset();
  }
  const bool everywhere = parts_.everyone.agree(buffers_.has_value());
  if (!everywhere) {
    buffers_.reset();
    return false;
  }
  buffers_->enlist();
  registered_ = parts_.everyone.agree(parts_.communicator.is_registered());
  pages_ = kind_of_pages(parts_.everyone, buffers_->huge_page_shares());
  return true;
}

std::vector<Row> Runner::all_rows(const Crew& crew, Row mine) const {
  const bool several = options_.pairs == Pairs::All || parts_.group;
  if (several) return gather_rows(crew, mine);
  return {std::move(mine)};
}

void Runner::write(const Crew& crew, Row mine) {
  mine.record.finished_at = local_time();
  for (const Row& row : all_rows(crew, std::move(mine))) {
    outputs_.write(row.record, row.samples_us);
  }
}

void Runner::skip(Record record, const Crew& crew, const std::string& reason) {
  record.status = RowStatus::Skipped;
  record.reason = reason;
  write(crew, {.record = std::move(record)});
}

void Runner::measure_or_fail(Record record, const Crew& crew, const SweepKey& key, const Call& like,
                             const SizePlan& plan, Verifier& verifier) {
  add_registration(record);
  record.pages = pages_;
  Row row;
  try {
    row.samples_us = measure_row({.parts = parts_,
                                  .crew = crew,
                                  .like = like,
                                  .plan = plan,
                                  .buffers = *buffers_,
                                  .verifier = verifier},
                                 record, progress_report(record));
    add_bound(record, key.bound,
              {.collective = &parts_.collective,
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
  write(crew, std::move(row));
}

ProgressReport Runner::progress_report(const Record& record) {
  ProgressLine* line = outputs_.progress_line();
  if (line == nullptr) return {};
  const std::string head = row_name(parts_, record);
  line->show(head + ": warming up");
  return [line, head](std::size_t samples, std::optional<double> half_width) {
    const std::string width =
        half_width ? fmt::format("±{:.1f} %", *half_width * 100) : "no interval yet";
    line->show(fmt::format("{}: {} samples, {}", head, samples, width));
  };
}

}  // namespace busbar

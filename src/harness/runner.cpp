// SPDX-License-Identifier: BSD-3-Clause
#include "harness/runner.hpp"

#include "format/timeline_text.hpp"
#include "model/agreement.hpp"

namespace busbar {
namespace {

/// Bytes that --cache rotate goes through: twice the cache, or a least amount where the cache is
/// unknown or small.
Bytes rotation(const Run& run) {
  if (run.options.cache != Cache::Rotate) return 0;
  if (run.on_devices) return std::max(2 * run.device_cache, 256 * kMiB);
  return std::max(2 * run.rank_map.largest_cache, 128 * kMiB);
}

/// What the kernel gave the buffers of the ranks of a group; empty where one does not know.
/// Collective.
std::string kind_of_pages(Bootstrap& group, const std::vector<double>& huge_shares) {
  if (!group.agree(!huge_shares.empty())) return {};
  const auto [low, high] = std::ranges::minmax(huge_shares);
  if (group.largest(high) == 0) return "small";
  return group.agree(low >= 1) ? "huge" : "mixed";
}

/// On the rank where the library has taken most, so that all ranks make the same plan. Collective.
Bytes largest_growth(const Run& run) {
  const auto use = run.communicator.device_memory_use();
  return run.world.largest(use ? use->collective : 0);
}

/// What each rank of an all-to-all is to connect to all others for; NCCL does it at the first
/// operation. Without --groups it is what was asked for.
std::string connections_obstacle(const Run& run) {
  constexpr std::size_t kMostConnecting = 256;
  const bool all_to_all = run.collective.movement == Movement::AllToAll;
  if (run.plan.kind == GroupPlan::Kind::World || !all_to_all || run.mine == nullptr) return {};
  const std::size_t ranks = run.mine->ranks.size();
  if (ranks <= kMostConnecting) return {};
  return fmt::format("{} of {} ranks needs {} connections; groups have {} ranks at most",
                     run.collective.title, ranks, ranks * (ranks - 1), kMostConnecting);
}

/// Without rotating buffers, and where the library has taken nothing yet.
MemoryRequest memory_request(const Run& run, DataType type, ReduceOp op) {
  return {.collective = &run.collective,
          .type = type,
          .op = run.collective.reduces ? op : ReduceOp::None,
          .ranks = run.group.size(),
          .distribution = run.options.distribution_of(run.collective),
          .place = run.memory.place,
          .ranks_per_place = run.memory.ranks,
          .available_per_rank = run.memory.per_rank() - RankLoad::bytes(run.options),
          .out_of_place = run.options.placement != Placement::In,
          .in_place = run.options.placement != Placement::Out,
          .obstacle = connections_obstacle(run)};
}

/// That of a rank that waits has nothing to send, and nothing that keeps the others from it.
SizePlan plan_of(const Run& run, const MemoryRequest& request, Bytes size) {
  if (run.mine != nullptr) return plan_size(request, run.communicator, size);
  return {.wanted = size,
          .footprint = {},
          .out_of_place = request.out_of_place,
          .in_place = request.in_place};
}

/// "all-reduce 64 MiB in place", behind the round and the group where there are some.
std::string row_name(const Run& run, const Record& record) {
  const std::string pair =
      record.sender ? fmt::format(" from rank {} to {}", *record.sender, *record.receiver) : "";
  const std::string variant = record.variant.empty() ? "" : " with " + record.variant;
  return fmt::format("{}{} {} {}{}{}", round_prefix(run.plan, run.round, run.mine),
                     run.collective.title, format_bytes(record.size),
                     record.in_place ? "in place" : "out of place", pair, variant);
}

}  // namespace

std::string round_prefix(const GroupPlan& plan, std::size_t round, const RankGroup* mine) {
  constexpr std::size_t kLongest = 40;  // of the hosts: a step is a short text
  const int number = plan.rounds[round].number;
  if (plan.kind == GroupPlan::Kind::World) return {};
  if (mine == nullptr) return fmt::format("round {}, no group: ", number);
  const std::string hosts = mine->hosts.size() <= kLongest
                                ? mine->hosts
                                : mine->hosts.substr(0, mine->hosts.find(' ')) + " ...";
  return fmt::format("round {}, group {} ({}): ", number, mine->number, hosts);
}

std::vector<SizePlan> plan_sweep(const Run& run, DataType type, ReduceOp op, Bytes library_growth) {
  MemoryRequest request = memory_request(run, type, op);
  request.library_growth = library_growth;
  request.rotate_through = rotation(run);
  return mapped(run.options.sweep.sizes(), [&](Bytes size) { return plan_of(run, request, size); });
}

Runner::Runner(const Run& run, const RowTable& table, Outputs& outputs)
    : run_(run),
      table_(table),
      options_(run.options),
      outputs_(outputs),
      load_(run.options, run.world, run.communicator) {}

Bytes Runner::offset_of(DataType type) const { return options_.unalign * info(type).size; }

Bytes Runner::prepare() {
  if (run_.on_devices) run_first_operation();
  const Bytes growth = largest_growth(run_);
  Bytes most = 0;
  for (const SweepKey& key : sweeps_of(options_, run_.collective, 1)) {
    for (const SizePlan& plan : plan_sweep(run_, key.type, key.op, growth)) {
      most = std::max(most, RowBuffers::bytes_of(plan, offset_of(key.type)));
    }
  }
  run_.communicator.reserve(most);
  return growth;
}

/// The operation is of 1 MiB if possible. If the library refuses it, so does the first row.
void Runner::run_first_operation() {
  const SweepKey key = table_.sweeps(run_.round, 0).front();
  const SizePlan plan = plan_of(run_, memory_request(run_, key.type, key.op), kMiB);
  if (!run_.world.agree(plan.out_of_place || plan.in_place)) return;
  run_.watchdog.step(round_prefix(run_.plan, run_.round, run_.mine) + "running a first operation");
  const Bytes offset = offset_of(key.type);
  run_.communicator.reserve(RowBuffers::bytes_of(plan, offset));
  if (try_allocate(plan, offset)) {
    const std::vector<Call> calls = buffers_->calls(call_like(key), !plan.out_of_place);
    (void)prime(run_.round_group(), run_.communicator, calls.front());
  }
  buffers_.reset();
}

void Runner::run_pass(std::uint64_t pass) {
  std::vector<SweepKey> sweeps = table_.sweeps(run_.round, pass);
  for (const std::size_t number : visiting_order(options_, sweeps.size(), pass, 0)) {
    sweeps[number].bound = run_.bound;
    run_sweep(sweeps[number]);
  }
}

void Runner::run_sweep(const SweepKey& key) {
  Verifier verifier(run_.round_group(), run_.communicator, key.type, key.op, key.pair);
  const Call like = call_like(key);
  const Bytes growth = largest_growth(run_);
  const auto plans = plan_sweep(run_, key.type, key.op, growth);
  for (const std::size_t number : visiting_order(options_, plans.size(), key.visit, key.part)) {
    run_size({.run = run_,
              .key = key,
              .like = like,
              .plan = plans[number],
              .size = number,
              .verifier = verifier,
              .load = load_,
              .report_interval = interval_report(plans[number].footprint)});
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

Record Runner::blank(const RowSetup& setup, bool in_place) const {
  const SizePlan& plan = setup.plan;
  Record record = table_.blank(setup.key, plan.footprint, plan.wanted, in_place, run_.mine);
  record.backend = run_.backend.backend->name();
  record.nodes = run_.group.nodes();
  const bool grouped = run_.mine != nullptr && run_.plan.kind != GroupPlan::Kind::World;
  if (grouped) record.connect_s = run_.group_connect_s;
  const Options& options = setup.options();
  record.cadence = name(options.cadence);
  record.aggregation = name(options_.aggregation);
  record.progress = run_.progress == Progress::Yield ? "yield" : "block";
  record.cache = name(options_.cache);
  if (plan.segment > 0) {
    record.segment_bytes = plan.segment * info(setup.key.type).size;
    add_flag(record, Flag::Segmented);
  }
  if (run_.rank_map.oversubscribed) add_flag(record, Flag::Oversubscribed);
  const bool in_cache = options_.cache == Cache::Rotate && !plan.leaves_cache;
  if (in_cache && plan.footprint.count > 0) add_flag(record, Flag::RotatesInCache);
  for (const Flag flag : run_.flags) add_flag(record, flag);
  if (options.graph_launches > 0) add_flag(record, Flag::Graph);
  if (options.inject_delay) add_flag(record, Flag::DelayInjected);
  return record;
}

/// Variants take turns, in an order of each row's own, so that what the machine does meanwhile is
/// the same for all.
void Runner::run_size(RowSetup setup) {
  const std::size_t row = table_.place(setup.key, setup.size, false).position;
  for (const std::size_t number :
       visiting_order(options_, table_.variants(), setup.key.visit, row)) {
    setup.key.variant = number;
    for (const bool in_place : placements_of(options_.placement)) run_row(setup, in_place);
  }
  buffers_.reset();
}

void Runner::run_row(const RowSetup& setup, bool in_place) {
  Record record = blank(setup, in_place);
  run_.watchdog.step(row_name(run_, record));
  if (table_.resume(outputs_, setup.key, setup.size, in_place)) return;
  record.reason = find_obstacle(setup, in_place);
  if (record.reason.empty()) {
    load_.delay(setup.options(), run_.world.rank());
    run_.communicator.use_variant(setup.key.variant);
    measure(setup, std::move(record));
  } else {
    record.status = RowStatus::Skipped;
    write(setup, {.record = std::move(record)});
  }
}

/// Plans of ranks differ where their devices or their groups do; what one cannot run, none does.
std::string Runner::find_obstacle(const RowSetup& setup, bool in_place) {
  const SizePlan& plan = setup.plan;
  const bool planned = in_place ? plan.in_place : plan.out_of_place;
  const bool only_in_place = in_place && !plan.in_place_reason.empty();
  std::string obstacle = first_text(run_.world, planned         ? ""
                                                : only_in_place ? plan.in_place_reason
                                                                : plan.reason);
  if (!obstacle.empty()) return obstacle;
  if (buffers_ || try_allocate(plan, offset_of(setup.key.type))) return {};
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
  registered_ = run_.group.agree(run_.communicator.is_registered());
  pages_ = kind_of_pages(run_.group, buffers_->huge_page_shares());
  return true;
}

void Runner::write(const RowSetup& setup, Row mine) {
  run_.watchdog.tracker()->phase("writing");
  mine.record.finished_at = local_time();
  const RowVisit place = table_.place(setup.key, setup.size, mine.record.in_place);
  const bool alone = run_.plan.kind == GroupPlan::Kind::World;
  std::vector<Row> rows =
      alone ? std::vector{std::move(mine)} : gather_rows(run_.round_group(), mine);
  outputs_.write_rows(std::move(rows), place);
}

void Runner::measure(const RowSetup& setup, Record record) {
  // What was asked for with -R, and whether the library did it.
  if (options_.registration != Registration::None) {
    const bool local = options_.registration == Registration::Local;
    add_flag(record, !registered_ ? Flag::NotRegistered
                     : local      ? Flag::Registered
                                  : Flag::Symmetric);
  }
  record.pages = pages_;
  Row row{.record = std::move(record)};
  try {
    measure_row(setup, *buffers_, row, progress_report(setup, row.record));
  } catch (const Error& error) {  // the row in flight is on record too, for those who ask why
    row.record.status = RowStatus::Failed;
    row.record.reason = error.what();
    row.record.finished_at = local_time();
    if (run_.mine != nullptr) outputs_.write({.record = row.record});
    throw Error{Status::Runtime, error.what()};  // other ranks may not know of it
  }
  write(setup, std::move(row));
}

IntervalReport Runner::interval_report(const Footprint& footprint) {
  if (!options_.duration || run_.world.rank() != 0) return {};
  const double factor = bus_factor_of(run_.collective, run_.group.size(), footprint.traffic.get());
  return [this, size = footprint.size, factor](TimelineInterval interval) {
    Record record{.size = size, .time_median_us = interval.median_us};
    add_bandwidths(record, factor);
    interval.busbw_GBps = record.busbw_GBps;
    outputs_.write_interval(interval);
    ProgressLine* line = outputs_.progress_line();
    if (line == nullptr) return;
    line->show(fmt::format("{} of {}: {} us", clock_text(interval.at_s),
                           clock_text(options_.duration->count()),
                           figure_text(interval.median_us)));
  };
}

ProgressReport Runner::progress_report(const RowSetup& setup, const Record& record) {
  ProgressLine* line = outputs_.progress_line();
  if (line == nullptr) return {};
  const std::string visit =
      outputs_.visit_text(table_.place(setup.key, setup.size, record.in_place));
  const std::string head =
      row_name(run_, record) + (visit.empty() ? "" : fmt::format(" ({})", visit));
  line->show(head + ": warming up");
  return [line, head](std::size_t samples, std::optional<double> half_width) {
    const std::string width =
        half_width ? fmt::format("±{:.1f} %", *half_width * 100) : "no interval yet";
    line->show(fmt::format("{}: {} samples, {}", head, samples, width));
  };
}

}  // namespace busbar

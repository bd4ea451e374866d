// SPDX-License-Identifier: BSD-3-Clause
#include "harness/runner.hpp"

#include <numeric>

#include "base/round_robin.hpp"
#include "base/splitmix64.hpp"
#include "format/timeline_text.hpp"

namespace busbar {
namespace {

constexpr Pair kNoPair{.sender = -1, .receiver = -1};

/// All ordered pairs of ranks in rounds; in a round every rank is in one pair at most.
std::vector<std::vector<Pair>> pair_rounds(int ranks) {
  std::vector<std::vector<Pair>> rounds;
  for (const RoundOfPairs& round : round_robin(static_cast<std::size_t>(ranks))) {
    std::vector<Pair> up;
    std::vector<Pair> down;
    for (const auto& [low, high] : round) {
      up.push_back({.sender = static_cast<int>(low), .receiver = static_cast<int>(high)});
      down.push_back({.sender = static_cast<int>(high), .receiver = static_cast<int>(low)});
    }
    rounds.push_back(up);
    rounds.push_back(down);
  }
  return rounds;
}

/// Bytes that --cache rotate goes through: twice the cache, or a least amount where the cache is
/// unknown or small.
Bytes rotation(const Run& run) {
  if (run.options.cache != Cache::Rotate) return 0;
  if (run.on_devices) return std::max(2 * run.device_cache, 256 * kMiB);
  return std::max(2 * run.rank_map.largest_cache, 128 * kMiB);
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

/// On the rank where the library has taken most, so that all ranks make the same plan. Collective.
Bytes largest_growth(const Run& run) {
  return run.world.largest(run.communicator.library_growth());
}

/// Without rotating buffers, and where the library has taken nothing yet.
MemoryRequest memory_request(const Run& run, DataType type, ReduceOp op) {
  return {.collective = &run.collective,
          .type = type,
          .op = run.collective.reduces ? op : ReduceOp::None,
          .ranks = run.group.size(),
          .place = run.memory.place,
          .ranks_per_place = run.memory.ranks,
          .available_per_rank = run.memory.per_rank() - RankLoad::bytes(run.options),
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
  return mapped(run.options.sweep.sizes(),
                [&](Bytes size) { return plan_size(request, run.communicator, size); });
}

Runner::Runner(const Run& run, Outputs& outputs)
    : run_(run),
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
  const SweepKey key = sweeps_of(options_, run_.collective, run_.smallest_group).front();
  const SizePlan plan = plan_size(memory_request(run_, key.type, key.op), run_.communicator, kMiB);
  if (!run_.world.agree(plan.out_of_place || plan.in_place)) return;
  run_.watchdog.step("running a first operation");
  const Bytes offset = offset_of(key.type);
  run_.communicator.reserve(RowBuffers::bytes_of(plan, offset));
  if (try_allocate(plan, offset)) {
    const std::vector<Call> calls = buffers_->calls(call_like(key), !plan.out_of_place);
    (void)prime({.world = run_.world, .members = run_.group}, run_.communicator, calls.front());
  }
  buffers_.reset();
}

void Runner::run() {
  const std::uint64_t passes = options_.visits > 1 ? options_.visits : options_.cycles;
  for (std::uint64_t pass = 0; passes == 0 || pass < passes; ++pass) run_pass(pass);
}

void Runner::run_pass(std::uint64_t pass) {
  const bool pairs = options_.pairs == Pairs::All;
  const auto rounds = pairs ? pair_rounds(run_.world.size()) : std::vector<std::vector<Pair>>(1);
  std::vector<SweepKey> sweeps = sweeps_of(options_, run_.collective, run_.smallest_group);
  for (const std::size_t number : order(sweeps.size(), pass, 0)) {
    SweepKey& key = sweeps[number];
    (options_.visits > 1 ? key.visit : key.cycle) = pass;
    key.part = number * rounds.size();
    key.bound = run_.bound;
    if (pairs) {
      run_pairs(key, rounds);
    } else {
      run_sweep(key, {.world = run_.world, .members = run_.group});
    }
  }
}

std::vector<std::size_t> Runner::order(std::size_t count, std::uint64_t visit,
                                       std::size_t part) const {
  std::vector<std::size_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), std::size_t{0});
  if (options_.visits == 1) return numbers;
  std::uint64_t state = splitmix64(splitmix64(options_.seed + visit) + part);
  for (std::size_t left = count; left > 1; --left) {
    state = splitmix64(state);
    std::swap(numbers[left - 1], numbers[state % left]);
  }
  return numbers;
}

void Runner::run_pairs(SweepKey key, const std::vector<std::vector<Pair>>& rounds) {
  const int rank = run_.world.rank();
  const std::size_t first = key.part;
  for (const std::size_t number : order(rounds.size(), key.visit, first)) {
    const std::vector<Pair>& round = rounds[number];
    key.part = first + number;
    const auto mine = std::find_if(round.begin(), round.end(), [&](const Pair& pair) {
      return pair.sender == rank || pair.receiver == rank;
    });
    const bool idle = mine == round.end();
    key.pair = idle ? kNoPair : *mine;
    key.bound = idle ? SetBound{} : bound_of_pair(run_, *mine);
    const auto part = run_.world.split(idle ? rank : std::min(mine->sender, mine->receiver));
    run_sweep(key, {.world = run_.world, .members = *part, .idle = idle});
  }
}

void Runner::run_sweep(const SweepKey& key, const PairGroup& pair_group) {
  Verifier verifier(pair_group, run_.group, run_.communicator, key.type, key.op, key.pair);
  const Call like = call_like(key);
  const auto plans = plan_sweep(run_, key.type, key.op, largest_growth(run_));
  for (const std::size_t number : order(plans.size(), key.visit, key.part)) {
    run_size({.run = run_,
              .key = key,
              .pair_group = pair_group,
              .like = like,
              .plan = plans[number],
              .position = key.part * plans.size() + number,
              .verifier = verifier,
              .load = load_,
              .report_interval = interval_report(plans[number].footprint.size)});
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
  Record record = blank_record(run_.collective, setup.key, plan.footprint, plan.wanted, in_place);
  record.backend = run_.backend;
  record.ranks = setup.pair_group.members.size();
  record.nodes = setup.pair_group.members.nodes();
  record.cadence = name(options_.cadence);
  record.aggregation = name(options_.aggregation);
  record.progress = run_.progress == Progress::Yield ? "yield" : "block";
  record.cache = name(options_.cache);
  if (options_.split) record.group = run_.groups.at(static_cast<std::size_t>(run_.world.rank()));
  if (plan.segment > 0) {
    record.segment_bytes = plan.segment * info(setup.key.type).size;
    add_flag(record, Flag::Segmented);
  }
  if (run_.rank_map.oversubscribed) add_flag(record, Flag::Oversubscribed);
  const bool in_cache = options_.cache == Cache::Rotate && !plan.leaves_cache;
  if (in_cache && plan.footprint.count > 0) add_flag(record, Flag::RotatesInCache);
  for (const Flag flag : run_.flags) add_flag(record, flag);
  return record;
}

void Runner::run_size(const RowSetup& setup) {
  for (const bool in_place : {false, true}) {
    if (!is_wanted(options_.placement, in_place)) continue;
    Record record = blank(setup, in_place);
    run_.watchdog.step(row_name(run_, record));
    const std::vector<Row> rows = all_rows(setup.pair_group, {.record = record});
    if (outputs_.resume_rows(rows, visit_of(setup, in_place))) continue;
    record.reason = find_obstacle(setup, in_place);
    if (record.reason.empty()) {
      measure(setup, std::move(record));
    } else {
      record.status = RowStatus::Skipped;
      write(setup, {.record = std::move(record)});
    }
  }
  buffers_.reset();
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
  registered_ = run_.world.agree(run_.communicator.is_registered());
  pages_ = kind_of_pages(run_.world, buffers_->huge_page_shares());
  return true;
}

std::vector<Row> Runner::all_rows(const PairGroup& pair_group, Row mine) const {
  const bool several = options_.pairs == Pairs::All || options_.split;
  if (several) return gather_rows(pair_group, mine);
  return {std::move(mine)};
}

RowVisit Runner::visit_of(const RowSetup& setup, bool in_place) const {
  const bool both = options_.placement == Placement::Both;
  return {.position = both ? 2 * setup.position + (in_place ? 1 : 0) : setup.position,
          .visit = setup.key.visit};
}

void Runner::write(const RowSetup& setup, Row mine) {
  run_.watchdog.tracker()->phase("writing");
  mine.record.finished_at = local_time();
  const RowVisit visit = visit_of(setup, mine.record.in_place);
  outputs_.write_rows(all_rows(setup.pair_group, std::move(mine)), visit);
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
    outputs_.write({.record = row.record});
    throw Error{Status::Runtime, error.what()};  // other ranks may not know of it
  }
  write(setup, std::move(row));
}

IntervalReport Runner::interval_report(Bytes size) {
  if (!options_.duration || run_.world.rank() != 0) return {};
  return [this, size](TimelineInterval interval) {
    Record record{.ranks = run_.world.size(), .size = size, .time_median_us = interval.median_us};
    add_bandwidths(record, run_.collective);
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
  const std::string visit = outputs_.visit_text(visit_of(setup, record.in_place));
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

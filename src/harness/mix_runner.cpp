// SPDX-License-Identifier: BSD-3-Clause
#include "harness/mix_runner.hpp"

#include <thread>

#include "harness/row_table.hpp"
#include "model/agreement.hpp"
#include "stats/summary.hpp"

namespace busbar {
namespace {

Clock::time_point later(Clock::time_point time, double time_us) {
  return time + std::chrono::duration_cast<Clock::duration>(
                    std::chrono::duration<double, std::micro>(time_us));
}

/// The most groups that one rank is in.
template <class Groups>
std::size_t most_groups_of_a_rank(const Groups& groups, int ranks) {
  std::size_t most = 1;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto has = [rank](const MixGroup& group) { return group.set_of(rank) != nullptr; };
    most = std::max(most, count_of(groups, has));
  }
  return most;
}

ReduceOp op_of(const Options& options, const Collective& collective) {
  return collective.reduces ? options.ops.front() : ReduceOp::None;
}

std::vector<double> of_visits(const std::vector<std::vector<double>>& visits, double percent) {
  return mapped(visits, [percent](const std::vector<double>& times) {
    return percent == 50 ? stats::median(times) : stats::percentile(times, percent);
  });
}

}  // namespace

void MixRunner::connect(const Run& run) {
  std::vector<GroupRound> rounds(1);
  for (const Group& group : groups_) rounds[0].groups.push_back({.ranks = group.ranks()});
  name_hosts(rounds, gather_hosts(run.world), run.world.size());
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    groups_[i].hosts = rounds[0].groups[i].hosts;
    connect(run, groups_[i]);
  }
}

void MixRunner::connect(const Run& run, Group& group) {
  Bootstrap& world = run.world;
  group.footprint =
      group.collective->footprint({.wanted = group.size,
                                   .element = info(run.options.types.front()).size,
                                   .ranks = static_cast<int>(group.sets.front().size())});
  run.watchdog.step(fmt::format("mix group {}: connecting its ranks", group.name));
  const std::vector<int>* mine = group.set_of(world.rank());
  const auto sets = static_cast<int>(group.sets.size());
  if (mine != nullptr) group.set = static_cast<std::size_t>(mine - group.sets.data());
  const Clock::time_point begin = Clock::now();
  group.members = world.split(mine != nullptr ? static_cast<int>(group.set) : sets + world.rank());
  group.members->set_progress(run.progress);
  if (mine != nullptr) group.communicator = run.connect(*group.members);
  group.connect_s = world.largest(mine == nullptr ? 0 : Seconds(Clock::now() - begin).count());
  group.nodes = world.largest(mine == nullptr ? 0 : group.members->nodes());
  agree_on(world, [&] {
    const std::string problem = mine == nullptr ? "" : prepare(run, group);
    if (!problem.empty()) throw usage_error("--mix: group {}: {}", group.name, problem);
  });
  run.watchdog.step(fmt::format("mix group {}: running a first operation", group.name));
  // What one rank's library refuses, no other waits for.
  agree_on(world, [&] {
    try {
      if (mine != nullptr) group.communicator->enqueue(group.call);
    } catch (const Error& error) {
      throw Error{error.status(), fmt::format("--mix: group {}: {}", group.name, error.what())};
    }
  });
  if (mine != nullptr) group.communicator->wait();
}

std::string MixRunner::prepare(const Run& run, Group& group) {
  const Options& options = run.options;
  const Collective& collective = *group.collective;
  const MemoryRequest request{
      .collective = &collective,
      .type = options.types.front(),
      .op = op_of(options, collective),
      .ranks = group.members->size(),
      .place = run.memory.place,
      .ranks_per_place = run.memory.ranks,
      .available_per_rank =
          run.memory.per_rank() / most_groups_of_a_rank(groups_, run.world.size()),
      .in_place = false};
  const SizePlan plan = plan_size(request, *group.communicator, group.size);
  if (!plan.out_of_place) return plan.reason;
  if (plan.segment > 0) return "more than the library takes in one call; give a smaller size";
  group.communicator->reserve(RowBuffers::bytes_of(plan, 0));
  try {
    group.buffers.emplace(*group.communicator, plan, 0);
  } catch (const Error& error) {
    if (error.status() != Status::Unavailable) throw;
    return error.what();
  }
  Call like{.collective = &collective, .type = request.type, .op = request.op, .root = group.root};
  if (collective.peers != nullptr) {
    like.peers = collective.peers({.rank = group.members->rank(), .ranks = request.ranks});
  }
  group.call = group.buffers->calls(like, false).front();
  group.verifier.emplace(RoundGroup{.world = run.world, .members = *group.members},
                         *group.communicator, request.type, request.op);
  group.verifier->fill({&group.call, 1}, plan.footprint.send / info(request.type).size,
                       options.seed);
  return {};
}

void MixRunner::run(const Run& run, Outputs& outputs) {
  std::vector<Window> windows;
  Window all;
  for (Group& group : groups_) {
    windows.push_back({&group});
    all.push_back(&group);
  }
  for (const Window& alone : windows) measure(run, alone, Alone, "warming up");
  check_results(run, Alone);
  for (Group& group : groups_) group.states[Together].time_us = group.states[Alone].time_us;
  measure(run, all, Together, "warming up");
  windows.push_back(all);
  for (std::uint64_t visit = 0; visit < run.options.visits; ++visit) {
    for (const std::size_t number : visiting_order(run.options, windows.size(), visit, 0)) {
      measure_visit(run, windows[number], number < groups_.size() ? Alone : Together, visit);
    }
  }
  write(run, outputs);
}

void MixRunner::measure_visit(const Run& run, const Window& window, State state,
                              std::uint64_t visit) {
  const std::uint64_t visits = run.options.visits;
  const bool checks = state == Together && visit + 1 == visits;
  for (Group& group : groups_) {
    if (checks && group.buffers) group.buffers->poison_results(false);
  }
  auto times = measure(run, window, state, fmt::format("visit {} of {}", visit + 1, visits));
  for (std::size_t i = 0; i < window.size(); ++i) {
    window[i]->states[state].visits_us.push_back(std::move(times[i]));
  }
  if (checks) check_results(run, Together);
}

std::vector<std::vector<double>> MixRunner::measure(const Run& run, const Window& window,
                                                    State state, const std::string& what) {
  const double window_us =
      microseconds(run.options.time_budget) / static_cast<double>(run.options.visits);
  for (Group& group : groups_) group.pace = {};
  for (Group* group : window) {
    GroupPace& pace = group->pace;
    pace = {.start_us = state == Alone ? 0 : group->start_us,
            .gap_us = group->gap_us,
            .time_us = group->states[state].time_us};
    pace.operations = pace.that_fit(window_us);
    const std::vector<double> none(pace.operations * group->sets.size());
    group->times = {.start_us = none, .time_us = none};
  }
  const std::string who = state == Together ? "all groups" : "group " + window.front()->name;
  run.watchdog.step(fmt::format("mix, {}: {}", who, what));
  issue(run);
  for (Group* group : window) {
    run.world.combine(group->times.start_us, Combine::Max);
    run.world.combine(group->times.time_us, Combine::Max);
  }
  auto shared = shared_times(mapped(window, &Group::times));
  for (std::size_t i = 0; i < window.size(); ++i) {
    window[i]->states[state].time_us = stats::median(shared[i]);
  }
  return shared;
}

void MixRunner::issue(const Run& run) {
  StepTracker& tracker = *run.watchdog.tracker();
  const std::vector<Issue> order = order_of_issue(mapped(groups_, &Group::pace));
  run.world.barrier();
  const Clock::time_point begin = Clock::now();
  for (Group& group : groups_) group.due = later(begin, group.pace.start_us);
  const auto poll = [&] {
    const bool running = end_complete(begin);
    if (run.progress == Progress::Yield) std::this_thread::yield();
    return running;
  };
  for (std::size_t number = 0; number < order.size(); ++number) {
    Group& group = groups_[order[number].group];
    if (!group.communicator) continue;
    while (group.running || Clock::now() < group.due) {
      if (!poll()) tracker.tick();  // the gap between two operations is no hang
    }
    tracker.begin_operation(number + 1);
    group.operation = order[number].operation;
    group.running = true;
    group.began = Clock::now();
    group.communicator->begin(group.call);
    (void)poll();
  }
  while (poll()) {
  }
  tracker.end_operations();
}

bool MixRunner::end_complete(Clock::time_point begin) {
  bool any_ran = false;
  for (Group& group : groups_) {
    if (!group.running) continue;
    any_ran = true;
    if (!group.communicator->is_done()) continue;
    const Clock::time_point now = Clock::now();
    const std::size_t sample = group.set * group.pace.operations + group.operation;
    group.times.start_us[sample] = microseconds(group.began - begin);
    group.times.time_us[sample] = microseconds(now - group.began);
    group.due = later(now, group.gap_us);
    group.running = false;
  }
  return any_ran;
}

void MixRunner::check_results(const Run& run, State state) {
  const Options& options = run.options;
  if (options.checks == 0) return;
  for (Group& group : groups_) {
    run.watchdog.step(fmt::format("mix group {}: checking results", group.name));
    DataCheck mine;
    bool planted = false;
    if (group.verifier) {
      if (options.inject_fault) planted = group.verifier->plant(*options.inject_fault, group.call);
      mine = group.verifier->check({&group.call, 1}, options.seed);
    }
    const bool leads = group.verifier && group.members->rank() == 0;
    double wrong = leads ? static_cast<double>(mine.wrong) : 0;
    run.world.combine({&wrong, 1}, Combine::Sum);
    GroupState& result = group.states[state];
    result.check = DataCheck{.wrong = static_cast<std::uint64_t>(wrong),
                             .first_wrong = first_text(run.world, mine.first_wrong)};
    result.fault_injected = run.world.largest(planted ? 1 : 0) > 0;
  }
}

Row MixRunner::row_of(const Run& run, const Group& group, State state) {
  const GroupState& measured = group.states[state];
  const Options& options = run.options;
  const SweepKey key{
      .type = options.types.front(), .op = op_of(options, *group.collective), .root = group.root};
  Record record = blank_record(*group.collective, key, group.footprint, group.size, false);
  record.backend = run.backend.backend->name();
  record.ranks = static_cast<int>(group.sets.front().size());
  record.nodes = group.nodes;
  record.hosts = group.hosts;
  record.group_ranks = join_each(
      group.sets, " ", [](const std::vector<int>& set) { return format_ranges(set, ' '); });
  record.connect_s = group.connect_s;
  record.cadence = name(Cadence::Streaming);
  record.aggregation = name(Aggregation::Max);
  record.progress = run.progress == Progress::Yield ? "yield" : "block";
  record.cache = name(Cache::Warm);
  record.mix = fmt::format("{} {}", group.name, state == Alone ? "alone" : "together");
  for (const Flag flag : run.flags) add_flag(record, flag);
  if (run.rank_map.oversubscribed) add_flag(record, Flag::Oversubscribed);
  if (measured.fault_injected) add_flag(record, Flag::FaultInjected);
  if (measured.check) record.wrong = measured.check->wrong;
  if (record.wrong.value_or(0) > 0) {
    record.status = RowStatus::Wrong;
    record.reason = measured.check->first_wrong;
  }
  Samples samples;
  samples.times_us = stats::all_samples(measured.visits_us);
  samples.visits = measured.visits_us;
  samples.operations = samples.times_us.size();
  samples.stop = stats::StopReason::Visits;
  add_statistics(record, samples, bus_factor_of(*group.collective, record.ranks, nullptr));
  record.finished_at = local_time();
  return {.record = std::move(record), .samples_us = std::move(samples.times_us)};
}

void MixRunner::write(const Run& run, Outputs& outputs) const {
  if (!outputs.writes()) return;
  for (const Group& group : groups_) {
    outputs.write(row_of(run, group, Alone));
    Row row = row_of(run, group, Together);
    const auto slowdown = [&](double percent) {
      return slowdown_of(of_visits(group.states[Alone].visits_us, percent),
                         of_visits(group.states[Together].visits_us, percent));
    };
    Record& record = row.record;
    const MixSlowdown median = slowdown(50);
    const MixSlowdown p99 = slowdown(99);
    record.slowdown = median.factor;
    record.slowdown_low = median.low;
    record.slowdown_high = median.high;
    record.slowdown_p99 = p99.factor;
    record.slowdown_p99_low = p99.low;
    record.slowdown_p99_high = p99.high;
    outputs.write(std::move(row));
  }
}

}  // namespace busbar

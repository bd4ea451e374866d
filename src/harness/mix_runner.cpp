// SPDX-License-Identifier: BSD-3-Clause
#include "harness/mix_runner.hpp"

#include <numeric>
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
std::size_t most_groups_of_a_rank(const std::vector<MixGroup>& groups, int ranks) {
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
  members_.resize(groups_.size());
  results_.resize(groups_.size());
  std::vector<GroupRound> rounds(1);
  for (const MixGroup& group : groups_) {
    rounds[0].groups.push_back({.ranks = group.ranks()});
  }
  name_hosts(rounds, gather_hosts(run.world), run.world.size());
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    const MixGroup& wanted = groups_[group];
    results_[group].hosts = rounds[0].groups[group].hosts;
    results_[group].footprint =
        wanted.collective->footprint({.wanted = wanted.size,
                                      .element = info(run.options.types.front()).size,
                                      .ranks = static_cast<int>(wanted.sets.front().size())});
    connect_group(run, group);
  }
}

void MixRunner::connect_group(const Run& run, std::size_t group) {
  const MixGroup& wanted = groups_[group];
  Member& member = members_[group];
  Bootstrap& world = run.world;
  run.watchdog.step(fmt::format("mix group {}: connecting its ranks", wanted.name));
  const std::vector<int>* mine = wanted.set_of(world.rank());
  const auto sets = static_cast<int>(wanted.sets.size());
  if (mine != nullptr) member.set = static_cast<std::size_t>(mine - wanted.sets.data());
  const Clock::time_point begin = Clock::now();
  member.ranks = world.split(mine != nullptr ? static_cast<int>(member.set) : sets + world.rank());
  member.ranks->set_progress(run.progress);
  if (mine != nullptr) member.communicator = run.connect(*member.ranks);
  GroupResult& result = results_[group];
  result.connect_s = world.largest(mine == nullptr ? 0 : Seconds(Clock::now() - begin).count());
  result.nodes = world.largest(mine == nullptr ? 0 : member.ranks->nodes());
  agree_on(world, [&] {
    const std::string problem = mine == nullptr ? "" : prepare(run, group);
    if (!problem.empty()) throw usage_error("--mix: group {}: {}", wanted.name, problem);
  });
  run.watchdog.step(fmt::format("mix group {}: running a first operation", wanted.name));
  // What one rank's library refuses, no other waits for.
  agree_on(world, [&] {
    try {
      if (mine != nullptr) member.communicator->enqueue(member.call);
    } catch (const Error& error) {
      throw Error{error.status(), fmt::format("--mix: group {}: {}", wanted.name, error.what())};
    }
  });
  if (mine != nullptr) member.communicator->wait();
}

std::string MixRunner::prepare(const Run& run, std::size_t group) {
  const MixGroup& wanted = groups_[group];
  Member& member = members_[group];
  const Options& options = run.options;
  const Collective& collective = *wanted.collective;
  const MemoryRequest request{
      .collective = &collective,
      .type = options.types.front(),
      .op = op_of(options, collective),
      .ranks = member.ranks->size(),
      .place = run.memory.place,
      .ranks_per_place = run.memory.ranks,
      .available_per_rank =
          run.memory.per_rank() / most_groups_of_a_rank(groups_, run.world.size()),
      .in_place = false};
  const SizePlan plan = plan_size(request, *member.communicator, wanted.size);
  if (!plan.out_of_place) return plan.reason;
  if (plan.segment > 0) return "more than the library takes in one call; give a smaller size";
  member.communicator->reserve(RowBuffers::bytes_of(plan, 0));
  try {
    member.buffers.emplace(*member.communicator, plan, 0);
  } catch (const Error& error) {
    if (error.status() != Status::Unavailable) throw;
    return error.what();
  }
  Call like{.collective = &collective, .type = request.type, .op = request.op, .root = wanted.root};
  if (collective.peers != nullptr) {
    like.peers = collective.peers({.rank = member.ranks->rank(), .ranks = request.ranks});
  }
  member.call = member.buffers->calls(like, false).front();
  member.verifier.emplace(RoundGroup{.world = run.world, .members = *member.ranks},
                          *member.communicator, request.type, request.op);
  member.verifier->fill({&member.call, 1}, plan.footprint.send / info(request.type).size,
                        options.seed);
  return {};
}

void MixRunner::run(const Run& run, Outputs& outputs) {
  std::vector<Window> windows;
  Window all(groups_.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  for (const std::size_t group : all) windows.push_back({group});
  for (const Window& alone : windows) measure(run, alone, Alone, "warming up");
  check_results(run, Alone);
  for (GroupResult& result : results_) {
    result.states[Together].time_us = result.states[Alone].time_us;
  }
  measure(run, all, Together, "warming up");
  windows.push_back(all);
  const std::uint64_t visits = run.options.visits;
  for (std::uint64_t visit = 0; visit < visits; ++visit) {
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
  if (checks) poison_results();
  auto times = measure(run, window, state, fmt::format("visit {} of {}", visit + 1, visits));
  for (std::size_t i = 0; i < window.size(); ++i) {
    results_[window[i]].states[state].visits_us.push_back(std::move(times[i]));
  }
  if (checks) check_results(run, Together);
}

std::vector<std::vector<double>> MixRunner::measure(const Run& run, const Window& window,
                                                    State state, const std::string& what) {
  const double window_us =
      microseconds(run.options.time_budget) / static_cast<double>(run.options.visits);
  std::vector<GroupPace> paces(groups_.size());
  std::vector<GroupTimes> times(groups_.size());
  for (const std::size_t group : window) {
    const MixGroup& wanted = groups_[group];
    GroupPace& pace = paces[group];
    pace = {.start_us = state == Alone ? 0 : wanted.start_us,
            .gap_us = wanted.gap_us,
            .time_us = results_[group].states[state].time_us};
    pace.operations = pace.that_fit(window_us);
    times[group].start_us.resize(pace.operations * wanted.sets.size());
    times[group].time_us = times[group].start_us;
  }
  const std::string who =
      state == Together ? "all groups" : "group " + groups_[window.front()].name;
  run.watchdog.step(fmt::format("mix, {}: {}", who, what));
  issue(run, paces, times);
  std::vector<GroupTimes> measured;
  for (const std::size_t group : window) {
    run.world.combine(times[group].start_us, Combine::Max);
    run.world.combine(times[group].time_us, Combine::Max);
    measured.push_back(std::move(times[group]));
  }
  auto shared = shared_times(measured);
  for (std::size_t i = 0; i < window.size(); ++i) {
    results_[window[i]].states[state].time_us = stats::median(shared[i]);
  }
  return shared;
}

void MixRunner::issue(const Run& run, const std::vector<GroupPace>& paces,
                      std::vector<GroupTimes>& times) {
  StepTracker& tracker = *run.watchdog.tracker();
  const std::vector<Issue> order = order_of_issue(paces);
  run.world.barrier();
  const Clock::time_point begin = Clock::now();
  for (std::size_t group = 0; group < members_.size(); ++group) {
    members_[group].due = later(begin, paces[group].start_us);
  }
  const auto poll = [&] {
    const bool running = end_complete(begin, paces, times);
    if (run.progress == Progress::Yield) std::this_thread::yield();
    return running;
  };
  for (std::size_t number = 0; number < order.size(); ++number) {
    Member& member = members_[order[number].group];
    if (!member.communicator) continue;
    while (member.running || Clock::now() < member.due) {
      if (!poll()) tracker.tick();  // the gap between two operations is no hang
    }
    tracker.begin_operation(number + 1);
    member.operation = order[number].operation;
    member.running = true;
    member.began = Clock::now();
    member.communicator->begin(member.call);
    (void)poll();
  }
  while (poll()) {
  }
  tracker.end_operations();
}

bool MixRunner::end_complete(Clock::time_point begin, const std::vector<GroupPace>& paces,
                             std::vector<GroupTimes>& times) {
  bool any_ran = false;
  for (std::size_t group = 0; group < members_.size(); ++group) {
    Member& member = members_[group];
    if (!member.running) continue;
    any_ran = true;
    if (!member.communicator->is_done()) continue;
    const Clock::time_point now = Clock::now();
    const std::size_t sample = member.set * paces[group].operations + member.operation;
    times[group].start_us[sample] = microseconds(member.began - begin);
    times[group].time_us[sample] = microseconds(now - member.began);
    member.due = later(now, paces[group].gap_us);
    member.running = false;
  }
  return any_ran;
}

void MixRunner::poison_results() {
  for (Member& member : members_) {
    if (member.buffers) member.buffers->poison_results(false);
  }
}

void MixRunner::check_results(const Run& run, State state) {
  const Options& options = run.options;
  if (options.checks == 0) return;
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    run.watchdog.step(fmt::format("mix group {}: checking results", groups_[group].name));
    Member& member = members_[group];
    DataCheck mine;
    bool planted = false;
    if (member.verifier && options.inject_fault) {
      planted = member.verifier->plant(*options.inject_fault, member.call);
    }
    if (member.verifier) {
      mine = member.verifier->check({&member.call, 1}, options.seed);
    }
    const bool leads = member.verifier && member.ranks->rank() == 0;
    double wrong = leads ? static_cast<double>(mine.wrong) : 0;
    run.world.combine({&wrong, 1}, Combine::Sum);
    GroupState& result = results_[group].states[state];
    result.check = DataCheck{.wrong = static_cast<std::uint64_t>(wrong),
                             .first_wrong = first_text(run.world, mine.first_wrong)};
    result.fault_injected = run.world.largest(planted ? 1 : 0) > 0;
  }
}

Row MixRunner::row_of(const Run& run, std::size_t group, State state) const {
  const MixGroup& wanted = groups_[group];
  const GroupResult& result = results_[group];
  const GroupState& measured = result.states[state];
  const Options& options = run.options;
  const SweepKey key{
      .type = options.types.front(), .op = op_of(options, *wanted.collective), .root = wanted.root};
  Record record = blank_record(*wanted.collective, key, result.footprint, wanted.size, false);
  record.backend = run.backend.backend->name();
  record.ranks = static_cast<int>(wanted.sets.front().size());
  record.nodes = result.nodes;
  record.hosts = result.hosts;
  record.group_ranks = join_each(
      wanted.sets, " ", [](const std::vector<int>& set) { return format_ranges(set, ' '); });
  record.connect_s = result.connect_s;
  record.cadence = name(Cadence::Streaming);
  record.aggregation = name(Aggregation::Max);
  record.progress = run.progress == Progress::Yield ? "yield" : "block";
  record.cache = name(Cache::Warm);
  record.mix = fmt::format("{} {}", wanted.name, state == Alone ? "alone" : "together");
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
  add_statistics(record, samples, bus_factor_of(*wanted.collective, record.ranks, nullptr));
  record.finished_at = local_time();
  return {.record = std::move(record), .samples_us = std::move(samples.times_us)};
}

void MixRunner::write(const Run& run, Outputs& outputs) const {
  if (!outputs.writes()) return;
  for (std::size_t group = 0; group < groups_.size(); ++group) {
    outputs.write(row_of(run, group, Alone));
    Row row = row_of(run, group, Together);
    const auto slowdown = [&](double percent) {
      return slowdown_of(of_visits(results_[group].states[Alone].visits_us, percent),
                         of_visits(results_[group].states[Together].visits_us, percent));
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

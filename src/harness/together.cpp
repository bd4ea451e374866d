// SPDX-License-Identifier: BSD-3-Clause
#include "harness/together.hpp"

#include <cmath>
#include <limits>
#include <thread>
#include <tuple>

#include "stats/median_interval.hpp"

namespace busbar {
namespace {

Clock::time_point later(Clock::time_point time, double time_us) {
  return time + std::chrono::duration_cast<Clock::duration>(
                    std::chrono::duration<double, std::micro>(time_us));
}

}  // namespace

std::uint64_t Pace::that_fit(double window_us) const {
  constexpr double kMost = 2000;
  if (time_us <= 0) return static_cast<std::uint64_t>(kFewestOperations);
  const double period_us = std::max(1.0, gap_us + time_us);
  return static_cast<std::uint64_t>(std::clamp(window_us / period_us, kFewestOperations, kMost));
}

std::vector<Issue> order_of_issue(std::span<const Pace> paces) {
  std::vector<std::tuple<double, std::size_t, std::uint64_t>> due;
  for (std::size_t party = 0; party < paces.size(); ++party) {
    const Pace& pace = paces[party];
    for (std::uint64_t i = 0; i < pace.operations; ++i) {
      const double at = pace.start_us + static_cast<double>(i) * (pace.gap_us + pace.time_us);
      due.emplace_back(at, party, i);
    }
  }
  std::ranges::sort(due);
  return mapped(due, [](const auto& one) {
    return Issue{.party = std::get<1>(one), .operation = std::get<2>(one)};
  });
}

std::vector<std::vector<double>> shared_times(std::span<const PartyTimes> parties) {
  double begin_us = 0;                                      // of the last party to begin
  double end_us = std::numeric_limits<double>::infinity();  // of the first to end
  for (const PartyTimes& party : parties) {
    double last_us = 0;
    for (std::size_t i = 0; i < party.time_us.size(); ++i) {
      last_us = std::max(last_us, party.start_us[i] + party.time_us[i]);
    }
    begin_us = std::max(begin_us, *std::ranges::min_element(party.start_us));
    end_us = std::min(end_us, last_us);
  }
  return mapped(parties, [&](const PartyTimes& party) {
    std::vector<double> times;
    for (std::size_t i = 0; i < party.time_us.size(); ++i) {
      const double middle = party.start_us[i] + party.time_us[i] / 2;
      if (middle >= begin_us && middle <= end_us) times.push_back(party.time_us[i]);
    }
    return times.empty() ? party.time_us : times;
  });
}

std::optional<SlowdownFactor> slowdown_of(std::span<const double> alone,
                                          std::span<const double> together) {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < alone.size(); ++i) ratios.push_back(together[i] / alone[i]);
  std::ranges::sort(ratios);
  SlowdownFactor slowdown{.factor = stats::median(ratios)};
  if (!std::isfinite(slowdown.factor)) return std::nullopt;
  if (const auto ranks = stats::median_ranks(ratios.size())) {
    slowdown.interval = std::pair(ratios[ranks->low - 1], ratios[ranks->high - 1]);
  }
  return slowdown;
}

Together::Together(const Job& job, Bootstrap& sharing, std::vector<Party> parties, bool with_load,
                   SideLoad* load)
    : job_(job),
      sharing_(sharing),
      parties_(std::move(parties)),
      work_(parties_.size()),
      with_load_(with_load),
      load_(load) {}

void Together::warm_up() {
  const auto all = first_numbers<std::size_t>(parties_.size());
  for (const std::size_t party : all) {
    (void)run_window({&party, 1}, Alone, 0);
    work_[party].last_us[AllTogether] = work_[party].last_us[Alone];
  }
  start_load();
  (void)run_window(all, AllTogether, 0);
  (void)stop_load();
}

std::vector<std::vector<double>> Together::run_alone(double window_us, Turn& turn) {
  std::vector<std::vector<double>> alone;
  for (std::size_t party = 0; party < parties_.size(); ++party) {
    append(alone, run_window({&party, 1}, Alone, window_us));
  }
  start_load();
  if (with_load_) std::this_thread::sleep_for(Seconds{window_us / 1e6});
  turn.load_alone = stop_load();
  return alone;
}

void Together::take_turn(double window_us, bool backwards, std::span<Evidence> evidence) {
  const auto all = first_numbers<std::size_t>(parties_.size());
  // Who is not in a window waits for its end, which -T is not to take for a hang.
  const Seconds timeout = job_.options.timeout;
  if (timeout > Seconds{0}) window_us = std::min(window_us, microseconds(timeout) / 4);
  std::vector<std::vector<double>> alone;
  Turn turn;
  if (!backwards) alone = run_alone(window_us, turn);
  start_load();
  const auto together = run_window(all, AllTogether, window_us);
  turn.load_together = stop_load();
  if (backwards) alone = run_alone(window_us, turn);
  for (const std::size_t party : all) {
    Evidence& found = evidence[party];
    turn.alone_us = stats::summarize(alone[party])->mean;
    turn.alone_p99_us = stats::percentile(alone[party], 99);
    turn.together_us = stats::summarize(together[party])->mean;
    turn.together_p99_us = stats::percentile(together[party], 99);
    found.turns.push_back(turn);
    append(found.times_us, together[party]);
    found.operations += together[party].size() * parties_[party].batch;
    found.batch = parties_[party].batch;
  }
}

void Together::start_load() {
  if (!with_load_) return;
  job_.world.barrier();
  if (load_ != nullptr) load_->start();
}

double Together::stop_load() {
  if (!with_load_) return 0;
  double rate = load_ != nullptr ? load_->stop() : 0;
  sharing_.combine({&rate, 1}, Combine::Sum);
  return rate;
}

std::vector<std::vector<double>> Together::run_window(std::span<const std::size_t> at_work,
                                                      State state, double window_us) {
  for (Work& work : work_) work.pace = {};
  for (const std::size_t party : at_work) {
    Pace& pace = work_[party].pace;
    pace = {.start_us = state == Alone ? 0 : parties_[party].start_us,
            .gap_us = parties_[party].gap_us,
            .time_us = work_[party].last_us.at(state) * static_cast<double>(parties_[party].batch)};
    pace.operations = pace.that_fit(window_us);
    const std::vector<double> none(pace.operations * parties_[party].sets);
    work_[party].times = {.start_us = none, .time_us = none};
  }
  const std::string who =
      state == AllTogether ? "all together" : parties_[at_work.front()].name + " alone";
  job_.watchdog.tracker()->phase(who);
  issue();
  std::vector<PartyTimes> times;
  for (const std::size_t party : at_work) {
    sharing_.combine(work_[party].times.start_us, Combine::Max);
    sharing_.combine(work_[party].times.time_us, Combine::Max);
    times.push_back(std::move(work_[party].times));
  }
  auto shared = shared_times(times);
  for (std::size_t i = 0; i < at_work.size(); ++i) {
    const auto batch = static_cast<double>(parties_[at_work[i]].batch);
    for (double& time_us : shared[i]) time_us /= batch;
    work_[at_work[i]].last_us.at(state) = stats::median(shared[i]);
  }
  return shared;
}

void Together::issue() {
  StepTracker& tracker = *job_.watchdog.tracker();
  const std::vector<Issue> order = order_of_issue(mapped(work_, &Work::pace));
  job_.world.barrier();
  const Clock::time_point begin = Clock::now();
  for (Work& work : work_) work.due = later(begin, work.pace.start_us);
  const auto poll = [&] {
    const bool running = end_complete(begin);
    if (job_.progress == Progress::Yield) std::this_thread::yield();
    return running;
  };
  for (std::size_t number = 0; number < order.size(); ++number) {
    const Party& party = parties_[order[number].party];
    Work& work = work_[order[number].party];
    if (party.communicator == nullptr) continue;
    while (work.running || Clock::now() < work.due) {
      if (!poll()) tracker.tick();  // the gap between two operations is no hang
    }
    tracker.begin_operation(number + 1);
    work.operation = order[number].operation;
    work.running = true;
    work.began = Clock::now();
    for (std::uint64_t i = 1; i < party.batch; ++i) party.communicator->enqueue(party.call);
    party.communicator->begin(party.call);
    (void)poll();
  }
  while (poll()) {
  }
  tracker.end_operations();
}

bool Together::end_complete(Clock::time_point begin) {
  bool any_ran = false;
  for (std::size_t i = 0; i < work_.size(); ++i) {
    Work& work = work_[i];
    if (!work.running) continue;
    any_ran = true;
    if (!parties_[i].communicator->is_done()) continue;
    const Clock::time_point now = Clock::now();
    const std::size_t sample = parties_[i].set * work.pace.operations + work.operation;
    work.times.start_us[sample] = microseconds(work.began - begin);
    work.times.time_us[sample] = microseconds(now - work.began);
    work.due = later(now, work.pace.gap_us);
    work.running = false;
  }
  return any_ran;
}

}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "harness/chunk.hpp"

#include <bit>
#include <cstring>
#include <utility>

namespace busbar {
namespace {

/// A chunk's operations whose issuing is timed: more of them fill a device's launch queue, and the
/// host then waits for the device.
constexpr std::uint64_t kTimedIssues = 20;

double seconds_of(Clock::time_point time) { return Seconds(time.time_since_epoch()).count(); }
double microseconds_since(Clock::time_point start) { return microseconds(Clock::now() - start); }

double per_operation(double time_us, std::uint64_t operations) {
  return time_us / static_cast<double>(std::max<std::uint64_t>(1, operations));
}

void combine_over_ranks(Bootstrap& bootstrap, std::vector<double>& values,
                        Aggregation aggregation) {
  switch (aggregation) {
    case Aggregation::Max: return bootstrap.combine(values, Combine::Max);
    case Aggregation::Min: return bootstrap.combine(values, Combine::Min);
    case Aggregation::Rank0:
      return bootstrap.broadcast_bytes(std::as_writable_bytes(std::span{values}), 0);
    case Aggregation::Mean: break;
  }
  bootstrap.combine(values, Combine::Sum);
  for (double& value : values) value /= bootstrap.size();
}

/// A rank in the last digits of a time, where no clock resolves any more: the minimum over ranks
/// then says whose it is. As many bits as there may be ranks.
constexpr std::uint64_t kRankBits = (std::uint64_t{1} << 22) - 1;

double with_rank(double time_us, int rank) {
  const auto bits = std::bit_cast<std::uint64_t>(time_us);
  return std::bit_cast<double>((bits & ~kRankBits) | static_cast<std::uint64_t>(rank));
}

int rank_of(double time_us) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(time_us) & kRankBits);
}

}  // namespace

ChunkShape ChunkShape::of(std::uint64_t operations, std::uint64_t batch) {
  const std::uint64_t batches =
      std::max<std::uint64_t>(1, operations / std::max<std::uint64_t>(1, batch));
  ChunkShape shape;
  for (std::uint64_t i = 0; i < batches; ++i) {
    shape.batches.push_back(operations / batches + (i < operations % batches ? 1 : 0));
  }
  return shape;
}

ChunkRunner::ChunkRunner(const RoundGroup& round_group, Communicator& communicator,
                         std::span<const Call> calls, Settings settings, StepTracker& tracker)
    : round_group_(round_group),
      communicator_(communicator),
      calls_(calls),
      settings_(std::move(settings)),
      tracker_(tracker) {}

/// The work before a batch, an interval of its own: the host's time of its end.
Clock::time_point ChunkRunner::prepare(Clock::time_point start) {
  if (!settings_.prepare) return start;
  settings_.prepare();
  return communicator_.stopwatch().lap_on_host();
}

void ChunkRunner::issue(std::uint64_t count) {
  settings_.graph_launches > 0 ? launch_graph(count, settings_.graph_launches)
                               : issue_operations(count);
}

double ChunkRunner::issue_first(std::uint64_t count, Clock::time_point start) {
  const std::uint64_t before = operations_;
  const std::uint64_t groups = (kTimedIssues + settings_.group - 1) / settings_.group;
  const std::uint64_t few = std::min(count, groups * settings_.group);
  const bool graph = settings_.graph_launches > 0;
  graph ? launch_graph(count, 1) : issue_operations(few);
  const double issuing_us = per_operation(microseconds_since(start), operations_ - before);
  graph ? launch_graph(count, settings_.graph_launches - 1) : issue_operations(count - few);
  return issuing_us;
}

void ChunkRunner::issue_operations(std::uint64_t count) {
  for (std::uint64_t left = count; left > 0;) {
    const std::uint64_t next = std::min(settings_.group, left);
    tracker_.begin_operation(operations_ + next);
    enqueue_group(operations_, next);
    operations_ += next;
    left -= next;
    if (settings_.blocking != Blocking::Off) communicator_.wait();
    if (settings_.blocking == Blocking::WaitAndBarrier) round_group_.world.barrier();
  }
}

/// Operations that the library is given as one.
void ChunkRunner::enqueue_group(std::uint64_t first, std::uint64_t count) {
  const bool grouped = settings_.group > 1;
  if (grouped) communicator_.begin_group();
  for (std::uint64_t i = 0; i < count; ++i) {
    communicator_.enqueue(calls_[(first + i) % calls_.size()]);
  }
  calls_used_ = std::max(calls_used_, std::min<std::uint64_t>(first + count, calls_.size()));
  if (grouped) communicator_.end_group();
}

void ChunkRunner::launch_graph(std::uint64_t count, std::uint64_t launches) {
  const auto& launch = graphs_.at(count);
  tracker_.begin_operation(operations_ + count * launches);
  for (std::uint64_t i = 0; i < launches; ++i) launch();
  operations_ += count * launches;
}

/// Records what this shape launches, so that nothing is recorded between a start and a stop.
void ChunkRunner::record_graphs(const ChunkShape& shape) {
  if (settings_.graph_launches == 0) return;
  for (const std::uint64_t count : shape.batches) {
    if (graphs_.contains(count)) continue;
    graphs_[count] = communicator_.capture([this, count] {
      for (std::uint64_t first = 0; first < count; first += settings_.group) {
        enqueue_group(first, std::min(settings_.group, count - first));
      }
    });
  }
}

void ChunkRunner::run_untimed_group() {
  round_group_.world.barrier();
  enqueue_group(0, settings_.group);
  communicator_.wait();
  tracker_.tick();
}

/// A graph's operations are chosen for when they are recorded. The group at the end takes the cost
/// of switching the library's report off, which would else be the first timed operation's.
std::optional<LibraryChoice> ChunkRunner::observe() {
  communicator_.begin_observing();
  if (settings_.graph_launches > 0) {
    (void)communicator_.capture([this] { enqueue_group(0, settings_.group); });
  } else {
    run_untimed_group();
  }
  std::optional<LibraryChoice> choice = communicator_.observed_choice();
  run_untimed_group();
  return choice;
}

void ChunkRunner::run_streaming(const ChunkShape& shape, std::vector<double>& starts,
                                ChunkResult& result) {
  Stopwatch& stopwatch = communicator_.stopwatch();
  round_group_.world.barrier();
  const Clock::time_point start = stopwatch.start_on_host();
  for (std::size_t batch = 0; batch < shape.batches.size(); ++batch) {
    const Clock::time_point ready = prepare(start);
    if (batch == 0) {
      result.enqueue_us = issue_first(shape.batches[batch], ready);
    } else {
      issue(shape.batches[batch]);
    }
    stopwatch.lap();
  }
  communicator_.wait();
  result.host_us = microseconds_since(start);
  starts.push_back(seconds_of(start));
  tracker_.end_operations();
}

/// An isolated batch is on its way when this returns: the host's time of its start.
Clock::time_point ChunkRunner::start_isolated(std::uint64_t count, ChunkResult& result) {
  // More would fill the launch queue, and issuing would wait for a device that is held.
  const bool few = std::max(count, settings_.graph_launches) <= kTimedIssues;
  if (settings_.hold && few && communicator_.hold()) return start_held(count, result);
  Stopwatch& stopwatch = communicator_.stopwatch();
  round_group_.world.barrier();
  const Clock::time_point start = stopwatch.start_on_host();
  const Clock::time_point ready = prepare(start);
  issue(count);
  result.enqueue_us += microseconds(stopwatch.lap_on_host() - ready);
  return start;
}

/// All of it waits on the device while the ranks meet, so that no launch is part of the sample.
Clock::time_point ChunkRunner::start_held(std::uint64_t count, ChunkResult& result) {
  Stopwatch& stopwatch = communicator_.stopwatch();
  try {
    const Clock::time_point issuing = stopwatch.start_on_host();
    issue(count);
    result.enqueue_us += microseconds(stopwatch.lap_on_host() - issuing);
    round_group_.world.barrier();
  } catch (...) {
    communicator_.start_held();  // what follows a failure may wait for the device
    throw;
  }
  const Clock::time_point start = Clock::now();
  communicator_.start_held();
  return start;
}

void ChunkRunner::run_isolated(const ChunkShape& shape, std::vector<double>& starts,
                               ChunkResult& result) {
  const std::uint64_t before = operations_;
  for (const std::uint64_t operations : shape.batches) {
    const Clock::time_point start = start_isolated(operations, result);
    communicator_.wait();
    result.host_us += microseconds_since(start);
    starts.push_back(seconds_of(start));
    tracker_.end_operations();
  }
  result.enqueue_us = per_operation(result.enqueue_us, operations_ - before);
}

/// Times of batches become times of operations; between them are the times of the work before.
std::vector<double> ChunkRunner::own_times(const ChunkShape& shape, ChunkResult& result) {
  const std::vector<Seconds>& intervals = communicator_.stopwatch().intervals();
  const std::uint64_t launches = std::max<std::uint64_t>(1, settings_.graph_launches);
  const std::size_t step = settings_.prepare ? 2 : 1;
  std::vector<double> times_us;
  double load_us = 0;
  for (std::size_t i = step - 1; i < intervals.size(); i += step) {
    const auto operations = static_cast<double>(shape.batches[i / step] * launches);
    times_us.push_back(microseconds(intervals[i]) / operations);
    if (settings_.prepare) load_us += microseconds(intervals[i - 1]);
  }
  result.host_us -= load_us;
  result.load_us = per_operation(load_us, times_us.size());
  return times_us;
}

/// The times of all members become one.
void ChunkRunner::combine(std::vector<double> times_us, ChunkResult& result) {
  times_us.push_back(result.enqueue_us);  // one combination for all
  times_us.push_back(per_operation(result.host_us, result.operations));
  combine_over_ranks(round_group_.members, times_us, settings_.aggregation);
  result.host_us = times_us.back();
  times_us.pop_back();
  result.enqueue_us = times_us.back();
  times_us.pop_back();
  result.samples_us = std::move(times_us);
}

/// What takes a maximum over ranks, whatever -a makes of their times: the load, the first and last
/// start of each barrier (Clock is one clock for all ranks of a host), the shortest and longest
/// time of each sample. In one combination.
void ChunkRunner::combine_extremes(const std::vector<double>& starts,
                                   const std::vector<double>& times_us, ChunkResult& result) {
  Bootstrap& members = round_group_.members;
  std::vector<double> most{result.load_us};
  for (const double start : starts) most.insert(most.end(), {start, -start});
  if (settings_.arrivals) {
    for (const double time : times_us) {
      most.insert(most.end(), {time, -with_rank(time, members.rank())});
    }
  }
  members.combine(most, Combine::Max);
  auto next = most.begin();
  result.load_us = *next++;
  for (std::size_t i = 0; i < starts.size(); ++i, next += 2) {
    result.start_skew_us.push_back(microseconds(Seconds{next[0] + next[1]}));
  }
  for (; next != most.end(); next += 2) {
    result.arrivals.push_back({.last = rank_of(-next[1]), .late_us = next[0] + next[1]});
  }
}

void ChunkRunner::gather_times(const std::vector<double>& times_us, ChunkResult& result) {
  Bootstrap& members = round_group_.members;
  const std::vector<std::string> all = members.gather_texts(
      {reinterpret_cast<const char*>(times_us.data()), times_us.size() * sizeof(double)});
  if (all.empty()) return;
  result.rank_times_us.assign(times_us.size(), std::vector<double>(all.size()));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    for (std::size_t i = 0; i < times_us.size(); ++i) {
      std::memcpy(&result.rank_times_us[i][rank], &all[rank][i * sizeof(double)], sizeof(double));
    }
  }
}

ChunkResult ChunkRunner::run(const ChunkShape& shape) {
  const bool isolated =
      settings_.cadence == Cadence::Isolated || settings_.blocking == Blocking::UntimedBarrier;
  ChunkResult result;
  std::vector<double> starts;
  starts.reserve(shape.batches.size());
  record_graphs(shape);
  const std::uint64_t operations_before = operations_;
  communicator_.stopwatch().reset(shape.batches.size() * (settings_.prepare ? 2 : 1));
  const Clock::time_point begin = Clock::now();
  const Disturbances before = disturbances();
  isolated ? run_isolated(shape, starts, result) : run_streaming(shape, starts, result);
  const Disturbances after = disturbances();
  result.disturbances = {after.minor_faults - before.minor_faults,
                         after.involuntary_switches - before.involuntary_switches};
  result.operations = operations_ - operations_before;
  const std::vector<double> times_us = own_times(shape, result);
  if (settings_.rank_times) gather_times(times_us, result);
  combine(times_us, result);
  combine_extremes(starts, times_us, result);
  result.elapsed_s = round_group_.world.largest(Seconds(Clock::now() - begin).count());
  return result;
}

}  // namespace busbar

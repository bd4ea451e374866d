// SPDX-License-Identifier: BSD-3-Clause
#include "harness/chunk.hpp"

#include <algorithm>
#include <utility>

namespace busbar {
namespace {

double seconds_now() { return Seconds(Clock::now().time_since_epoch()).count(); }

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

/// Last start less first start of each entry; Clock is one clock for all ranks of a host.
std::vector<double> skews_us(Bootstrap& bootstrap, const std::vector<double>& starts) {
  std::vector<double> ends(starts);
  for (const double start : starts) ends.push_back(-start);
  bootstrap.combine(ends, Combine::Max);
  std::vector<double> skews;
  for (std::size_t i = 0; i < starts.size(); ++i) {
    skews.push_back(microseconds(Seconds{ends[i] + ends[i + starts.size()]}));
  }
  return skews;
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

ChunkRunner::ChunkRunner(const Crew& crew, Communicator& communicator, std::span<const Call> calls,
                         Settings settings, std::function<void()> on_progress)
    : crew_(crew),
      communicator_(communicator),
      calls_(calls),
      settings_(settings),
      on_progress_(std::move(on_progress)) {}

void ChunkRunner::issue(std::uint64_t count) {
  settings_.graph_launches > 0 ? launch_graph(count) : issue_operations(count);
}

void ChunkRunner::issue_operations(std::uint64_t count) {
  for (std::uint64_t left = count; left > 0;) {
    const std::uint64_t next = std::min(settings_.group, left);
    enqueue_group(operations_, next);
    operations_ += next;
    left -= next;
    if (settings_.blocking != Blocking::Off) communicator_.wait();
    if (settings_.blocking == Blocking::WaitAndBarrier) crew_.everyone.barrier();
  }
}

/// Operations that the library is given as one.
void ChunkRunner::enqueue_group(std::uint64_t first, std::uint64_t count) {
  const bool grouped = settings_.group > 1;
  if (grouped) communicator_.begin_group();
  for (std::uint64_t i = 0; i < count; ++i) {
    communicator_.enqueue(calls_[(first + i) % calls_.size()]);
  }
  if (grouped) communicator_.end_group();
}

void ChunkRunner::launch_graph(std::uint64_t count) {
  Replay& graph = *graphs_.at(count);
  for (std::uint64_t i = 0; i < settings_.graph_launches; ++i) graph.enqueue();
  operations_ += count * settings_.graph_launches;
}

/// Records what this shape launches, so that nothing is recorded between a start and a stop. The
/// library connects at its first operation, which may not be part of a graph.
void ChunkRunner::record_graphs(const ChunkShape& shape) {
  if (settings_.graph_launches == 0) return;
  if (graphs_.empty()) {
    communicator_.enqueue(calls_.front());
    communicator_.wait();
  }
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
  crew_.everyone.barrier();
  enqueue_group(0, settings_.group);
  communicator_.wait();
  on_progress_();
}

/// A graph's operations are chosen for when they are recorded. The group at the end takes the cost
/// of switching the library's report off, which would else be the first timed operation's.
std::optional<LibraryChoice> ChunkRunner::observe() {
  if (settings_.graph_launches > 0) run_untimed_group();  // connects, which no recording may
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
  crew_.everyone.barrier();
  starts.push_back(seconds_now());
  stopwatch.start();
  for (const std::uint64_t operations : shape.batches) {
    issue(operations);
    stopwatch.lap();
    on_progress_();
  }
  result.enqueue_us = microseconds(Seconds{seconds_now() - starts.back()});
  communicator_.wait();
  result.host_us = microseconds(Seconds{seconds_now() - starts.back()});
}

void ChunkRunner::run_isolated(const ChunkShape& shape, std::vector<double>& starts,
                               ChunkResult& result) {
  Stopwatch& stopwatch = communicator_.stopwatch();
  for (const std::uint64_t operations : shape.batches) {
    crew_.everyone.barrier();
    starts.push_back(seconds_now());
    stopwatch.start();
    issue(operations);
    stopwatch.lap();
    result.enqueue_us += microseconds(Seconds{seconds_now() - starts.back()});
    communicator_.wait();
    result.host_us += microseconds(Seconds{seconds_now() - starts.back()});
    on_progress_();
  }
}

/// Times of batches become times of operations, of all sharers as one.
void ChunkRunner::combine(const ChunkShape& shape, ChunkResult& result) {
  const std::vector<Seconds>& intervals = communicator_.stopwatch().intervals();
  const std::uint64_t launches = std::max<std::uint64_t>(1, settings_.graph_launches);
  std::vector<double> values;  // one combination for all: samples, enqueue times, the host's time
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    const auto operations = static_cast<double>(shape.batches[i] * launches);
    values.push_back(microseconds(intervals[i]) / operations);
  }
  const auto operations = static_cast<double>(std::max<std::uint64_t>(1, result.operations));
  values.push_back(result.enqueue_us / operations);
  values.push_back(result.host_us / operations);
  combine_over_ranks(crew_.sharers, values, settings_.aggregation);
  result.host_us = values.back();
  values.pop_back();
  result.enqueue_us = values.back();
  values.pop_back();
  result.samples_us = std::move(values);
}

ChunkResult ChunkRunner::run(const ChunkShape& shape) {
  const bool isolated =
      settings_.cadence == Cadence::Isolated || settings_.blocking == Blocking::UntimedBarrier;
  ChunkResult result;
  std::vector<double> starts;
  starts.reserve(shape.batches.size());
  record_graphs(shape);
  const std::uint64_t operations_before = operations_;
  communicator_.stopwatch().reset(shape.batches.size());
  const double begin = seconds_now();
  const Disturbances before = disturbances();
  isolated ? run_isolated(shape, starts, result) : run_streaming(shape, starts, result);
  const Disturbances after = disturbances();
  result.disturbances = {after.minor_faults - before.minor_faults,
                         after.involuntary_switches - before.involuntary_switches};
  result.operations = operations_ - operations_before;
  combine(shape, result);
  result.start_skew_us = skews_us(crew_.sharers, starts);
  result.elapsed_s = seconds_now() - begin;
  crew_.everyone.combine({&result.elapsed_s, 1}, Combine::Max);
  return result;
}

}  // namespace busbar

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

ChunkRunner::ChunkRunner(Bootstrap& bootstrap, Communicator& communicator,
                         std::span<const Call> calls, Settings settings,
                         std::function<void()> on_progress)
    : bootstrap_(bootstrap),
      communicator_(communicator),
      calls_(calls),
      settings_(settings),
      on_progress_(std::move(on_progress)) {}

void ChunkRunner::issue(std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    communicator_.enqueue(calls_[operations_++ % calls_.size()]);
    if (settings_.blocking == Blocking::Off) continue;
    communicator_.wait();
    if (settings_.blocking == Blocking::WaitAndBarrier) bootstrap_.barrier();
  }
}

void ChunkRunner::run_streaming(const ChunkShape& shape, std::vector<double>& starts) {
  Stopwatch& stopwatch = communicator_.stopwatch();
  bootstrap_.barrier();
  starts.push_back(seconds_now());
  stopwatch.start();
  for (const std::uint64_t operations : shape.batches) {
    issue(operations);
    stopwatch.lap();
    on_progress_();
  }
  communicator_.wait();
}

void ChunkRunner::run_isolated(const ChunkShape& shape, std::vector<double>& starts) {
  Stopwatch& stopwatch = communicator_.stopwatch();
  for (const std::uint64_t operations : shape.batches) {
    bootstrap_.barrier();
    starts.push_back(seconds_now());
    stopwatch.start();
    issue(operations);
    stopwatch.lap();
    communicator_.wait();
    on_progress_();
  }
}

std::vector<double> ChunkRunner::combine_samples(const ChunkShape& shape) {
  const std::vector<Seconds>& intervals = communicator_.stopwatch().intervals();
  std::vector<double> samples;
  for (std::size_t i = 0; i < intervals.size(); ++i) {
    samples.push_back(microseconds(intervals[i]) / static_cast<double>(shape.batches[i]));
  }
  combine_over_ranks(bootstrap_, samples, settings_.aggregation);
  return samples;
}

ChunkResult ChunkRunner::run(const ChunkShape& shape) {
  const std::uint64_t operations_before = operations_;
  const bool isolated =
      settings_.cadence == Cadence::Isolated || settings_.blocking == Blocking::UntimedBarrier;
  ChunkResult result;
  std::vector<double> starts;
  starts.reserve(shape.batches.size());
  communicator_.stopwatch().reset(shape.batches.size());
  const double begin = seconds_now();
  const Disturbances before = disturbances();
  isolated ? run_isolated(shape, starts) : run_streaming(shape, starts);
  const Disturbances after = disturbances();
  result.disturbances = {after.minor_faults - before.minor_faults,
                         after.involuntary_switches - before.involuntary_switches};
  result.operations = operations_ - operations_before;
  result.samples_us = combine_samples(shape);
  result.start_skew_us = skews_us(bootstrap_, starts);
  result.elapsed_s = seconds_now() - begin;
  bootstrap_.combine({&result.elapsed_s, 1}, Combine::Max);
  return result;
}

}  // namespace busbar

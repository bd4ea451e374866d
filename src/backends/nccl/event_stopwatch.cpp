// SPDX-License-Identifier: BSD-3-Clause
#include "backends/nccl/event_stopwatch.hpp"

#include <algorithm>

namespace busbar {

void EventStopwatch::reset(std::size_t laps) {
  // One more than laps, as a lap ends where the next begins: nothing is created between the two.
  while (events_.size() < laps + 1) events_.emplace_back();
  used_ = 0;
  laps_.clear();
  laps_.reserve(laps);
  intervals_.clear();
}

std::size_t EventStopwatch::mark() {
  if (used_ == events_.size()) events_.emplace_back();
  check_cuda(cuda().record_event(events_[used_].get(), stream_));
  return used_++;
}

void EventStopwatch::lap() {
  const std::size_t now = mark();
  laps_.emplace_back(last_, now);
  last_ = now;
}

const std::vector<Seconds>& EventStopwatch::intervals() {
  constexpr double kMillisecond = 1e-3;
  for (std::size_t i = intervals_.size(); i < laps_.size(); ++i) {
    float milliseconds = 0;
    check_cuda(cuda().get_elapsed_ms(&milliseconds, events_[laps_[i].first].get(),
                                     events_[laps_[i].second].get()));
    intervals_.emplace_back(milliseconds * kMillisecond);
  }
  return intervals_;
}

/// The median distance of events with nothing between them, at least their resolution of 0.5 us
/// (CUDA Runtime API, cudaEventElapsedTime).
Seconds EventStopwatch::cost() {
  constexpr std::size_t kReadings = 101;
  constexpr Seconds kResolution{0.5e-6};
  reset(kReadings);
  start();
  for (std::size_t i = 0; i < kReadings; ++i) lap();
  check_cuda(cuda().await_stream(stream_));
  std::vector<Seconds> costs = intervals();
  const auto middle = costs.begin() + kReadings / 2;
  std::nth_element(costs.begin(), middle, costs.end());
  return std::max(*middle, kResolution);
}

}  // namespace busbar

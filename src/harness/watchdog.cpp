// SPDX-License-Identifier: BSD-3-Clause
#include "harness/watchdog.hpp"

#include <algorithm>
#include <utility>

#include "base/text.hpp"
#include "base/thread.hpp"

namespace busbar {

void StepTracker::step(const std::string& text) {
  step_text_ = text;
  begin(text);
}

void StepTracker::phase(const std::string& text) { begin(step_text_ + ", " + text); }

void StepTracker::begin(const std::string& text) {
  const std::lock_guard lock(mutex_);
  text_ = text;
  ++step_;
  point_ = 0;
}

void StepTracker::end_operations() {
  const std::uint64_t point = point_.load(std::memory_order_relaxed);
  point_.store(point + point % 2, std::memory_order_relaxed);
  tick();
}

StepPosition StepTracker::position() const {
  const std::lock_guard lock(mutex_);
  StepPosition position{
      .step = step_, .point = point_, .idle_s = Seconds(Clock::now() - moved_.load()).count()};
  copy_text(text_, position.text);
  return position;
}

Seconds StepTracker::idle() {
  const std::array<std::uint64_t, 3> now{step_, point_, ticks_};
  if (now != seen_) restart_clock();
  seen_ = now;
  return Clock::now() - moved_.load();
}

Watchdog::Watchdog(std::optional<Seconds> timeout, OnTimeout on_timeout)
    : on_timeout_(std::move(on_timeout)) {
  if (timeout) start(*timeout);
}

void Watchdog::start(Seconds timeout) {
  if (timeout_ || timeout <= Seconds{0}) return;
  tracker_->restart_clock();
  const std::lock_guard lock(mutex_);  // the thread waits for the timeout
  thread_ = start_thread([this] { watch(); });
  timeout_ = timeout;
}

Watchdog::~Watchdog() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_signal_.notify_one();
  thread_.join();
}

void Watchdog::step(const std::string& name, std::optional<Seconds> at_most) {
  tracker_->step(name);
  const std::lock_guard lock(mutex_);
  if (timeout_) timeout_ = std::min(*timeout_, at_most.value_or(*timeout_));
}

void Watchdog::watch() {
  // A look wakes a thread beside the operations that are timed: seldom where there is time.
  constexpr Seconds kShortest{0.05};
  constexpr Seconds kLongest{1};
  std::unique_lock lock(mutex_);
  const Seconds pause = std::clamp(*timeout_ / 100, kShortest, kLongest);
  Clock::time_point looked = Clock::now();
  while (!stop_signal_.wait_for(lock, pause, [this] { return stopping_; })) {
    // So long without a look, this process was stopped (SIGSTOP, a scheduler that suspends jobs).
    const Seconds since_look = Clock::now() - looked;
    if (since_look > std::max(2 * pause, *timeout_ / 4)) tracker_->restart_clock();
    looked = Clock::now();
    if (tracker_->idle() < *timeout_ && !tracker_->report_requested()) continue;
    const Seconds timeout = *timeout_;
    lock.unlock();
    on_timeout_(to_string(tracker_->position()), timeout);
    return;
  }
}

}  // namespace busbar

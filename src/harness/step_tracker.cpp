// SPDX-License-Identifier: BSD-3-Clause
#include "harness/step_tracker.hpp"

#include "base/text.hpp"

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

}  // namespace busbar

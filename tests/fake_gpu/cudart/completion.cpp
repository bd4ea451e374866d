// SPDX-License-Identifier: BSD-3-Clause
#include "tests/fake_gpu/cudart/completion.hpp"

#include <chrono>
#include <time.h>

namespace fake_gpu {

std::int64_t monotonic_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void Completion::finish() {
  const std::lock_guard guard(mutex_);
  time_ns_ = monotonic_ns();
  done_ = true;
  changed_.notify_all();
}

bool Completion::is_done() const {
  const std::lock_guard guard(mutex_);
  return done_;
}

std::int64_t Completion::time_ns() const {
  const std::lock_guard guard(mutex_);
  return time_ns_;
}

bool Completion::wait(const std::atomic<int>& given_up) const {
  std::unique_lock lock(mutex_);
  while (!done_) {
    if (given_up.load() != 0) return false;
    changed_.wait_for(lock, std::chrono::milliseconds(10));
  }
  return true;
}

}  // namespace fake_gpu

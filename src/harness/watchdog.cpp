// SPDX-License-Identifier: BSD-3-Clause
#include "harness/watchdog.hpp"

#include <algorithm>
#include <utility>

namespace busbar {

Watchdog::Watchdog(std::optional<Seconds> timeout, OnTimeout on_timeout)
    : on_timeout_(std::move(on_timeout)), last_tick_(Clock::now()) {
  if (timeout) start(*timeout);
}

void Watchdog::start(Seconds timeout) {
  if (timeout_ || timeout <= Seconds{0}) return;
  timeout_ = timeout;
  tick();
  thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  if (!timeout_) return;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_signal_.notify_one();
  thread_.join();
}

void Watchdog::step(const std::string& name, std::optional<Seconds> at_most) {
  if (!timeout_) return;
  {
    const std::lock_guard lock(mutex_);
    step_ = name;
    timeout_ = std::min(*timeout_, at_most.value_or(*timeout_));
  }
  tick();
}

void Watchdog::tick() {
  if (timeout_) last_tick_.store(Clock::now(), std::memory_order_relaxed);
}

void Watchdog::watch() {
  constexpr std::chrono::milliseconds kLook{50};
  std::unique_lock lock(mutex_);
  Clock::time_point looked = Clock::now();
  while (!stop_signal_.wait_for(lock, kLook, [this] { return stopping_; })) {
    // So long without a look, this process was stopped (SIGSTOP, a scheduler that suspends jobs).
    const Seconds since_look = Clock::now() - looked;
    if (since_look > std::max(Seconds{1}, *timeout_ / 4)) tick();
    looked = Clock::now();
    const Seconds silent = Clock::now() - last_tick_.load(std::memory_order_relaxed);
    if (silent < *timeout_) continue;
    const std::string step = step_;
    const Seconds timeout = *timeout_;
    lock.unlock();
    on_timeout_(step, timeout);
    return;
  }
}

}  // namespace busbar

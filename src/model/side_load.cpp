// SPDX-License-Identifier: BSD-3-Clause
#include "model/side_load.hpp"

#include <algorithm>

#include "base/thread.hpp"

namespace busbar {

void spin(std::uint64_t turns) {
  volatile std::uint64_t state = 1;
  for (std::uint64_t turn = 0; turn < turns; ++turn) state = state * 6364136223846793005U + turn;
}

double spinning_rate() {
  constexpr std::uint64_t kTurns = 20000;
  constexpr int kTries = 50;
  double best = 0;
  for (int i = 0; i < kTries; ++i) {
    const Clock::time_point start = Clock::now();
    spin(kTurns);
    best = std::max(best, static_cast<double>(kTurns) / Seconds{Clock::now() - start}.count());
  }
  return best;
}

void SideLoad::start() {
  stopping_ = false;
  passes_ = 0;
  thread_ = start_thread([this] { run(); });
  while (passes_ == 0 && !failed_) std::this_thread::yield();
  passes_at_start_ = passes_;
  start_ = Clock::now();
}

double SideLoad::stop() {
  const auto passes = static_cast<double>(passes_ - passes_at_start_);
  const double rate = passes / Seconds{Clock::now() - start_}.count();
  join();
  if (failed_) std::rethrow_exception(failure_);
  return rate;
}

void SideLoad::run() noexcept {
  try {
    work_->attach();
    while (!stopping_) {
      work_->pass();
      ++passes_;
    }
    work_->drain();
  } catch (...) {
    failure_ = std::current_exception();
    failed_ = true;
  }
}

void SideLoad::join() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
}

}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "base/interrupt_watch.hpp"

namespace busbar {

InterruptWatch::InterruptWatch() {
  sigemptyset(&signals_);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&signals_, number);
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
}

InterruptWatch::~InterruptWatch() {
  constexpr timespec kNow{};
  while (sigtimedwait(&signals_, nullptr, &kNow) > 0) {  // or they would end the process now
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

int InterruptWatch::wait(Seconds time) {
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
  const timespec tick{.tv_sec = nanoseconds / 1'000'000'000,
                      .tv_nsec = nanoseconds % 1'000'000'000};
  const int signal = sigtimedwait(&signals_, nullptr, &tick);
  if (first_ == 0 && signal > 0 && signal != SIGCHLD) first_ = signal;
  return first_;
}

}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/interrupt.hpp"

#include <ctime>
#include <initializer_list>
#include <pthread.h>

namespace busbar::judge {
namespace {

sigset_t watched_signals() {
  sigset_t signals{};
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, number);
  return signals;
}

}  // namespace

InterruptWatch::InterruptWatch() {
  const sigset_t signals = watched_signals();
  pthread_sigmask(SIG_BLOCK, &signals, &before_);
  thread_ = std::thread([this] { wait(); });
}

InterruptWatch::~InterruptWatch() {
  done_ = true;
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void InterruptWatch::wait() {
  constexpr timespec kTick{.tv_sec = 0, .tv_nsec = 50'000'000};
  const sigset_t signals = watched_signals();
  while (!done_) {
    if (sigtimedwait(&signals, nullptr, &kTick) > 0) interrupted_ = true;
  }
}

}  // namespace busbar::judge

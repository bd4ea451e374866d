// SPDX-License-Identifier: BSD-3-Clause
#include "base/deadline.hpp"

#include <csignal>
#include <unistd.h>

namespace busbar {

void end_process_within(unsigned seconds) {
  // A launcher may have left the signal ignored or blocked.
  std::signal(SIGALRM, SIG_DFL);
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGALRM);
  pthread_sigmask(SIG_UNBLOCK, &alarms, nullptr);
  alarm(seconds);
}

}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include <csignal>
#include <cstdlib>
#include <unistd.h>

#include <gtest/gtest.h>

#include "base/group_guard.hpp"

namespace busbar {
namespace {

/// As a library that waits for its device while the process leaves.
void never_return() {
  for (;;) pause();
}

TEST(EndProcessWithin, EndsAProcessThatIsStuckAndNoneThatEndsInTime) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::atexit(never_return);
        end_process_within(1);
        std::exit(4);
      },
      testing::KilledBySignal(SIGALRM), "");
  EXPECT_EXIT(
      {
        std::signal(SIGALRM, SIG_IGN);  // ignored and blocked
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_BLOCK, &all, nullptr);
        end_process_within(1);
        never_return();
      },
      testing::KilledBySignal(SIGALRM), "");
  EXPECT_EXIT(
      {
        end_process_within(60);
        std::exit(4);
      },
      testing::ExitedWithCode(4), "");
}

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "base/group_guard.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include "base/child_process.hpp"
#include "tests/unit/support/processes.hpp"

namespace busbar {
namespace {

/// A process that leads a group of its own until a signal ends it.
pid_t start_sleeper() {
  const pid_t process = fork();
  if (process == 0) {
    setpgid(0, 0);
    std::signal(SIGTERM, SIG_DFL);  // whatever this process has done before
    pause();
    _exit(0);
  }
  setpgid(process, process);
  return process;
}

TEST(EndWithParent, EndsAProcessWhoseParentHasEndedBefore) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        std::signal(SIGTERM, SIG_DFL);
        end_with_parent(getppid() + 1);
      },
      testing::KilledBySignal(SIGTERM), "");
}

TEST(GroupGuard, EndsTheGroupsOfAProcessThatIsKilledAndNoOthers) {
  const pid_t kept = start_sleeper();
  const pid_t ended = start_sleeper();
  const pid_t parent = fork();
  if (parent == 0) {
    const GroupGuard guard;
    for (const pid_t group : {kept, ended}) guard.add(-group);
    guard.remove(-kept);
    std::raise(SIGKILL);
  }
  EXPECT_EQ(waitpid(parent, nullptr, 0), parent);
  int status = 0;
  EXPECT_EQ(waitpid(ended, &status, 0), ended);
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
  EXPECT_TRUE(test::is_running(kept));
  kill(kept, SIGKILL);
  waitpid(kept, nullptr, 0);
}

TEST(GroupGuard, EndsWhatACommandLoopHadStarted) {
  for (const bool foreground : {false, true}) {
    const test::TemporaryFolder folder;
    const std::string file = folder.path("process");
    const pid_t parent = fork();
    if (parent == 0) {
      CommandLoop loop;
      const std::string script = "trap '' TERM; echo $$ > " + file + "; exec sleep 600";
      const CommandControl control{.grace = Seconds{0.2}, .foreground = foreground};
      static_cast<void>(loop.start(0, {"sh", "-c", script}, control));
      while (test::text_of(file).find('\n') == std::string::npos) static_cast<void>(loop.wait());
      std::raise(SIGKILL);
    }
    EXPECT_EQ(waitpid(parent, nullptr, 0), parent);
    EXPECT_TRUE(test::ends(std::stoi(test::text_of(file))));
  }
}

/// As a library that waits for its device while the process leaves.
void never_return() {
  for (;;) pause();
}

TEST(EndProcessWithin, EndsAProcessThatIsStuck) {
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
}

}  // namespace
}  // namespace busbar

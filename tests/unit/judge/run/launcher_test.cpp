// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/launcher.hpp"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace busbar::judge {
namespace {

using testing::HasSubstr;

Words shell(const std::string& text) { return {"/bin/sh", "-c", text}; }
LaunchResult run(const std::vector<Words>& commands, double timeout_s = 10) {
  return run_launch(commands, Seconds{timeout_s}, nullptr);
}

TEST(RunLaunch, JoinsTheCsvsOfItsCommandsIntoOne) {
  const LaunchResult result = run({shell(R"(printf '# a: 1\nx,y\n1,2\n# finished: now\n')"),
                                   shell(R"(printf '# a: 2\nx,y\n3,4\n# finished: later\n')")});
  EXPECT_EQ(result.csv, "# a: 1\nx,y\n1,2\n3,4\n# finished: later\n");
  EXPECT_EQ(result.failure, "");
  EXPECT_THAT(result.command, HasSubstr(" && /bin/sh -c "));
}

TEST(RunLaunch, NamesTheExitAndTheProgramsOwnLine) {
  const LaunchResult result =
      run({shell("echo '[mpiexec] noise' >&2; echo 'x_perf: rank 1: no space' >&2; exit 4"),
           shell("echo never")});
  EXPECT_EQ(result.failure, "exit 4: x_perf: rank 1: no space");
  EXPECT_EQ(result.exit_code, 4);
  EXPECT_EQ(result.csv, "");
  EXPECT_THAT(result.log, HasSubstr("noise"));
}

TEST(RunLaunch, LeavesWrongAndSkippedDataToTheRowsButNeedsRows) {
  EXPECT_EQ(run({shell("printf 'x\\n1\\n'; exit 1")}).failure, "");
  EXPECT_EQ(run({shell("printf 'x\\n1\\n'; exit 77")}).failure, "");
  EXPECT_EQ(run({shell("printf 'x\\n'; exit 0")}).failure, "no row was written");
  EXPECT_EQ(run({shell("exit 0")}).failure, "no row was written");
}

TEST(RunLaunch, EndsACommandThatDoesNotAndKeepsWhatItWrote) {
  const LaunchResult result =
      run({shell("printf 'x\\n1\\n'; trap '' TERM; sleep 20 & wait; sleep 20")}, 0.1);
  EXPECT_EQ(result.failure, "timeout after 0.1 s");
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.csv, "x\n1\n");
  EXPECT_LT(result.seconds, 3);
}

TEST(RunLaunch, KeepsWhatALauncherSaysOfItsOwnEndOutOfTheCsv) {
  const LaunchResult result = run(
      {shell(R"(trap 'echo "[mpiexec] caught"; exit 1' TERM; printf 'x\n1\n'; sleep 20 & wait)")},
      0.2);
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.csv, "x\n1\n");
}

TEST(RunLaunch, SharesItsTimeoutAmongItsCommands) {
  const LaunchResult result =
      run({shell("printf 'x\\n1\\n'; sleep 0.2"), shell("printf 'x\\n2\\n'; sleep 20")}, 0.3);
  EXPECT_TRUE(result.timed_out);
  EXPECT_LT(result.seconds, 3);
}

TEST(RunLaunch, TakesAJobThatWroteAllAndOnlyDoesNotEndForAGoodOne) {
  const LaunchResult result =
      run({shell(R"(printf 'x\n1\n# finished: now\n'; exec sleep 20)")}, 15);
  EXPECT_EQ(result.failure, "");
  EXPECT_FALSE(result.timed_out);
  EXPECT_LT(result.seconds, 10);
  EXPECT_THAT(result.log, HasSubstr("did not end within 2 s"));
}

TEST(RunLaunch, SaysThatThereIsNoSuchProgram) {
  EXPECT_THAT(run({{"/no/such/program"}}).failure, HasSubstr("cannot start /no/such/program"));
}

TEST(RunLaunch, IsStoppedByAnInterrupt) {
  std::atomic<bool> stop = false;
  std::thread later([&stop] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop = true;
  });
  const LaunchResult result = run_launch({shell("sleep 20")}, Seconds{20}, &stop);
  later.join();
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.failure, "interrupted");
  EXPECT_LT(result.seconds, 3);
}

TEST(RunLaunches, RunAtTheSameTimeAndKeepTheirOrder) {
  const std::vector<LaunchResult> results = run_launches(
      {{shell("sleep 0.2; printf 'x\\n1\\n'")}, {shell("sleep 0.2; printf 'x\\n2\\n'")}},
      Seconds{10}, nullptr);
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].csv, "x\n1\n");
  EXPECT_EQ(results[1].csv, "x\n2\n");
}

TEST(AppendCsv, DropsALineThatWasNotFinished) {
  std::string csv = "x,y\n1,2\n3,";
  append_csv(csv, "x,y\n5,6\n");
  EXPECT_EQ(csv, "x,y\n1,2\n5,6\n");
}

}  // namespace
}  // namespace busbar::judge

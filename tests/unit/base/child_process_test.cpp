// SPDX-License-Identifier: BSD-3-Clause
#include "base/child_process.hpp"

#include <sys/wait.h>

#include "tests/unit/support/processes.hpp"

namespace busbar {
namespace {

CommandResult shell(const std::string& script, Seconds timeout = Seconds{10}) {
  return run_command("sh", {"-c", script}, timeout);
}

std::ptrdiff_t open_files() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return std::distance(begin(files), end(files));
}

TEST(RunCommand, KeepsOutputErrorsAndStatusApart) {
  const CommandResult result = shell("echo out; echo err >&2; exit 9");
  EXPECT_EQ(std::tuple(result.out, result.err, result.exit_status),
            std::tuple("out\n", "err\n", 9));
  EXPECT_FALSE(result.timed_out || result.not_found);
  EXPECT_EQ(shell("kill -KILL $$").exit_status, 128 + SIGKILL);
  EXPECT_EQ(run_command("echo", {"$HOME; ls", "a  b"}).out, "$HOME; ls a  b\n");  // no shell
}

TEST(RunCommand, RunsInTheCLocaleWithoutInput) {
  setenv("LC_ALL", "de_DE.UTF-8", 1);
  EXPECT_EQ(shell("echo $LC_ALL; cat").out, "C\n");
  unsetenv("LC_ALL");
}

TEST(RunCommand, DistinguishesAnAbsentProgram) {
  for (const char* program : {"/nowhere/nvidia-smi", "no-such-program-anywhere", "/etc/passwd"}) {
    const CommandResult result = run_command(program, {});
    EXPECT_TRUE(result.not_found) << program;
    EXPECT_EQ(result.exit_status, 127) << program;
    EXPECT_FALSE(result.err.empty()) << program;
  }
}

TEST(RunCommand, KillsTheWholeGroupOnTimeout) {
  const auto start = Clock::now();
  CommandResult result;
  for (Seconds timeout{0.15}; result.out.empty(); timeout *= 2) {  // where the shell is slow
    result = shell("sleep 60 & echo $! $$; wait", timeout);
  }
  EXPECT_LT(Seconds(Clock::now() - start), Seconds{30});
  EXPECT_TRUE(result.timed_out);
  EXPECT_EQ(result.exit_status, 128 + SIGKILL);
  const pid_t grandchild = std::stoi(result.out);
  const pid_t child = std::stoi(result.out.substr(result.out.find(' ')));
  EXPECT_EQ(waitpid(child, nullptr, WNOHANG), -1) << "a zombie is left";
  EXPECT_TRUE(test::ends(grandchild));
}

TEST(RunCommand, EndsWithTheProgramThoughAGrandchildKeepsThePipes) {
  const CommandResult result = shell("sleep 60 & echo $!");
  EXPECT_FALSE(result.timed_out);  // as it would be if it waited for the pipes' end
  const pid_t grandchild = std::stoi(result.out);
  EXPECT_TRUE(test::is_running(grandchild));
  kill(grandchild, SIGKILL);
}

std::vector<std::string> shell_line(const std::string& script) { return {"/bin/sh", "-c", script}; }

/// Commands by their numbers, and how they ended.
class CommandLoopTest : public testing::Test {
 protected:
  void start(std::size_t number, const std::string& script, const CommandControl& control = {}) {
    ASSERT_EQ(loop_->start(number, shell_line(script), control), 0);
  }
  void run() {
    while (loop_->running() > 0) {
      for (CommandLoop::Ended& ended : loop_->wait()) {
        order_.push_back(ended.number);
        results_[ended.number] = std::move(ended.result);
      }
    }
  }
  [[nodiscard]] double seconds() const { return Seconds(Clock::now() - begin_).count(); }

  Clock::time_point begin_ = Clock::now();
  std::unique_ptr<CommandLoop> loop_ = std::make_unique<CommandLoop>();
  std::vector<std::size_t> order_{};
  std::map<std::size_t, CommandResult> results_{};
};

TEST_F(CommandLoopTest, TakesTwoDescriptorsForACommandAndNoneInTheForeground) {
  const auto before = open_files();
  for (std::size_t i = 0; i < 10; ++i) start(i, "sleep 0.2", {.endless_stdin = true});
  start(10, "sleep 0.2", {.foreground = true});
  EXPECT_EQ(open_files(), before + 20);
  run();
  loop_.reset();
  EXPECT_EQ(open_files(), before);
}

TEST_F(CommandLoopTest, TakesMuchOutputOfAll) {
  for (std::size_t i = 0; i < 4; ++i) start(i, "head -c 300000 /dev/zero | tee /dev/stderr");
  run();
  for (const auto& [number, result] : results_) {
    EXPECT_EQ(std::tuple(result.out.size(), result.err.size()), std::tuple(300000U, 300000U));
  }
}

TEST_F(CommandLoopTest, GivesACommandItsGraceWhileOthersGoOn) {
  start(0, "trap '' TERM; echo mine; sleep 20 & wait; sleep 20",
        {.timeout = Seconds{0.5}, .grace = Seconds{1}});
  start(1, "trap 'echo my end; exit 5' TERM; echo mine; sleep 20 & wait",
        {.timeout = Seconds{0.5}, .grace = Seconds{10}});
  start(2, "sleep 0.7; echo well");
  run();
  EXPECT_EQ(order_.back(), 0U);
  EXPECT_EQ(results_[2].out, "well\n");
  EXPECT_LT(seconds(), 15);
  EXPECT_EQ(results_[0].exit_status, 128 + SIGKILL);
  EXPECT_EQ(results_[1].exit_status, 5);
  EXPECT_EQ(results_[1].out, "mine\n");  // what it prints at its end is none of its output
}

TEST_F(CommandLoopTest, TakesWhatACommandPrintsUpToItsLastLineWhenItIsAskedToEnd) {
  start(0,
        "trap 'echo row; echo \"# end: now\"; echo the launcher; exit' TERM; echo begun; sleep 20 "
        "& wait",
        {.timeout = Seconds{0.5}, .grace = Seconds{2}, .last_line = "# end"});
  run();
  EXPECT_EQ(results_[0].out, "begun\nrow\n# end: now\n");
}

TEST_F(CommandLoopTest, GivesAllAStdinWithoutAnEnd) {
  const CommandControl control{.timeout = Seconds{0.5}, .endless_stdin = true};
  start(0, "echo waits; cat; echo ended", control);
  start(1, "echo waits; cat; echo ended", control);
  run();
  for (const std::size_t number : {0U, 1U}) {
    EXPECT_EQ(results_[number].out, "waits\n");
    EXPECT_TRUE(results_[number].timed_out);
  }
}

TEST_F(CommandLoopTest, LeavesNoProcessBehindWhenItGoes) {
  start(0, "exec sleep 60", {.grace = Seconds{1}});
  loop_.reset();
  EXPECT_LT(seconds(), 15);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST(StartErrors, AreTheProgramsOrMayPassOrAreNeither) {
  EXPECT_TRUE(is_missing_program(ENOENT));
  EXPECT_TRUE(is_missing_program(EACCES));
  for (const int error : {EAGAIN, ENOMEM, EMFILE, ENFILE}) {
    EXPECT_TRUE(is_shortage(error));
    EXPECT_FALSE(is_missing_program(error));
  }
  EXPECT_FALSE(is_shortage(E2BIG));
  EXPECT_FALSE(is_missing_program(0));
}

TEST(RunIsolated, ReturnsWhatTheWorkReturnsOrNothingWhereItCrashesThrowsOrHangs) {
  EXPECT_EQ(run_isolated([] { return std::string(200'000, 'x'); }), std::string(200'000, 'x'));
  EXPECT_EQ(run_isolated([] { return std::string{}; }), "");
  EXPECT_FALSE(run_isolated([]() -> std::string { std::abort(); }));
  EXPECT_FALSE(run_isolated([]() -> std::string { throw usage_error("no"); }));
  EXPECT_FALSE(run_isolated(
      []() -> std::string {
        for (;;) ::pause();
      },
      Seconds{1}));
}

}  // namespace
}  // namespace busbar

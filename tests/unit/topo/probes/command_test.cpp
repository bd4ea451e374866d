// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/command.hpp"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <sys/wait.h>

#include <gtest/gtest.h>

#include "tests/unit/support/processes.hpp"

namespace busbar::topo {
namespace {

CommandResult shell(const std::string& script, Seconds timeout = Seconds{10}) {
  return run_command("sh", {"-c", script}, timeout);
}

std::ptrdiff_t open_files() {
  const std::filesystem::directory_iterator files("/proc/self/fd");
  return std::distance(begin(files), end(files));
}

TEST(RunCommand, KeepsWhatIsSaidAndTheStatusApart) {
  const CommandResult result = shell("echo out; echo err >&2; exit 9");
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_EQ(result.exit_status, 9);
  EXPECT_FALSE(result.timed_out);
  EXPECT_FALSE(result.not_found);
}

TEST(RunCommand, UsesNoShell) {
  EXPECT_EQ(run_command("echo", {"$HOME; ls", "a  b"}).out, "$HOME; ls a  b\n");
}

TEST(RunCommand, SpeaksEnglishAndHearsNothing) {
  setenv("LC_ALL", "de_DE.UTF-8", 1);
  EXPECT_EQ(shell("echo $LC_ALL; cat").out, "C\n");
  unsetenv("LC_ALL");
}

TEST(RunCommand, TellsAnAbsentProgramApart) {
  for (const char* program : {"/nowhere/nvidia-smi", "no-such-program-anywhere", "/etc/passwd"}) {
    const CommandResult result = run_command(program, {});
    EXPECT_TRUE(result.not_found) << program;
    EXPECT_EQ(result.exit_status, 127) << program;
    EXPECT_FALSE(result.err.empty()) << program;
  }
}

TEST(RunCommand, NamesTheSignalThatKilled) {
  EXPECT_EQ(shell("kill -KILL $$").exit_status, 128 + SIGKILL);
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

TEST(RunCommand, TakesMoreThanAPipeHolds) {
  const CommandResult result = shell("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2");
  EXPECT_EQ(result.out.size(), 300000U);
  EXPECT_EQ(result.err.size(), 300000U);
}

TEST(RunCommand, LeaksNoFile) {
  const auto before = open_files();
  (void)shell("true");
  (void)run_command("/nowhere", {});
  (void)shell("sleep 5", Seconds{0.02});
  EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace busbar::topo

// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/log_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"

namespace busbar::study {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

TEST(CommandIn, TakesLinesThatAShellWouldRun) {
  for (const char* line :
       {"./all_reduce_perf -b 8", "$ mpirun -np 8 ./build/all_reduce_perf -b 8 -e 8G",
        "+ NCCL_ALGO=Ring srun ./build/all_reduce_perf -b 128M",
        "- `NCCL_DEBUG=INFO all_gather_perf`", "Command: mpirun -np 2 /opt/all_reduce_perf_mpi",
        "kubectl exec -it pod -- all_reduce_perf", "./all_reduce_perf 2>&1 | tee out.txt",
        "CUDA_VISIBLE_DEVICES=0,1 ./all_reduce_perf -g 2 > out.txt"}) {
    EXPECT_TRUE(command_in(line)) << line;
  }
  for (const char* line :
       {"The following is an example exerpt from the logs of all_reduce_perf -b 8:",
        "all_reduce_perf shows 400 GB/s", "We ran ./all_reduce_perf", "### all_reduce_perf",
        "=== all_reduce_perf ===", "mpirun -np 8 ./my_perf", "all_reduce_perf", ""}) {
    EXPECT_FALSE(command_in(line)) << line;
  }
}

TEST(SettingsOfCommand, AreAssignmentsAndWhatLaunchersPassOn) {
  const auto settings = [](const char* line) {
    return settings_of_command(command_in(line).value());
  };
  EXPECT_THAT(settings("NCCL_ALGO=Ring mpirun -x NCCL_PROTO=LL -x PATH ./all_reduce_perf -b X=1"),
              ElementsAre(Pair("NCCL_ALGO", "Ring"), Pair("NCCL_PROTO", "LL")));
  EXPECT_THAT(settings("srun --export=ALL,NCCL_ALGO=Tree ./all_reduce_perf"),
              ElementsAre(Pair("NCCL_ALGO", "Tree")));
  EXPECT_THAT(settings("mpiexec -genv NCCL_ALGO Tree ./all_reduce_perf"),
              ElementsAre(Pair("NCCL_ALGO", "Tree")));
  EXPECT_THAT(settings("mpiexec -genv ./all_reduce_perf"), IsEmpty());
}

TEST(OptionsOfCommand, AreWhatNeitherRowsNorOutputHave) {
  const auto options = [](const char* line) {
    return join(options_of_command(command_in(line).value()), "; ");
  };
  EXPECT_EQ(
      options("mpirun -np 2 --bind-to core -x A=1 /opt/a/all_reduce_perf -b 8 -e 1G -G 1 -J f"),
      "-np 2; --bind-to core; /opt/a; -G 1");
  EXPECT_EQ(options("all_reduce_perf -n 20 : -np 1 other"), "-n 20");
}

LogContext context_after(const std::string& lines) {
  LogContext context;
  for (const std::string& line : split(lines, '\n')) context.read(line);
  return context;
}

TEST(LogContext, KeepsExportsUntilTheyAreUnset) {
  const LogContext context = context_after(
      "+ export NCCL_ALGO=Ring OTHER=1\nexport NCCL_PROTO=LL\n+ NCCL_DEBUG=WARN\n+ COUNT=3\nunset "
      "OTHER\n+ echo NCCL_X=1\nwe export no NCCL_Y=2 in such long lines of prose as this");
  EXPECT_THAT(context.settings(), ElementsAre(Pair("NCCL_ALGO", "Ring"), Pair("NCCL_DEBUG", "WARN"),
                                              Pair("NCCL_PROTO", "LL")));
  EXPECT_THAT(context.titles(), IsEmpty());
}

TEST(LogContext, HasTitlesByTheirLevels) {
  const LogContext context = context_after(
      "## A\n### B\n#### C\n### D\n# nThread 1 nGpus 8\n- item\n---\n=== Ring ===\n--- 12 ---");
  EXPECT_THAT(context.titles(), ElementsAre("A", "D", "Ring"));
  EXPECT_THAT(context_after("=== Ring ===\n## A").titles(), ElementsAre("A"));
}

TEST(LogContext, TakesVariablesOfTitlesWhileTheyAreInForce) {
  EXPECT_THAT(context_after("=== NCCL_ALGO=Ring ===").settings(),
              ElementsAre(Pair("NCCL_ALGO", "Ring")));
  EXPECT_THAT(context_after("=== NCCL_ALGO=Ring ===").titles(), IsEmpty());
  EXPECT_THAT(context_after("=== NCCL_ALGO=Ring ===\n=== default ===").settings(), IsEmpty());
  EXPECT_THAT(context_after("Running with NCCL_ALGO=Ring").titles(),
              ElementsAre("Running with NCCL_ALGO=Ring"));
  // env | grep NCCL
  EXPECT_EQ(context_after("NCCL_ALGO=Ring\nNCCL_PROTO=LL").settings().size(), 2U);
  EXPECT_EQ(context_after("NCCL_ALGO=Ring\nx\nNCCL_PROTO=LL").settings().size(), 1U);
}

TEST(LogContext, LeavesTheNumberOfARepetitionOut) {
  for (const char* title :
       {"== = x", "=== Ring, run 2 ===", "=== Ring (rep 2/3) ===", "#### Ring - iteration 2 of 3",
        "=== Ring: Trial #2", "=== run 2: Ring ===", "#### Rep 2: Ring_rep-2"}) {
    const LogContext context = context_after(title);
    const bool repeats = std::string(title).find("Ring") != std::string::npos;
    EXPECT_EQ(context.is_repetition(), repeats) << title;
    if (repeats) {
      EXPECT_THAT(context.titles(), ElementsAre("Ring")) << title;
    }
  }
  EXPECT_FALSE(context_after("=== Run 4 channels ===").is_repetition());
}

TEST(LogContext, GivesRepetitionsTheCommandAboveThem) {
  LogContext context = context_after("## Ring");
  context.set_command("./all_reduce_perf -n 9");
  EXPECT_EQ(context.command(), "") << "another run needs its own";
  context.read("### Rep 2");
  EXPECT_EQ(context.command(), "./all_reduce_perf -n 9");
  context.read("## Tree, rep 2");
  EXPECT_EQ(context.command(), "");
}

TEST(SettingsOfLibrary, AreThoseThatNcclReports) {
  EXPECT_EQ(settings_of_library("NCCL_ALGO set by environment to Ring"),
            (Settings{{"NCCL_ALGO", "Ring"}}));
  EXPECT_EQ(settings_of_library("NCCL_P2P_DISABLE set by environment to 1."),
            (Settings{{"NCCL_P2P_DISABLE", "1"}}));
  EXPECT_FALSE(settings_of_library("Channel 00/64 : 0"));
}

}  // namespace
}  // namespace busbar::study

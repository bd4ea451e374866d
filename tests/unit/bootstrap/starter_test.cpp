// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/starter.hpp"

#include <cstdlib>
#include <unistd.h>

namespace busbar {
namespace {

TEST(StartRanks, ReturnsTheCodeOfTheRankThatFailsAndEndsTheOthers) {
  const RankStart start{.ranks = 3,
                        .program = {"sh", "-c", "test $BUSBAR_RANK = 1 || exec sleep 77; exit 7"}};
  EXPECT_EQ(start_ranks(start), 7);
}

TEST(StartRanks, TellsRanksWhomToEndWith) {
  EXPECT_EQ(start_ranks({.ranks = 1, .program = {"sh", "-c", "test $BUSBAR_STARTER = $PPID"}}), 0);
}

TEST(StartRanks, ReportsOnceAProgramThatIsNotThere) {
  std::string notices;
  const RankStart start{.ranks = 3,
                        .program = {"/nowhere/x_perf"},
                        .notice = [&](const auto& line) { notices += line + '\n'; }};
  EXPECT_EQ(start_ranks(start), 127);
  EXPECT_EQ(notices, "rank 0 could not be started: no such program\n");
}

TEST(RequireVariables, RefusesWhatANewStartDidNotBring) {
  setenv("BUSBAR_TEST_SET", "a b", 1);
  setenv("BUSBAR_STARTED_ANEW", std::to_string(getpid()).c_str(), 1);
  require_variables({{"BUSBAR_TEST_SET", "a b"}}, {});
  for (const std::string name : {"BUSBAR_TEST_SET", "BUSBAR_TEST_UNSET"}) {
    test::expect_failure(Status::Usage, {"--env " + name + "=c", "new start"}, [&] {
      require_variables({{"BUSBAR_TEST_SET", "a b"}, {name, "c"}}, {});
    });
  }
  unsetenv("BUSBAR_STARTED_ANEW");
  unsetenv("BUSBAR_TEST_SET");
}

}  // namespace
}  // namespace busbar

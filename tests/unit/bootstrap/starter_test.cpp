// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/starter.hpp"

#include <gtest/gtest.h>

namespace busbar {
namespace {

TEST(StartRanks, ReturnsTheCodeOfTheRankThatFailsAndEndsTheOthers) {
  const RankStart start{.ranks = 3,
                        .program = {"sh", "-c", "test $BUSBAR_RANK = 1 || exec sleep 77; exit 7"}};
  EXPECT_EQ(start_ranks(start), 7);
}

TEST(StartRanks, ReportsOnceAProgramThatIsNotThere) {
  std::string notices;
  const RankStart start{.ranks = 3,
                        .program = {"/nowhere/x_perf"},
                        .notice = [&](const auto& line) { notices += line + '\n'; }};
  EXPECT_EQ(start_ranks(start), 127);
  EXPECT_EQ(notices, "rank 0 could not be started: no such program\n");
}

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/starter.hpp"

#include <gtest/gtest.h>

#include "base/child_process.hpp"

namespace busbar {
namespace {

TEST(StartRanks, ReturnsTheCodeOfTheRankThatFailsAndEndsTheOthers) {
  const RankStart start{.ranks = 3,
                        .program = {"sh", "-c", "test $BUSBAR_RANK = 1 || exec sleep 77; exit 7"}};
  // In a process of its own, as it blocks signals and waits for every child.
  EXPECT_EQ(run_isolated([&] { return std::to_string(start_ranks(start)); }, Seconds{60}), "7");
}

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "base/round_robin.hpp"

namespace busbar {
namespace {

TEST(RoundRobin, HasEveryPairOnceInRoundsOfDisjointPairs) {
  EXPECT_TRUE(round_robin(0).empty());
  EXPECT_TRUE(round_robin(1).empty());
  for (std::size_t nodes = 2; nodes <= 33; ++nodes) {
    const auto rounds = round_robin(nodes);
    EXPECT_EQ(rounds.size(), nodes % 2 == 0 ? nodes - 1 : nodes);
    std::set<std::pair<std::size_t, std::size_t>> pairs;
    for (const auto& round : rounds) {
      EXPECT_EQ(round.size(), nodes / 2);
      std::set<std::size_t> busy;
      for (const auto& pair : round) {
        EXPECT_LT(pair.first, pair.second);
        EXPECT_LT(pair.second, nodes);
        EXPECT_TRUE(busy.insert(pair.first).second);
        EXPECT_TRUE(busy.insert(pair.second).second);
        EXPECT_TRUE(pairs.emplace(pair.first, pair.second).second);
      }
    }
    EXPECT_EQ(pairs.size(), nodes * (nodes - 1) / 2);
  }
}

TEST(RoundRobin, RestsAnotherNodeInEveryRoundOfAnOddNumber) {
  std::set<std::size_t> resting;
  for (const auto& round : round_robin(5)) {
    std::set<std::size_t> all{0, 1, 2, 3, 4};
    for (const auto& pair : round) {
      all.erase(pair.first);
      all.erase(pair.second);
    }
    ASSERT_EQ(all.size(), 1U);
    resting.insert(*all.begin());
  }
  EXPECT_EQ(resting.size(), 5U);
}

}  // namespace
}  // namespace busbar

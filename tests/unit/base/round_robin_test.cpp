// SPDX-License-Identifier: BSD-3-Clause
#include "base/round_robin.hpp"

#include "base/random.hpp"

namespace busbar {
namespace {

// So that of an odd number each node rests once.
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

TEST(SplitMix64, IsThatOfSteeleLeaAndFlood) {
  // The first two numbers of a generator seeded with 0, as java.util.SplittableRandom has them.
  EXPECT_EQ(splitmix64(0), 0xe220a8397b1dcdafU);
  EXPECT_EQ(splitmix64(0x9e3779b97f4a7c15U), 0x6e789e6aa1b965f4U);
}

}  // namespace
}  // namespace busbar

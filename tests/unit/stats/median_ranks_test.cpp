// SPDX-License-Identifier: BSD-3-Clause
#include "stats/median_ranks.hpp"

#include <limits>

#include <gtest/gtest.h>

namespace busbar::stats {

// GoogleTest prints a failing pair through this.
void PrintTo(const RankPair& pair, std::ostream* out) {
  *out << "(" << pair.low << "," << pair.high << ")";
}

namespace {

RankPair ranks_of(std::size_t count, double iact = 1, double stretch = 1) {
  return median_ranks(count, iact, stretch).value_or(RankPair{});
}

// The 95 % ranks of P(x_(j) <= M <= x_(k)) = sum over i = j .. k-1 of C(n, i) / 2^n.
TEST(MedianRanks, AreTheExactBinomialRanksForIndependentSamples) {
  EXPECT_EQ(ranks_of(6), (RankPair{1, 6}));
  EXPECT_EQ(ranks_of(8), (RankPair{1, 8}));
  EXPECT_EQ(ranks_of(10), (RankPair{2, 9}));
  EXPECT_EQ(ranks_of(15), (RankPair{4, 12}));
  EXPECT_EQ(ranks_of(20), (RankPair{6, 15}));
  EXPECT_EQ(ranks_of(30), (RankPair{10, 21}));
  EXPECT_EQ(ranks_of(50), (RankPair{18, 33}));
  EXPECT_EQ(ranks_of(100), (RankPair{40, 61}));
  EXPECT_EQ(ranks_of(200), (RankPair{86, 115}));
  EXPECT_EQ(ranks_of(500), (RankPair{228, 273}));
  EXPECT_EQ(ranks_of(1000), (RankPair{469, 532}));
}

TEST(MedianRanks, DoNotExistForFiveSamples) {
  for (std::size_t count = 0; count <= 5; ++count) EXPECT_FALSE(median_ranks(count)) << count;
}

TEST(MedianRanks, DoNotExistForFewerThanSixIndependentSamples) {
  EXPECT_TRUE(median_ranks(60, 10));
  EXPECT_FALSE(median_ranks(59, 10));
  EXPECT_FALSE(median_ranks(500, std::numeric_limits<double>::infinity()));
}

// 500 samples of time 5 are worth 100, whose ranks lie 10.5 from the middle; 250.5 -+ 52.5.
TEST(MedianRanks, SpreadWithTheAutocorrelationTime) {
  EXPECT_EQ(ranks_of(500, 5), (RankPair{198, 303}));
}

TEST(MedianRanks, OfFewIndependentSamplesLeaveOutTheExtremes) {
  EXPECT_EQ(ranks_of(600, 100), (RankPair{51, 550}));
}

TEST(MedianRanks, SpreadWithTheStretchUpToTheExtremes) {
  EXPECT_EQ(ranks_of(100, 1, 2), (RankPair{30, 71}));
  EXPECT_EQ(ranks_of(100, 1, 100), (RankPair{1, 100}));
}

TEST(MedianRanks, TakeATimeBelowOneAsOne) { EXPECT_EQ(ranks_of(50, 0.5), (RankPair{18, 33})); }

TEST(MedianRanks, StandTheLargestCounts) {
  EXPECT_EQ(ranks_of(1000000), (RankPair{499020, 500981}));
}

}  // namespace
}  // namespace busbar::stats

// SPDX-License-Identifier: BSD-3-Clause
#include "stats/median_ranks.hpp"

#include <cstddef>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

namespace busbar::stats {
namespace {

using Pair = std::pair<std::size_t, std::size_t>;

Pair ranks_of(std::size_t count, double iact = 1, double stretch = 1) {
  const auto ranks = median_ranks(count, iact, stretch);
  return ranks ? Pair{ranks->low, ranks->high} : Pair{};
}

// The 95 % ranks of P(x_(j) <= M <= x_(k)) = sum over i = j .. k-1 of C(n, i) / 2^n.
TEST(MedianRanks, AreTheExactBinomialRanksForIndependentSamples) {
  EXPECT_EQ(ranks_of(6), (Pair{1, 6}));
  EXPECT_EQ(ranks_of(8), (Pair{1, 8}));
  EXPECT_EQ(ranks_of(10), (Pair{2, 9}));
  EXPECT_EQ(ranks_of(15), (Pair{4, 12}));
  EXPECT_EQ(ranks_of(20), (Pair{6, 15}));
  EXPECT_EQ(ranks_of(30), (Pair{10, 21}));
  EXPECT_EQ(ranks_of(50), (Pair{18, 33}));
  EXPECT_EQ(ranks_of(100), (Pair{40, 61}));
  EXPECT_EQ(ranks_of(200), (Pair{86, 115}));
  EXPECT_EQ(ranks_of(500), (Pair{228, 273}));
  EXPECT_EQ(ranks_of(1000), (Pair{469, 532}));
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
  EXPECT_EQ(ranks_of(500, 5), (Pair{198, 303}));
}

TEST(MedianRanks, OfFewIndependentSamplesLeaveOutTheExtremes) {
  EXPECT_EQ(ranks_of(600, 100), (Pair{51, 550}));
}

TEST(MedianRanks, SpreadWithTheStretchUpToTheExtremes) {
  EXPECT_EQ(ranks_of(100, 1, 2), (Pair{30, 71}));
  EXPECT_EQ(ranks_of(100, 1, 100), (Pair{1, 100}));
}

TEST(MedianRanks, TakeATimeBelowOneAsOne) { EXPECT_EQ(ranks_of(50, 0.5), (Pair{18, 33})); }

TEST(MedianRanks, StandTheLargestCounts) { EXPECT_EQ(ranks_of(1000000), (Pair{499020, 500981})); }

}  // namespace
}  // namespace busbar::stats

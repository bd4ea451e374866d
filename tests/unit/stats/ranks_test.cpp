// SPDX-License-Identifier: BSD-3-Clause
#include "stats/ranks.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace busbar::stats {
namespace {

TEST(CenteredRanks, FollowTheOrderOfTheSamples) {
  EXPECT_EQ(centered_ranks(std::vector<double>{30, 10, 20}), (std::vector<double>{1, -1, 0}));
}

TEST(CenteredRanks, ShareTheMidRankAmongEqualSamples) {
  EXPECT_EQ(centered_ranks(std::vector<double>{5, 1, 5, 9}),
            (std::vector<double>{0, -1.5, 0, 1.5}));
}

TEST(CenteredRanks, AreZeroForAConstantSeries) {
  EXPECT_EQ(centered_ranks(std::vector<double>(4, 7.0)), std::vector<double>(4, 0.0));
}

TEST(CenteredRanks, DoNotSeeHowFarAnOutlierIs) {
  EXPECT_EQ(centered_ranks(std::vector<double>{1, 2, 3}),
            centered_ranks(std::vector<double>{1, 2, 3000}));
}

TEST(CenteredRanks, AreEmptyForNoSamples) {
  EXPECT_TRUE(centered_ranks(std::vector<double>{}).empty());
}

}  // namespace
}  // namespace busbar::stats

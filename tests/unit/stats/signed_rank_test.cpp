// SPDX-License-Identifier: BSD-3-Clause
#include "stats/signed_rank.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace busbar::stats {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using Values = std::vector<double>;

// Hollander and Wolfe, example 3.1: depression before and after, n = 9, the sum of the lesser sign
// is 5; R's wilcox.test(x, y, paired = TRUE): p = 0.03906, pseudomedian 0.46, 0.01 to 0.786.
TEST(SignedRankTest, AgreesWithHollanderAndWolfe) {
  const Values before{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
  const Values after{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
  Values differences;
  for (std::size_t i = 0; i < before.size(); ++i) differences.push_back(before[i] - after[i]);
  const SignedRank test = signed_rank(differences);
  EXPECT_NEAR(test.p, 0.0390625, 1e-9);
  EXPECT_EQ(test.pairs, 9U);
  EXPECT_NEAR(test.shift, 0.46, 1e-9);
  ASSERT_TRUE(test.interval.has_value());
  EXPECT_NEAR(test.interval->low, 0.01, 1e-9);
  EXPECT_NEAR(test.interval->high, 0.786, 1e-9);
}

TEST(SignedRankTest, CountsTiesExactly) {
  // Of 16 signs of four equal ranks one has none above, and one none below.
  EXPECT_NEAR(signed_rank(Values{1, 1, 1, 1}).p, 2.0 / 16, 1e-12);
  // Ranks 1.5, 1.5, 3: a sum of at most 1.5 has 1 + 2 of 8 signs.
  EXPECT_NEAR(signed_rank(Values{-1, 1, 2}).p, 2 * 3.0 / 8, 1e-12);
}

TEST(SignedRankTest, LeavesOutPairsWithoutADifference) {
  const SignedRank test = signed_rank(Values{0, 0, 1, 2, 3, 4, 5, 6});
  EXPECT_EQ(test.pairs, 6U);
  EXPECT_NEAR(test.p, 2.0 / 64, 1e-12);
  EXPECT_EQ(signed_rank(Values{0, 0}).p, 1);
  EXPECT_EQ(signed_rank(Values{}).p, 1);
}

TEST(SignedRankTest, HasNoIntervalBelowSixPairs) {
  EXPECT_FALSE(signed_rank(Values{1, 2, 3, 4, 5}).interval.has_value());
  const auto six = signed_rank(Values{1, 2, 3, 4, 5, 6}).interval;
  ASSERT_TRUE(six.has_value());
  EXPECT_EQ(six->low, 1);
  EXPECT_EQ(six->high, 6);
  EXPECT_EQ(least_signed_p(6), 1.0 / 32);
  EXPECT_EQ(least_signed_p(0), 1);
}

TEST(SignedRankTest, ApproximatesManyPairsAsCountingWould) {
  Values fifty_one;
  for (int i = 1; i <= 51; ++i) fifty_one.push_back(i <= 30 ? -i : i);
  EXPECT_NEAR(signed_rank(fifty_one).p, 0.06379, 5e-4);  // all 2^51 signs, counted
}

// Holm's own order: 4 * 0.005, 3 * 0.01, 2 * 0.03, and 0.04, which is not below the one before.
TEST(HolmTest, AdjustsStepByStep) {
  EXPECT_THAT(holm(Values{0.01, 0.04, 0.03, 0.005}),
              ElementsAre(DoubleNear(0.03, 1e-12), DoubleNear(0.06, 1e-12), DoubleNear(0.06, 1e-12),
                          DoubleNear(0.02, 1e-12)));
  EXPECT_THAT(holm(Values{0.6, 0.7}), ElementsAre(1, 1));
  EXPECT_TRUE(holm({}).empty());
}

}  // namespace
}  // namespace busbar::stats

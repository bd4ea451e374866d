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

/// 1 to `count`, of which those up to `negative` are below 0.
Values differences(int count, int negative) {
  Values values;
  for (int i = 1; i <= count; ++i) values.push_back(i <= negative ? -i : i);
  return values;
}

TEST(SignedRankTest, AgreesWithWilcoxonsTable) {
  EXPECT_NEAR(signed_rank(differences(5, 0)).p, 2.0 / 32, 1e-12);
  EXPECT_NEAR(signed_rank(differences(6, 0)).p, 2.0 / 64, 1e-12);
  // T = 3 of 8 pairs: the sums 0, 1, 2 and twice 3.
  EXPECT_NEAR(signed_rank(differences(8, 2)).p, 2 * 5.0 / 256, 1e-12);
  EXPECT_NEAR(signed_rank(differences(10, 0)).p, least_signed_p(10), 1e-12);
}

// Hollander and Wolfe, example 3.1: depression scale factors of nine patients, as in R's
// ?wilcox.test: V = 40, one-sided P 0.01953, and 0.010 to 0.786 at 95 %.
TEST(SignedRankTest, AgreesWithHollanderAndWolfe) {
  const Values first{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
  const Values second{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
  Values differences;
  for (std::size_t i = 0; i < first.size(); ++i) differences.push_back(first[i] - second[i]);
  EXPECT_NEAR(signed_rank(differences).p, 2 * 0.01953, 1e-5);
  const auto interval = signed_interval(differences);
  ASSERT_TRUE(interval.has_value());
  EXPECT_NEAR(interval->low, 0.010, 1e-9);
  EXPECT_NEAR(interval->high, 0.786, 1e-9);
}

TEST(SignedRankTest, LeavesOutEqualPairsAndCountsTies) {
  const SignedRank none = signed_rank(Values{0, 0});
  EXPECT_EQ(none.p, 1);
  EXPECT_EQ(none.pairs, 0U);
  // Five ranks of 3 each: four or five positive ones by chance in 6 of 32.
  const SignedRank tied = signed_rank(Values{1, 1, 0, 1, 1, -1});
  EXPECT_EQ(tied.pairs, 5U);
  EXPECT_NEAR(tied.p, 2 * 6.0 / 32, 1e-12);
}

TEST(SignedRankTest, ApproximatesManyPairsAsCountingWould) {
  // All 2^51 signs, counted: 0.06379 and 0.00296.
  EXPECT_NEAR(signed_rank(differences(51, 30)).p, 0.06379, 5e-4);
  EXPECT_NEAR(signed_rank(differences(51, 26)).p, 0.00296, 6e-4);
  EXPECT_LT(signed_rank(differences(60, 0)).p, 1e-10);
}

TEST(SignedRankTest, HasNoIntervalOfFiveAndTheEndsOfSix) {
  EXPECT_FALSE(signed_interval(differences(5, 0)));
  const auto six = signed_interval(differences(6, 0));
  ASSERT_TRUE(six.has_value());
  EXPECT_EQ(six->low, 1);
  EXPECT_EQ(six->high, 6);
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

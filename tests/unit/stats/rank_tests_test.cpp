// SPDX-License-Identifier: BSD-3-Clause
#include "stats/rank_tests.hpp"

#include <numeric>

namespace busbar::stats {
namespace {

TEST(BinomialTail, SumsTheUpperTailAndKnowsImpossibleAndCertainSuccesses) {
  EXPECT_NEAR(binomial_tail(8, 10, 0.5), 56.0 / 1024, 1e-12);
  EXPECT_NEAR(binomial_tail(0, 10, 0.3), 1, 1e-12);
  EXPECT_NEAR(binomial_tail(3, 3, 0.1), 1e-3, 1e-15);
  EXPECT_EQ(binomial_tail(1, 5, 0), 0);
  EXPECT_EQ(binomial_tail(0, 5, 0), 1);
  EXPECT_EQ(binomial_tail(5, 5, 1), 1);
}

TEST(PrecedenceP, IsTheChanceThatSoManyTriesAreBelowAllOthers) {
  // Of 9 + 3 values in a random order the last three are those: 3! 9! / 12!.
  EXPECT_NEAR(precedence_p(0, 9, 3, 3), 6.0 / (10 * 11 * 12), 1e-12);
  // One of the nine may be among them: (j+1)(j+2)(j+3) / (10 11 12).
  EXPECT_NEAR(precedence_p(1, 9, 3, 3), 24.0 / (10 * 11 * 12), 1e-12);
  // The lowest of 4 and 2 values is one of the two in a third of all orders.
  EXPECT_NEAR(precedence_p(0, 4, 2, 1), 1.0 / 3, 1e-12);
  EXPECT_GT(precedence_p(0, 30, 5, 4), precedence_p(0, 30, 5, 5));
  EXPECT_EQ(precedence_p(9, 9, 3, 3), 1);
  EXPECT_EQ(precedence_p(0, 0, 3, 3), 1);
}

TEST(HypergeometricTail, CountsWhatIsMarkedOfAllThatIsDrawn) {
  // All 9 of 28 are of 16 marked: C(16, 9) / C(28, 9).
  EXPECT_NEAR(hypergeometric_tail(9, 9, 16, 28), 11440.0 / 6906900, 1e-12);
  EXPECT_NEAR(hypergeometric_tail(0, 3, 2, 5), 1, 1e-12);
  EXPECT_NEAR(hypergeometric_tail(2, 3, 2, 5), 3.0 / 10, 1e-12);
}

using testing::DoubleNear;
using Values = std::vector<double>;

TEST(MannWhitneyTest, NeverFindsEqualSamplesDifferent) {
  const Values many(40, 7);  // more than are counted one by one
  EXPECT_EQ(mann_whitney_p(many, many), 1);
}

// One value against 39: each of 40 places is as likely, so the outermost has 2.5 %, not more.
TEST(ShiftIntervalTest, CutsOffExactlyItsTail) {
  Values many(39);
  std::iota(many.begin(), many.end(), 1);
  const auto shift = shift_interval(Values{0.5}, many);
  EXPECT_EQ(shift->low, 0.5);
  EXPECT_EQ(shift->high, 38.5);
  many.pop_back();
  EXPECT_FALSE(shift_interval(Values{0.5}, many).has_value());
}

// Hollander and Wolfe, Nonparametric Statistical Methods, example 3.1: depression before and after,
// n = 9, the sum of the lesser sign is 5; R's wilcox.test(x, y, paired = TRUE): p = 0.03906,
// pseudomedian 0.46, 0.01 to 0.786.
TEST(SignedRankTest, AgreesWithHollanderAndWolfe) {
  const Values before{1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
  const Values after{0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
  Values differences;
  for (std::size_t i = 0; i < before.size(); ++i) differences.push_back(before[i] - after[i]);
  const SignedRank test = signed_rank(differences);
  EXPECT_NEAR(test.p, 0.0390625, 1e-9);
  EXPECT_NEAR(test.shift, 0.46, 1e-9);
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
  EXPECT_NEAR(signed_rank(Values{0, 0, 1, 2, 3, 4, 5, 6}).p, 2.0 / 64, 1e-12);
  EXPECT_EQ(signed_rank(Values{0, 0}).p, 1);
  EXPECT_EQ(signed_rank(Values{}).p, 1);
}

TEST(SignedRankTest, HasNoIntervalBelowSixPairs) {
  EXPECT_FALSE(signed_rank(Values{1, 2, 3, 4, 5}).interval.has_value());
  const auto six = signed_rank(Values{1, 2, 3, 4, 5, 6}).interval;
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

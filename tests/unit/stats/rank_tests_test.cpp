// SPDX-License-Identifier: BSD-3-Clause
#include "stats/rank_tests.hpp"

#include <gtest/gtest.h>

namespace busbar::stats {
namespace {

TEST(BinomialTail, SumsTheUpperTail) {
  EXPECT_NEAR(binomial_tail(8, 10, 0.5), 56.0 / 1024, 1e-12);
  EXPECT_NEAR(binomial_tail(0, 10, 0.3), 1, 1e-12);
  EXPECT_NEAR(binomial_tail(3, 3, 0.1), 1e-3, 1e-15);
}

TEST(BinomialTail, KnowsImpossibleAndCertainSuccesses) {
  EXPECT_EQ(binomial_tail(1, 5, 0), 0);
  EXPECT_EQ(binomial_tail(0, 5, 0), 1);
  EXPECT_EQ(binomial_tail(5, 5, 1), 1);
}

TEST(PrecedenceP, IsTheChanceThatAllTriesAreBelowAllOthers) {
  // Of 9 + 3 values in a random order the last three are those: 3! 9! / 12!.
  EXPECT_NEAR(precedence_p(0, 9, 3, 3), 6.0 / (10 * 11 * 12), 1e-12);
  // One of the nine may be among them: (j+1)(j+2)(j+3) / (10 11 12).
  EXPECT_NEAR(precedence_p(1, 9, 3, 3), 24.0 / (10 * 11 * 12), 1e-12);
}

TEST(PrecedenceP, CountsTriesThatNeedNotBeLow) {
  // The lowest of 4 and 2 values is one of the two in a third of all orders.
  EXPECT_NEAR(precedence_p(0, 4, 2, 1), 1.0 / 3, 1e-12);
  EXPECT_GT(precedence_p(0, 30, 5, 4), precedence_p(0, 30, 5, 5));
}

TEST(PrecedenceP, IsOneWhereAllOthersAreLower) {
  EXPECT_EQ(precedence_p(9, 9, 3, 3), 1);
  EXPECT_EQ(precedence_p(0, 0, 3, 3), 1);
}

TEST(HypergeometricTail, CountsWhatIsMarkedOfAllThatIsDrawn) {
  // All 9 of 28 are of 16 marked: C(16, 9) / C(28, 9).
  EXPECT_NEAR(hypergeometric_tail(9, 9, 16, 28), 11440.0 / 6906900, 1e-12);
  EXPECT_NEAR(hypergeometric_tail(0, 3, 2, 5), 1, 1e-12);
  EXPECT_NEAR(hypergeometric_tail(2, 3, 2, 5), 3.0 / 10, 1e-12);
}

}  // namespace
}  // namespace busbar::stats

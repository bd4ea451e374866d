// SPDX-License-Identifier: BSD-3-Clause
#include "stats/mann_whitney.hpp"

#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace busbar::stats {
namespace {

using Values = std::vector<double>;

// Mann and Whitney's own example of 1947 has tables for n = m = 3 to 8: P(U <= 0) of 3 and 3 is
// 0.050, of 4 and 4 0.014, of 5 and 5 0.004; their two-sided p are twice that.
TEST(MannWhitneyTest, AgreesWithTheTablesOfMannAndWhitney) {
  EXPECT_NEAR(mann_whitney(Values{1, 2, 3}, Values{4, 5, 6}).p, 0.100, 5e-4);
  EXPECT_NEAR(mann_whitney(Values{1, 2, 3, 4}, Values{5, 6, 7, 8}).p, 2.0 / 70, 1e-12);
  EXPECT_NEAR(mann_whitney(Values{1, 2, 3, 4, 5}, Values{6, 7, 8, 9, 10}).p, 2.0 / 252, 1e-12);
  // P(U <= 1) of 4 and 4 is 0.029.
  EXPECT_NEAR(mann_whitney(Values{1, 2, 3, 5}, Values{4, 6, 7, 8}).p, 2 * 0.029, 1e-3);
}

// Hollander and Wolfe, Nonparametric Statistical Methods, example 4.1: permeability constants of
// the human chorioamnion at term and at 12 to 26 weeks: W = 35 pairs, one-sided P 0.127, as in R's
// ?wilcox.test; wilcox.test(early, term, conf.int = TRUE) gives -0.76 to 0.15 at 96 %.
TEST(MannWhitneyTest, AgreesWithHollanderAndWolfe) {
  const Values term{0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46};
  const Values early{1.15, 0.88, 0.90, 0.74, 1.21};
  const auto shift = shift_interval(term, early);
  ASSERT_TRUE(shift.has_value());
  EXPECT_NEAR(shift->low, -0.76, 1e-9);
  EXPECT_NEAR(shift->high, 0.15, 1e-9);
  const MannWhitney test = mann_whitney(term, early);
  EXPECT_EQ(test.u, 35);
  EXPECT_TRUE(test.exact);
  EXPECT_NEAR(test.p, 2 * 0.1272, 1e-4);
}

TEST(MannWhitneyTest, NeverFindsEqualSamplesDifferent) {
  const Values many(40, 7);  // more than are counted one by one
  EXPECT_EQ(mann_whitney(many, many).p, 1);
}

// One value against 39: each of 40 places is as likely, so the outermost has 2.5 %, not more.
TEST(ShiftIntervalTest, CutsOffExactlyItsTail) {
  Values many(39);
  std::iota(many.begin(), many.end(), 1);
  const auto shift = shift_interval(Values{0.5}, many);
  ASSERT_TRUE(shift.has_value());
  EXPECT_EQ(shift->low, 0.5);
  EXPECT_EQ(shift->high, 38.5);
  many.pop_back();
  EXPECT_FALSE(shift_interval(Values{0.5}, many).has_value());
}

}  // namespace
}  // namespace busbar::stats

// SPDX-License-Identifier: BSD-3-Clause
#include "stats/histogram.hpp"

#include <limits>
#include <vector>

#include <gtest/gtest.h>

namespace busbar {
namespace {

// log 4 is exactly twice log 2: the slowest of 101 values takes half of the axis, and no more. At
// 3.9 it takes less than half, though more than half of what is above 1.1.
TEST(Histogram, ShowsTheSlowestHundredthThatTakesJustHalfOfTheAxis) {
  std::vector<double> values(50, 1.0);
  values.insert(values.end(), 49, 1.1);
  values.insert(values.end(), {2, 4});
  EXPECT_EQ(log_histogram(values).beyond, 0U);
  values.back() = 3.9;
  EXPECT_EQ(log_histogram(values).beyond, 0U);
  values.back() = 4.1;
  EXPECT_EQ(log_histogram(values).beyond, 1U);
}

TEST(Histogram, IsOneBinOfEqualValuesAndNothingOfImpossibleOnes) {
  const Histogram equal = log_histogram(std::vector<double>(40, 7.0));
  EXPECT_EQ(equal.share, std::vector<double>{1});
  EXPECT_LT(equal.edges.front(), 7);
  EXPECT_GT(equal.edges.back(), 7);
  EXPECT_NEAR(equal.edges.front() + equal.edges.back(), 14, 1e-12);  // 7 is in the middle
  EXPECT_TRUE(log_histogram({}).edges.empty());
  EXPECT_TRUE(log_histogram(std::vector<double>{1, 0}).edges.empty());
  EXPECT_TRUE(
      log_histogram(std::vector<double>{1, std::numeric_limits<double>::infinity()}).edges.empty());
}

}  // namespace
}  // namespace busbar

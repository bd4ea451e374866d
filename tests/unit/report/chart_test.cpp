// SPDX-License-Identifier: BSD-3-Clause
#include "report/chart.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace busbar {
namespace {

using Curves = std::vector<ChartRange>;

TEST(LogAxis, IsChosenWherePeaksDifferByMoreThanThirtyTimes) {
  EXPECT_FALSE(log_axis_low(Curves{{1, 10}, {1, 290}}));
  EXPECT_TRUE(log_axis_low(Curves{{1, 10}, {1, 310}}));
  EXPECT_FALSE(log_axis_low(Curves{{1, 10}, {1, 310}}, false));
  EXPECT_TRUE(log_axis_low(Curves{{1, 10}}, true));
  EXPECT_FALSE(log_axis_low(Curves{}, true));
}

TEST(LogAxis, BeginsAtTheLowestRateOrAtAThreeHundredthOfTheLowestPeak) {
  EXPECT_DOUBLE_EQ(*log_axis_low(Curves{{1, 10}, {2, 400}}), 1);
  EXPECT_DOUBLE_EQ(*log_axis_low(Curves{{0.0001, 3}, {2, 400}}), 0.01);
}

}  // namespace
}  // namespace busbar

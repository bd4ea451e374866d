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

TEST(SizeTicks, AreNamedAWholePowerOfTwoApart) {
  const std::vector<ChartTick> ticks = size_ticks({.low = 1024 / 1.25, .high = 65536 * 1.25}, 4);
  ASSERT_EQ(ticks.size(), 7U);
  EXPECT_EQ(ticks.front().name, "1 KiB");
  EXPECT_TRUE(ticks[1].minor);
  EXPECT_EQ(ticks[2].name, "4 KiB");
  EXPECT_DOUBLE_EQ(ticks.back().at, 65536);
}

TEST(LogTicks, NameDecadesAlsoTwoAndFiveOfFew) {
  const auto names_of = [](double low, double high) {
    std::string names;
    for (const ChartTick& tick : log_ticks({.low = low, .high = high})) {
      if (!tick.minor) names += tick.name + ' ';
    }
    return names;
  };
  EXPECT_EQ(names_of(0.1, 10), "0.1 0.2 0.5 1 2 5 10 ");
  EXPECT_EQ(names_of(0.1, 1000), "0.1 1 10 100 1000 ");
}

TEST(NameTicks, LeaveOutEmptyNamesAndShortenLongOnes) {
  const std::vector<ChartTick> ticks = name_ticks({.names = {"", std::string(50, 'x'), "b"}});
  ASSERT_EQ(ticks.size(), 2U);
  EXPECT_EQ(ticks[0].name, std::string(36, 'x') + "…");
  EXPECT_DOUBLE_EQ(ticks[1].at, 2);
}

}  // namespace
}  // namespace busbar

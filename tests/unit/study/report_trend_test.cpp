// SPDX-License-Identifier: BSD-3-Clause
#include "study/report_trend.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace busbar {
namespace {

Trend of(const std::vector<double>& rates) { return trend_of(rates); }

TEST(Trend, OfThePapersSystems) {
  EXPECT_EQ(of({120, 121, 119, 117}), Trend::Flat);  // DGX-2 at 2, 4, 8, 16
  EXPECT_EQ(of({20, 80, 130}), Trend::Rising);       // P3 at 2, 4, 8
  EXPECT_EQ(of({70, 30}), Trend::Falling);           // AC922 at 2, 4
}

TEST(Trend, IsFlatUpToFivePercentOfTheGreatest) {
  EXPECT_EQ(of({100, 95}), Trend::Flat);
  EXPECT_EQ(of({100, 94.9}), Trend::Falling);
  EXPECT_EQ(of({94.9, 100}), Trend::Rising);
}

TEST(Trend, IsMixedWhereItGoesBothWays) {
  EXPECT_EQ(of({50, 25, 100}), Trend::Mixed);
  EXPECT_EQ(of({50, 100, 50}), Trend::Mixed);
}

TEST(Trend, NeedsTwoNumbersOfRanks) {
  EXPECT_EQ(of({}), Trend::None);
  EXPECT_EQ(of({5}), Trend::None);
  EXPECT_EQ(name(Trend::None), "");
  EXPECT_EQ(name(Trend::Mixed), "mixed");
}

TEST(Spread, IsOfTheGreatest) {
  EXPECT_DOUBLE_EQ(spread_of(std::vector<double>{80, 100, 90}), 0.2);
  EXPECT_DOUBLE_EQ(spread_of(std::vector<double>{3}), 0);
}

}  // namespace
}  // namespace busbar

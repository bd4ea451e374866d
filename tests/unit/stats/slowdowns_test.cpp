// SPDX-License-Identifier: BSD-3-Clause
#include "stats/slowdowns.hpp"

#include <array>
#include <vector>

#include <gtest/gtest.h>

namespace busbar::stats {
namespace {

std::vector<double> rates(std::size_t count) {
  constexpr std::array kPattern{50.0, 50.2, 49.9, 50.1, 49.8};
  std::vector<double> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(kPattern.at(i * i % kPattern.size()));
  return all;
}

std::vector<double> with(std::vector<double> all, std::size_t from, std::size_t to, double factor) {
  for (std::size_t i = from; i < to; ++i) all[i] *= factor;
  return all;
}

TEST(Slowdowns, OfTwoTenthsOfASecondAreDipsWithDepthAndRecovery) {
  const SlowdownScan scan = find_slowdowns(with(rates(300), 100, 102, 0.5));
  ASSERT_EQ(scan.slowdowns.size(), 1U);
  const Slowdown& dip = scan.slowdowns[0];
  EXPECT_TRUE(dip.is_dip());
  EXPECT_EQ(dip.at, 100U);
  EXPECT_EQ(dip.length, 2U);
  EXPECT_DOUBLE_EQ(dip.before, 50);
  EXPECT_NEAR(dip.lowest, 25, 0.1);
  EXPECT_EQ(dip.tolerance, 0.02);
  EXPECT_EQ(dip.recovery, 2U);
  EXPECT_EQ(dip.held, true);
  EXPECT_NEAR(dip.settled, 50, 0.1);
  EXPECT_NEAR(scan.least, 0.2, 1e-12);
}

TEST(Slowdowns, OfMoreThan15ValuesAreNoDips) {
  EXPECT_TRUE(find_slowdowns(with(rates(300), 100, 115, 0.5)).slowdowns.at(0).is_dip());
  const SlowdownScan scan = find_slowdowns(with(rates(300), 100, 116, 0.5));
  EXPECT_FALSE(scan.slowdowns.at(0).is_dip());
  EXPECT_EQ(scan.slowdowns.at(0).recovery, 16U);
}

TEST(Slowdowns, OfLessThanAFifthOrOnShortRunsAreNone) {
  EXPECT_TRUE(find_slowdowns(with(rates(300), 100, 102, 0.81)).slowdowns.empty());
  EXPECT_EQ(find_slowdowns(rates(59)).needed, 60U);
  EXPECT_EQ(find_slowdowns(rates(60)).needed, 0U);
}

TEST(Slowdowns, OfAVariableRunMustBeDeeper) {
  std::vector<double> wild = rates(300);
  for (std::size_t i = 0; i < wild.size(); ++i) wild[i] *= 1 + 0.04 * static_cast<double>(i % 7);
  const SlowdownScan scan = find_slowdowns(with(wild, 100, 102, 0.7));
  EXPECT_TRUE(scan.slowdowns.empty());
  EXPECT_GT(scan.least, 0.4);
}

TEST(Recovery, IsNotBeforeARelapseEnds) {
  const auto flap = with(with(rates(600), 200, 220, 0.4), 225, 240, 0.4);
  EXPECT_EQ(find_slowdowns(flap).slowdowns.at(0).recovery, 40U);
}

TEST(Recovery, IsNoneAtALowerRateOrWhereTheRunEnds) {
  const SlowdownScan lower = find_slowdowns(with(with(rates(600), 200, 220, 0.4), 220, 600, 0.96));
  ASSERT_EQ(lower.slowdowns.size(), 1U);
  EXPECT_FALSE(lower.slowdowns[0].recovery);
  EXPECT_NEAR(lower.slowdowns[0].settled / lower.slowdowns[0].before, 0.96, 0.002);
  EXPECT_FALSE(find_slowdowns(with(rates(230), 200, 220, 0.4)).slowdowns.at(0).recovery);
  const auto ended = find_slowdowns(with(rates(300), 200, 220, 0.4));
  EXPECT_EQ(ended.slowdowns.at(0).recovery, 20U);
  EXPECT_FALSE(ended.slowdowns.at(0).held);
}

TEST(Recovery, ThatDoesNotHoldForTenSecondsSaysSo) {
  const auto flap = with(with(rates(600), 200, 220, 0.4), 245, 600, 0.9);
  EXPECT_EQ(find_slowdowns(flap).slowdowns.at(0).recovery, 20U);
  EXPECT_EQ(find_slowdowns(flap).slowdowns.at(0).held, false);
}

TEST(EventPeriods, AreOfAtLeastFourEventsThatKeepTime) {
  const auto period = find_period(std::array<std::size_t, 5>{100, 700, 1301, 1900, 2500});
  ASSERT_TRUE(period);
  EXPECT_EQ(period->length, 600);
  EXPECT_EQ(period->on_time, 4U);
  EXPECT_EQ(period->gaps, 4U);
  const auto one_missing = find_period(std::array<std::size_t, 6>{0, 600, 1200, 2400, 3000, 3600});
  EXPECT_EQ(one_missing->on_time, 4U);
  EXPECT_EQ(one_missing->gaps, 5U);
  EXPECT_FALSE(find_period(std::array<std::size_t, 3>{0, 600, 1200}));
  EXPECT_FALSE(find_period(std::array<std::size_t, 6>{0, 130, 600, 640, 1400, 1500}));
  EXPECT_FALSE(find_period(std::array<std::size_t, 4>{7, 7, 7, 7}));
}

}  // namespace
}  // namespace busbar::stats

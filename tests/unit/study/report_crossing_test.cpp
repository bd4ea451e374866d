// SPDX-License-Identifier: BSD-3-Clause
#include "study/report_crossing.hpp"

#include <gtest/gtest.h>

namespace busbar {
namespace {

using Curve = std::vector<SizedRate>;

std::vector<Crossing> crossings(const std::vector<Curve>& curves, double level = kLevel) {
  return busbar::crossings(std::span<const Curve>(curves), level);
}

TEST(Crossings, LieBetweenTheLastSizeOfTheOldLeaderAndTheFirstOfTheNew) {
  // the broadcast of arXiv 1905.08764, figure 2: P3 passes DGX-2 beyond 256 MB
  const Curve p3{
      {64 * kMiB, 90}, {128 * kMiB, 104}, {256 * kMiB, 112}, {512 * kMiB, 124}, {kGiB, 128}};
  const Curve dgx2{
      {64 * kMiB, 110}, {128 * kMiB, 114}, {256 * kMiB, 117}, {512 * kMiB, 118}, {kGiB, 119}};
  const std::vector<Crossing> found = crossings({p3, dgx2});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].after, 256 * kMiB);
  EXPECT_EQ(found[0].until, 512 * kMiB);
  EXPECT_EQ(found[0].winner, 0U);
  const std::vector<Crossing> turned = crossings({dgx2, p3});
  ASSERT_EQ(turned.size(), 1U);
  EXPECT_EQ(turned[0].winner, 1U);
}

TEST(Crossings, AreNoneWhereOneAlwaysLeads) {
  EXPECT_TRUE(crossings({Curve{{1, 2}, {2, 3}}, Curve{{1, 1}, {2, 2}}}).empty());
  EXPECT_TRUE(crossings({Curve{}, Curve{{1, 1}}}).empty());
}

TEST(Crossings, WidenOverSizesAtWhichBothAreLevel) {
  const Curve rising{{1, 10}, {2, 20}, {4, 30.1}, {8, 50}};
  const Curve even{{1, 30}, {2, 30}, {4, 30}, {8, 30}};
  const std::vector<Crossing> found = crossings({rising, even});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].after, 2U);
  EXPECT_EQ(found[0].until, 8U);
  // without a margin the lead passes at 4
  EXPECT_EQ(crossings({rising, even}, 0)[0].until, 4U);
}

TEST(Crossings, UseSizesOfBothOnly) {
  const Curve one{{1, 10}, {2, 99}, {4, 10}};
  const Curve other{{1, 20}, {4, 20}};
  EXPECT_TRUE(crossings({one, other}).empty());
}

TEST(Crossings, MayBeSeveral) {
  const Curve one{{1, 10}, {2, 30}, {4, 10}};
  const Curve other{{1, 20}, {2, 20}, {4, 20}};
  const std::vector<Crossing> found = crossings({one, other});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].winner, 0U);
  EXPECT_EQ(found[1].winner, 1U);
}

TEST(Crossings, AreOfTheLeadAndNotOfThePlacesBehindIt) {
  const Curve first{{1, 90}, {2, 90}, {4, 90}};
  const Curve second{{1, 10}, {2, 20}, {4, 95}};
  const Curve third{{1, 20}, {2, 10}, {4, 10}};
  const std::vector<Crossing> found = crossings({first, second, third});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].loser, 0U);
  EXPECT_EQ(found[0].winner, 1U);
}

TEST(Crossings, AreNotSeenAtSizesThatTheLeaderLacks) {
  const Curve one{{1, 90}, {4, 90}};
  const Curve other{{1, 10}, {2, 20}, {4, 10}};
  const Curve single{{2, 99}};
  EXPECT_TRUE(crossings({one, other, single}).empty());
}

TEST(Crossings, AreOfCurvesThatBeginBesideAnother) {
  const Curve alone{{1, 10}};
  const Curve even{{2, 20}, {4, 20}};
  const Curve rising{{2, 10}, {4, 30}};
  const std::vector<Crossing> found = crossings({alone, even, rising});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].loser, 1U);
  EXPECT_EQ(found[0].winner, 2U);
  EXPECT_EQ(found[0].after, 2U);
  EXPECT_EQ(found[0].until, 4U);
}

TEST(Leader, IsNobodyWithinTwoPercent) {
  EXPECT_EQ(leader(100, 98.5), 0);
  EXPECT_EQ(leader(100, 97.5), 1);
  EXPECT_EQ(leader(97.5, 100), -1);
  EXPECT_EQ(leader(0, 0), 0);
  // two percent are of the greater: 2 of 100, not 1.96 of 98.02; and exactly two are not more
  EXPECT_EQ(leader(100, 98.02), 0);
  EXPECT_EQ(leader(98.02, 100), 0);
  EXPECT_EQ(leader(100, 98), 0);
  EXPECT_EQ(leader(98, 100), 0);
  EXPECT_EQ(leader(100, 97.98), 1);
}

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "harness/mix_schedule.hpp"

#include <algorithm>
#include <random>
#include <set>

#include <gtest/gtest.h>

namespace busbar {
namespace {

TEST(OrderOfIssue, IsByTheTimeAtWhichOperationsAreDue) {
  const std::vector<GroupPace> paces{{.time_us = 30, .operations = 2},
                                     {},
                                     {.start_us = 5, .gap_us = 4, .time_us = 6, .operations = 4}};
  // Due at 0 and 30, and at 5, 15, 25, 35.
  EXPECT_EQ(order_of_issue(paces),
            (std::vector<Issue>{{0, 0}, {2, 0}, {2, 1}, {2, 2}, {0, 1}, {2, 3}}));
}

TEST(OrderOfIssue, HasEachOperationOnceAndInTurnWhereAllAreDueAtOnce) {
  const std::vector<GroupPace> paces{{.operations = 2}, {.operations = 1}};
  EXPECT_EQ(order_of_issue(paces), (std::vector<Issue>{{0, 0}, {0, 1}, {1, 0}}));
}

/// Ranks that block in each operation until all ranks of its group are in it: whether all end.
bool all_end(const std::vector<std::vector<Issue>>& orders,
             const std::vector<std::set<std::size_t>>& ranks_of_group) {
  std::vector<std::size_t> next(orders.size());
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t group = 0; group < ranks_of_group.size(); ++group) {
      const auto& ranks = ranks_of_group[group];
      const bool ready = std::ranges::all_of(ranks, [&](std::size_t rank) {
        return next[rank] < orders[rank].size() && orders[rank][next[rank]].group == group;
      });
      if (!ready) continue;
      moved = true;
      for (const std::size_t rank : ranks) ++next[rank];
    }
  }
  for (std::size_t rank = 0; rank < orders.size(); ++rank) {
    if (next[rank] < orders[rank].size()) return false;
  }
  return true;
}

TEST(OrderOfIssue, EndsAlsoWhereEveryOperationBlocks) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<GroupPace> paces(4);
    std::vector<std::set<std::size_t>> ranks_of_group(paces.size());
    for (std::size_t group = 0; group < paces.size(); ++group) {
      paces[group] = {.start_us = static_cast<double>(random() % 50),
                      .gap_us = static_cast<double>(random() % 9),
                      .time_us = static_cast<double>(random() % 9),
                      .operations = 1 + random() % 20};
      while (ranks_of_group[group].size() < 3) ranks_of_group[group].insert(random() % 6);
    }
    std::vector<std::vector<Issue>> orders(6);
    for (std::size_t rank = 0; rank < orders.size(); ++rank) {
      for (const Issue& issue : order_of_issue(paces)) {
        if (ranks_of_group[issue.group].contains(rank)) orders[rank].push_back(issue);
      }
    }
    EXPECT_TRUE(all_end(orders, ranks_of_group)) << trial;
  }
  // Opposite orders do not.
  EXPECT_FALSE(all_end({{{0, 0}, {1, 0}}, {{1, 0}, {0, 0}}}, {{0, 1}, {0, 1}}));
}

TEST(GroupPace, FitsAtLeastFiveOperationsIntoAWindow) {
  EXPECT_EQ((GroupPace{.gap_us = 5, .time_us = 20}.that_fit(1000)), 40U);
  EXPECT_EQ((GroupPace{.time_us = 20}.that_fit(50)), 5U);
  EXPECT_EQ((GroupPace{.time_us = 1}.that_fit(1e6)), 2000U);
  EXPECT_EQ(GroupPace{}.that_fit(1e6), 5U);
}

TEST(SharedTimes, AreOfOperationsWhileAllGroupsWereAtWork) {
  const std::vector<GroupTimes> groups{{.start_us = {0, 10, 20, 30}, .time_us = {9, 8, 7, 6}},
                                       {.start_us = {12, 17}, .time_us = {4, 5}}};
  // All are at work from 12 to 22.
  EXPECT_EQ(shared_times(groups), (std::vector<std::vector<double>>{{8}, {4, 5}}));
  // One is over before the other begins.
  const std::vector<GroupTimes> apart{{.start_us = {0}, .time_us = {5}},
                                      {.start_us = {50}, .time_us = {6}}};
  EXPECT_EQ(shared_times(apart), (std::vector<std::vector<double>>{{5}, {6}}));
}

TEST(MixSlowdown, IsTheMedianOfTheVisitsRatios) {
  const std::vector<double> alone{10, 20, 10, 10, 20, 10, 10, 10};
  // 2, 2.05, 2.1, 1.9, 2.1, 2, 2.2, 2: the textbook's interval is from the first to the last.
  const MixSlowdown slower =
      slowdown_of(alone, std::vector<double>{20, 41, 21, 19, 42, 20, 22, 20});
  EXPECT_NEAR(slower.factor, 2.025, 1e-9);
  EXPECT_NEAR(slower.low, 1.9, 1e-9);
  EXPECT_NEAR(slower.high, 2.2, 1e-9);
  // Of 12, the third and the tenth.
  const std::vector<double> ones(12, 1);
  const std::vector<double> ratios{12, 1, 11, 2, 10, 3, 9, 4, 8, 5, 7, 6};
  EXPECT_EQ(slowdown_of(ones, ratios).low, 3);
  EXPECT_EQ(slowdown_of(ones, ratios).high, 10);
}

}  // namespace
}  // namespace busbar

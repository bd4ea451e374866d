// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/sets.hpp"

#include <gtest/gtest.h>

namespace busbar::topo {
namespace {

TEST(CountSets, IsTheBinomialCoefficient) {
  EXPECT_EQ(count_sets(8, 4), 70U);
  EXPECT_EQ(count_sets(16, 8), 12870U);
  EXPECT_EQ(count_sets(5, 0), 1U);
  EXPECT_EQ(count_sets(5, 5), 1U);
  EXPECT_EQ(count_sets(3, 5), 0U);
  EXPECT_EQ(count_sets(67, 33), 14226520737620288370U);  // the last row that fits
}

TEST(CountSets, StopsAtWhatSixtyFourBitsHold) {
  EXPECT_EQ(count_sets(72, 36), kManySets);
  EXPECT_EQ(count_sets(72, 3), 59640U);
  EXPECT_NEAR(about_sets(72, 36) / 442512540276836779204.0, 1, 1e-14);
  EXPECT_EQ(add_counts(kManySets, 1), kManySets);
  EXPECT_EQ(add_counts(kManySets - 1, 1), kManySets);
  EXPECT_EQ(multiply_counts(kManySets, 0), 0U);
  EXPECT_EQ(multiply_counts(std::uint64_t{1} << 40U, std::uint64_t{1} << 40U), kManySets);
}

TEST(CountSets, AreToldInWords) {
  EXPECT_EQ(counted_sets(1), "1 set");
  EXPECT_EQ(counted_sets(70), "70 sets");
  EXPECT_EQ(counted_sets(kManySets), "more than 1.8e19 sets");
}

TEST(AllSets, ComeInLexicographicOrder) {
  const std::vector<int> pool{1, 4, 5, 7};
  EXPECT_EQ(all_sets(pool, 2),
            (std::vector<DeviceSet>{{1, 4}, {1, 5}, {1, 7}, {4, 5}, {4, 7}, {5, 7}}));
  EXPECT_EQ(all_sets(pool, 4), (std::vector<DeviceSet>{{1, 4, 5, 7}}));
  EXPECT_EQ(all_sets(pool, 0), (std::vector<DeviceSet>{{}}));
  EXPECT_TRUE(all_sets(pool, 5).empty());
}

TEST(AllSets, AreAsManyAsCounted) {
  const std::vector<int> pool{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  for (std::size_t k = 0; k <= pool.size(); ++k) {
    EXPECT_EQ(all_sets(pool, k).size(), count_sets(pool.size(), k));
  }
}

TEST(DescribeSet, IsInBraces) { EXPECT_EQ(describe_set(std::vector<int>{0, 3}), "{0,3}"); }

}  // namespace
}  // namespace busbar::topo

// SPDX-License-Identifier: BSD-3-Clause
#include "model/collective.hpp"

#include <gtest/gtest.h>

namespace busbar {
namespace {

TEST(SameEverywhere, RoundsDownToWholeElements) {
  const Footprint footprint = same_everywhere(1027, 8, 4);
  EXPECT_EQ(footprint.size, 1024U);
  EXPECT_EQ(footprint.send, 1024U);
  EXPECT_EQ(footprint.recv, 1024U);
  EXPECT_EQ(footprint.count, 128U);
}

TEST(SameEverywhere, HasNoElementsBelowOne) { EXPECT_EQ(same_everywhere(7, 8, 4).count, 0U); }

TEST(CountPerRank, IsAMultipleOfSixteenBytes) {
  EXPECT_EQ(count_per_rank(1048576, 4, 4), 65536U);
  EXPECT_EQ(count_per_rank(1048576, 4, 3), 87380U);  // 349525 bytes each, rounded down to 349520
  EXPECT_EQ(count_per_rank(63, 1, 4), 0U);
  EXPECT_EQ(count_per_rank(64, 1, 4), 16U);
}

TEST(AllButOwnPart, IsTheShareThatCrossesTheBus) {
  EXPECT_DOUBLE_EQ(all_but_own_part(1), 0);
  EXPECT_DOUBLE_EQ(all_but_own_part(2), 0.5);
  EXPECT_DOUBLE_EQ(all_but_own_part(4), 0.75);
}

TEST(SamePlace, HasNoOffsets) {
  EXPECT_EQ(same_place(1000, 3).send_offset, 0U);
  EXPECT_EQ(same_place(1000, 3).recv_offset, 0U);
}

TEST(RegisteredCollectives, ComeInTheOrderOfTheirNames) {
  const auto collectives = registered_collectives();
  for (std::size_t i = 1; i < collectives.size(); ++i) {
    EXPECT_LT(collectives[i - 1]->name, collectives[i]->name);
  }
}

}  // namespace
}  // namespace busbar

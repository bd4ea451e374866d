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

TEST(PartsToWhole, SendsAPartAndReceivesAll) {
  const Footprint footprint = parts_to_whole(1048576, 4, 3);
  EXPECT_EQ(footprint.count, 87380U);
  EXPECT_EQ(footprint.send, 349520U);
  EXPECT_EQ(footprint.recv, 1048560U);
  EXPECT_EQ(footprint.size, 1048560U);
}

TEST(WholeToParts, SendsAllAndReceivesAPart) {
  const Footprint footprint = whole_to_parts(1048576, 4, 3);
  EXPECT_EQ(footprint.count, 87380U);
  EXPECT_EQ(footprint.send, 1048560U);
  EXPECT_EQ(footprint.recv, 349520U);
  EXPECT_EQ(footprint.size, 1048560U);
}

TEST(OwnPart, BeginsAfterThoseOfLowerRanks) {
  EXPECT_EQ(send_own_part(100, 3).send_offset, 300U);
  EXPECT_EQ(send_own_part(100, 3).recv_offset, 0U);
  EXPECT_EQ(receive_own_part(100, 3).send_offset, 0U);
  EXPECT_EQ(receive_own_part(100, 3).recv_offset, 300U);
}

TEST(OnePartPerRank, HasAPieceOfEachRankInOrder) {
  const auto pieces = one_part_per_rank(10, 2, 40);
  ASSERT_EQ(pieces.size(), 2U);
  EXPECT_EQ(pieces[1].first, 10U);
  EXPECT_EQ(pieces[1].count, 10U);
  EXPECT_EQ(pieces[1].source, 1);
  EXPECT_EQ(pieces[1].source_first, 40U);
}

TEST(Once, IsNothingForOneRank) {
  EXPECT_EQ(once(1), 0);
  EXPECT_EQ(once(2), 1);
}

TEST(LeastWork, OfAWholeAtAllRanksIsACopyForEach) {
  EXPECT_DOUBLE_EQ(whole_at_all(4, false).copied, 4);
  EXPECT_DOUBLE_EQ(whole_at_all(4, true).copied, 3);
  EXPECT_DOUBLE_EQ(whole_at_all(4, false).touched, 5);
  EXPECT_DOUBLE_EQ(whole_at_all(4, true).touched, 4);
  EXPECT_DOUBLE_EQ(whole_at_all(4, false).reduced, 0);
}

TEST(LeastWork, OfPartsAtOneRankIsOneCopy) {
  EXPECT_DOUBLE_EQ(parts_at_one(4, false).copied, 1);
  EXPECT_DOUBLE_EQ(parts_at_one(4, true).copied, 0.75);
  EXPECT_DOUBLE_EQ(parts_at_one(4, false).touched, 2);
  EXPECT_DOUBLE_EQ(parts_at_one(4, true).touched, 1.75);
}

TEST(LeastWork, OfOneFromAllIsAnAdditionLessThanRanks) {
  EXPECT_DOUBLE_EQ(one_of_all(4, false).reduced, 3);
  EXPECT_DOUBLE_EQ(one_of_all(4, false).copied, 0);
  EXPECT_DOUBLE_EQ(one_of_all(4, false).touched, 5);
  EXPECT_DOUBLE_EQ(one_of_all(4, true).touched, 4);
}

TEST(RegisteredCollectives, ComeInTheOrderOfTheirNames) {
  const auto collectives = registered_collectives();
  for (std::size_t i = 1; i < collectives.size(); ++i) {
    EXPECT_LT(collectives[i - 1]->name, collectives[i]->name);
  }
}

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
// Numbers of nccl-tests' table: the size at each rank, count of all elements, bus factor 1.
#include <gtest/gtest.h>

#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

const Collective& broadcast() { return test::collective("broadcast"); }

TEST(Broadcast, IsNamedAsInNcclTests) {
  EXPECT_EQ(broadcast().nccl_name, "broadcast");
  EXPECT_EQ(broadcast().title, "broadcast");
}

TEST(Broadcast, MovesDataFromARootElementByElement) {
  EXPECT_FALSE(broadcast().reduces);
  EXPECT_TRUE(broadcast().rooted);
  EXPECT_TRUE(broadcast().elementwise);
}

TEST(Broadcast, HasItsWholeSizeAtEachRank) {
  const Footprint footprint = broadcast().footprint(1048583, 4, 3);
  EXPECT_EQ(footprint.size, 1048580U);
  EXPECT_EQ(footprint.send, 1048580U);
  EXPECT_EQ(footprint.recv, 1048580U);
  EXPECT_EQ(footprint.count, 262145U);
}

TEST(Broadcast, HasBusFactorOne) {
  EXPECT_DOUBLE_EQ(broadcast().bus_factor(2), 1);
  EXPECT_DOUBLE_EQ(broadcast().bus_factor(16), 1);
}

TEST(Broadcast, WorksInPlaceWithoutOffsets) {
  EXPECT_EQ(broadcast().in_place(100, 3).send_offset, 0U);
  EXPECT_EQ(broadcast().in_place(100, 3).recv_offset, 0U);
}

TEST(Broadcast, GivesEveryRankWhatTheRootSends) {
  for (const int rank : {0, 2, 3}) {
    const auto pieces = broadcast().expected(100, {.rank = rank, .ranks = 4, .root = 2});
    ASSERT_EQ(pieces.size(), 1U);
    EXPECT_EQ(pieces[0].first, 0U);
    EXPECT_EQ(pieces[0].count, 100U);
    EXPECT_EQ(pieces[0].source, 2);
    EXPECT_EQ(pieces[0].source_first, 0U);
  }
}

}  // namespace
}  // namespace busbar

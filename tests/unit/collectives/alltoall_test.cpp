// SPDX-License-Identifier: BSD-3-Clause
// Numbers of nccl-tests' table: the size is what a rank sends in all, and receives; the count is
// for each other rank, rounded down to 16 bytes; bus factor (n-1)/n.
#include <gtest/gtest.h>

#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

const Collective& alltoall() { return test::collective("alltoall"); }

TEST(AllToAll, IsNamedAsInNcclTests) {
  EXPECT_EQ(alltoall().nccl_name, "alltoall");
  EXPECT_EQ(alltoall().title, "all-to-all");
}

TEST(AllToAll, MovesDataWithoutARootAndCannotBeSegmented) {
  EXPECT_FALSE(alltoall().reduces);
  EXPECT_FALSE(alltoall().rooted);
  EXPECT_FALSE(alltoall().elementwise);
  EXPECT_EQ(alltoall().peers, nullptr);
}

TEST(AllToAll, SendsAndReceivesItsSizeInPartsForEachRank) {
  const Footprint footprint = alltoall().footprint(1000, 4, 3);
  EXPECT_EQ(footprint.count, 80U);  // 333 bytes each, rounded down to 320
  EXPECT_EQ(footprint.send, 960U);
  EXPECT_EQ(footprint.recv, 960U);
  EXPECT_EQ(footprint.size, 960U);
  EXPECT_EQ(alltoall().footprint(47, 1, 3).count, 0U);
}

TEST(AllToAll, HasTheShareOfTheOthersAsBusFactor) {
  EXPECT_DOUBLE_EQ(alltoall().bus_factor(2), 0.5);
  EXPECT_DOUBLE_EQ(alltoall().bus_factor(8), 0.875);
}

TEST(AllToAll, WorksInPlaceWithoutOffsets) {
  EXPECT_EQ(alltoall().in_place(100, 3).send_offset, 0U);
  EXPECT_EQ(alltoall().in_place(100, 3).recv_offset, 0U);
}

TEST(AllToAll, GivesEveryRankItsPartOfWhatEachRankSends) {
  const auto pieces = alltoall().expected(100, {.rank = 2, .ranks = 4});
  ASSERT_EQ(pieces.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(pieces[i].first, 100 * i);
    EXPECT_EQ(pieces[i].count, 100U);
    EXPECT_EQ(pieces[i].source, static_cast<int>(i));
    EXPECT_EQ(pieces[i].source_first, 200U);
  }
}

}  // namespace
}  // namespace busbar

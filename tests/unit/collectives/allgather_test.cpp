// SPDX-License-Identifier: BSD-3-Clause
// Numbers of nccl-tests' table: the size is what a rank receives in all, the count what it sends,
// rounded down to 16 bytes, bus factor (n-1)/n.
#include <gtest/gtest.h>

#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

const Collective& allgather() { return test::collective("allgather"); }

TEST(AllGather, IsNamedAsInNcclTests) {
  EXPECT_EQ(allgather().nccl_name, "all_gather");
  EXPECT_EQ(allgather().title, "all-gather");
}

TEST(AllGather, MovesDataWithoutARootAndCannotBeSegmented) {
  EXPECT_FALSE(allgather().reduces);
  EXPECT_FALSE(allgather().rooted);
  EXPECT_FALSE(allgather().elementwise);
}

TEST(AllGather, ReceivesItsSizeAndSendsARanksPartOfIt) {
  const Footprint footprint = allgather().footprint(1048576, 4, 4);
  EXPECT_EQ(footprint.size, 1048576U);
  EXPECT_EQ(footprint.send, 262144U);
  EXPECT_EQ(footprint.recv, 1048576U);
  EXPECT_EQ(footprint.count, 65536U);
}

TEST(AllGather, RoundsEachPartDownToSixteenBytes) {
  const Footprint footprint = allgather().footprint(8589934592, 4, 12);
  EXPECT_EQ(footprint.size, 8589934464U);
  EXPECT_EQ(footprint.count, 178956968U);
  EXPECT_EQ(allgather().footprint(64, 4, 12).count, 0U);
  EXPECT_EQ(allgather().footprint(192, 4, 12).size, 192U);
}

TEST(AllGather, HasTheShareOfTheOthersAsBusFactor) {
  EXPECT_DOUBLE_EQ(allgather().bus_factor(2), 0.5);
  EXPECT_DOUBLE_EQ(allgather().bus_factor(8), 0.875);
}

TEST(AllGather, SendsInPlaceFromItsOwnPart) {
  EXPECT_EQ(allgather().in_place(100, 0).send_offset, 0U);
  EXPECT_EQ(allgather().in_place(100, 3).send_offset, 300U);
  EXPECT_EQ(allgather().in_place(100, 3).recv_offset, 0U);
}

TEST(AllGather, GivesEveryRankTheBlocksOfAllInTheirOrder) {
  const auto pieces = allgather().expected(100, {.rank = 1, .ranks = 3});
  ASSERT_EQ(pieces.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(pieces[i].first, 100 * i);
    EXPECT_EQ(pieces[i].count, 100U);
    EXPECT_EQ(pieces[i].source, static_cast<int>(i));
    EXPECT_EQ(pieces[i].source_first, 0U);
  }
}

}  // namespace
}  // namespace busbar

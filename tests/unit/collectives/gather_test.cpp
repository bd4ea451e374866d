// SPDX-License-Identifier: BSD-3-Clause
// Numbers of nccl-tests' table: the size is what the root receives in all, the count what a rank
// sends, rounded down to 16 bytes, bus factor (n-1)/n.
#include <gtest/gtest.h>

#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

const Collective& gather() { return test::collective("gather"); }

TEST(Gather, IsNamedAsInNcclTests) {
  EXPECT_EQ(gather().nccl_name, "gather");
  EXPECT_EQ(gather().title, "gather");
}

TEST(Gather, MovesDataToARootAndCannotBeSegmented) {
  EXPECT_FALSE(gather().reduces);
  EXPECT_TRUE(gather().rooted);
  EXPECT_FALSE(gather().elementwise);
  EXPECT_EQ(gather().peers, nullptr);
}

TEST(Gather, ReceivesItsSizeAndSendsARanksPartOfIt) {
  const Footprint footprint = gather().footprint(1000, 4, 3);
  EXPECT_EQ(footprint.count, 80U);  // 333 bytes each, rounded down to 320
  EXPECT_EQ(footprint.send, 320U);
  EXPECT_EQ(footprint.recv, 960U);
  EXPECT_EQ(footprint.size, 960U);
  EXPECT_EQ(gather().footprint(47, 1, 3).count, 0U);
}

TEST(Gather, HasTheShareOfTheOthersAsBusFactor) {
  EXPECT_DOUBLE_EQ(gather().bus_factor(2), 0.5);
  EXPECT_DOUBLE_EQ(gather().bus_factor(16), 0.9375);
}

TEST(Gather, SendsInPlaceFromItsOwnPart) {
  EXPECT_EQ(gather().in_place(100, 3).send_offset, 300U);
  EXPECT_EQ(gather().in_place(100, 3).recv_offset, 0U);
}

TEST(Gather, GivesTheRootTheBlocksOfAllInTheirOrder) {
  const auto pieces = gather().expected(100, {.rank = 1, .ranks = 3, .root = 1});
  ASSERT_EQ(pieces.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(pieces[i].first, 100 * i);
    EXPECT_EQ(pieces[i].count, 100U);
    EXPECT_EQ(pieces[i].source, static_cast<int>(i));
    EXPECT_EQ(pieces[i].source_first, 0U);
  }
  EXPECT_TRUE(gather().expected(100, {.rank = 0, .ranks = 3, .root = 1}).empty());
}

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
// Numbers of nccl-tests' table: the size is what the root sends in all, the count what a rank
// receives, rounded down to 16 bytes, bus factor (n-1)/n.
#include <gtest/gtest.h>

#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

const Collective& scatter() { return test::collective("scatter"); }

TEST(Scatter, IsNamedAsInNcclTests) {
  EXPECT_EQ(scatter().nccl_name, "scatter");
  EXPECT_EQ(scatter().title, "scatter");
}

TEST(Scatter, MovesDataFromARootAndCannotBeSegmented) {
  EXPECT_FALSE(scatter().reduces);
  EXPECT_TRUE(scatter().rooted);
  EXPECT_FALSE(scatter().elementwise);
  EXPECT_EQ(scatter().peers, nullptr);
}

TEST(Scatter, SendsItsSizeAndReceivesARanksPartOfIt) {
  const Footprint footprint = scatter().footprint(1000, 4, 3);
  EXPECT_EQ(footprint.count, 80U);  // 333 bytes each, rounded down to 320
  EXPECT_EQ(footprint.send, 960U);
  EXPECT_EQ(footprint.recv, 320U);
  EXPECT_EQ(footprint.size, 960U);
  EXPECT_EQ(scatter().footprint(47, 1, 3).count, 0U);
}

TEST(Scatter, HasTheShareOfTheOthersAsBusFactor) {
  EXPECT_DOUBLE_EQ(scatter().bus_factor(2), 0.5);
  EXPECT_DOUBLE_EQ(scatter().bus_factor(16), 0.9375);
}

TEST(Scatter, ReceivesInPlaceAtItsOwnPart) {
  EXPECT_EQ(scatter().in_place(100, 3).send_offset, 0U);
  EXPECT_EQ(scatter().in_place(100, 3).recv_offset, 300U);
}

TEST(Scatter, GivesEveryRankItsPartOfWhatTheRootSends) {
  for (const int rank : {0, 2}) {
    const auto pieces = scatter().expected(100, {.rank = rank, .ranks = 3, .root = 1});
    ASSERT_EQ(pieces.size(), 1U);
    EXPECT_EQ(pieces[0].first, 0U);
    EXPECT_EQ(pieces[0].count, 100U);
    EXPECT_EQ(pieces[0].source, 1);
    EXPECT_EQ(pieces[0].source_first, static_cast<std::uint64_t>(rank) * 100);
  }
}

}  // namespace
}  // namespace busbar

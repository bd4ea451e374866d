// SPDX-License-Identifier: BSD-3-Clause
// Numbers of nccl-tests' table: the size is what a rank sends in all, the count what it receives,
// rounded down to 16 bytes, bus factor (n-1)/n.
#include <gtest/gtest.h>

#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

const Collective& reducescatter() { return test::collective("reducescatter"); }

TEST(ReduceScatter, IsNamedAsInNcclTests) {
  EXPECT_EQ(reducescatter().nccl_name, "reduce_scatter");
  EXPECT_EQ(reducescatter().title, "reduce-scatter");
}

TEST(ReduceScatter, ReducesWithoutARootAndCannotBeSegmented) {
  EXPECT_TRUE(reducescatter().reduces);
  EXPECT_FALSE(reducescatter().rooted);
  EXPECT_FALSE(reducescatter().elementwise);
}

TEST(ReduceScatter, SendsItsSizeAndReceivesARanksPartOfIt) {
  const Footprint footprint = reducescatter().footprint(1048576, 8, 4);
  EXPECT_EQ(footprint.size, 1048576U);
  EXPECT_EQ(footprint.send, 1048576U);
  EXPECT_EQ(footprint.recv, 262144U);
  EXPECT_EQ(footprint.count, 32768U);
}

TEST(ReduceScatter, RoundsEachPartDownToSixteenBytes) {
  const Footprint footprint = reducescatter().footprint(1000, 4, 3);
  EXPECT_EQ(footprint.count, 80U);  // 333 bytes each, rounded down to 320
  EXPECT_EQ(footprint.recv, 320U);
  EXPECT_EQ(footprint.send, 960U);
  EXPECT_EQ(footprint.size, 960U);
  EXPECT_EQ(reducescatter().footprint(47, 1, 3).count, 0U);
}

TEST(ReduceScatter, HasTheShareOfTheOthersAsBusFactor) {
  EXPECT_DOUBLE_EQ(reducescatter().bus_factor(2), 0.5);
  EXPECT_DOUBLE_EQ(reducescatter().bus_factor(16), 0.9375);
}

TEST(ReduceScatter, ReceivesInPlaceAtItsOwnPart) {
  EXPECT_EQ(reducescatter().in_place(100, 3).send_offset, 0U);
  EXPECT_EQ(reducescatter().in_place(100, 3).recv_offset, 300U);
}

TEST(ReduceScatter, GivesEveryRankItsPartOfTheReduction) {
  const auto pieces = reducescatter().expected(100, {.rank = 2, .ranks = 4});
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].first, 0U);
  EXPECT_EQ(pieces[0].count, 100U);
  EXPECT_EQ(pieces[0].source, kAllRanks);
  EXPECT_EQ(pieces[0].source_first, 200U);
}

}  // namespace
}  // namespace busbar

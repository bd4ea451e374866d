// SPDX-License-Identifier: BSD-3-Clause
// Numbers of nccl-tests' table: send = receive = size, count of all elements, bus factor 2(n-1)/n.
#include <gtest/gtest.h>

#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

const Collective& allreduce() { return test::collective("allreduce"); }

TEST(AllReduce, IsNamedAsInNcclTests) {
  EXPECT_EQ(allreduce().nccl_name, "all_reduce");
  EXPECT_EQ(allreduce().title, "all-reduce");
}

TEST(AllReduce, ReducesWithoutARootElementByElement) {
  EXPECT_TRUE(allreduce().reduces);
  EXPECT_FALSE(allreduce().rooted);
  EXPECT_TRUE(allreduce().elementwise);
}

TEST(AllReduce, SendsAndReceivesItsWholeSize) {
  const Footprint footprint = allreduce().footprint(33554432, 4, 8);
  EXPECT_EQ(footprint.size, 33554432U);
  EXPECT_EQ(footprint.send, 33554432U);
  EXPECT_EQ(footprint.recv, 33554432U);
  EXPECT_EQ(footprint.count, 8388608U);
}

TEST(AllReduce, RoundsDownToWholeElements) {
  EXPECT_EQ(allreduce().footprint(1000001, 8, 3).size, 1000000U);
  EXPECT_EQ(allreduce().footprint(1000001, 8, 3).count, 125000U);
  EXPECT_EQ(allreduce().footprint(3, 4, 3).count, 0U);
}

TEST(AllReduce, HasTwiceTheShareOfTheOthersAsBusFactor) {
  EXPECT_DOUBLE_EQ(allreduce().bus_factor(2), 1.0);
  EXPECT_DOUBLE_EQ(allreduce().bus_factor(4), 1.5);
  EXPECT_DOUBLE_EQ(allreduce().bus_factor(8), 1.75);
  EXPECT_DOUBLE_EQ(allreduce().bus_factor(16), 1.875);
}

TEST(AllReduce, WorksInPlaceWithoutOffsets) {
  EXPECT_EQ(allreduce().in_place(100, 3).send_offset, 0U);
  EXPECT_EQ(allreduce().in_place(100, 3).recv_offset, 0U);
}

TEST(AllReduce, GivesEveryRankTheReductionOverAll) {
  for (const int rank : {0, 3}) {
    const auto pieces = allreduce().expected(100, {.rank = rank, .ranks = 4});
    ASSERT_EQ(pieces.size(), 1U);
    EXPECT_EQ(pieces[0].first, 0U);
    EXPECT_EQ(pieces[0].count, 100U);
    EXPECT_EQ(pieces[0].source, kAllRanks);
    EXPECT_EQ(pieces[0].source_first, 0U);
  }
}

}  // namespace
}  // namespace busbar

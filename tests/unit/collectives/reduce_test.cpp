// SPDX-License-Identifier: BSD-3-Clause
// Numbers of nccl-tests' table: the size at each rank, count of all elements, bus factor 1.
#include <gtest/gtest.h>

#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

const Collective& reduce() { return test::collective("reduce"); }

TEST(Reduce, IsNamedAsInNcclTests) {
  EXPECT_EQ(reduce().nccl_name, "reduce");
  EXPECT_EQ(reduce().title, "reduce");
}

TEST(Reduce, ReducesToARootElementByElement) {
  EXPECT_TRUE(reduce().reduces);
  EXPECT_TRUE(reduce().rooted);
  EXPECT_TRUE(reduce().elementwise);
  EXPECT_EQ(reduce().peers, nullptr);
}

TEST(Reduce, HasItsWholeSizeAtEachRank) {
  const Footprint footprint = reduce().footprint(1048583, 4, 3);
  EXPECT_EQ(footprint.size, 1048580U);
  EXPECT_EQ(footprint.send, 1048580U);
  EXPECT_EQ(footprint.recv, 1048580U);
  EXPECT_EQ(footprint.count, 262145U);
}

TEST(Reduce, HasBusFactorOne) {
  EXPECT_DOUBLE_EQ(reduce().bus_factor(2), 1);
  EXPECT_DOUBLE_EQ(reduce().bus_factor(16), 1);
}

TEST(Reduce, WorksInPlaceWithoutOffsets) {
  EXPECT_EQ(reduce().in_place(100, 3).send_offset, 0U);
  EXPECT_EQ(reduce().in_place(100, 3).recv_offset, 0U);
}

TEST(Reduce, GivesTheReductionToTheRootOnly) {
  const auto pieces = reduce().expected(100, {.rank = 2, .ranks = 4, .root = 2});
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].first, 0U);
  EXPECT_EQ(pieces[0].count, 100U);
  EXPECT_EQ(pieces[0].source, kAllRanks);
  EXPECT_EQ(pieces[0].source_first, 0U);
  EXPECT_TRUE(reduce().expected(100, {.rank = 1, .ranks = 4, .root = 2}).empty());
}

}  // namespace
}  // namespace busbar

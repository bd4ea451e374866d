// SPDX-License-Identifier: BSD-3-Clause
// Numbers of nccl-tests' table: the size a rank sends, and receives, count of all elements, bus
// factor 1; a ring: to the next rank, from the one before.
#include <gtest/gtest.h>

#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

const Collective& sendrecv() { return test::collective("sendrecv"); }

TEST(SendRecv, IsNamedAsInNcclTests) {
  EXPECT_EQ(sendrecv().nccl_name, "sendrecv");
  EXPECT_EQ(sendrecv().title, "send-receive");
}

TEST(SendRecv, MovesDataWithoutARootElementByElement) {
  EXPECT_FALSE(sendrecv().reduces);
  EXPECT_FALSE(sendrecv().rooted);
  EXPECT_TRUE(sendrecv().elementwise);
}

TEST(SendRecv, HasItsWholeSizeAtEachRank) {
  const Footprint footprint = sendrecv().footprint(1048583, 4, 3);
  EXPECT_EQ(footprint.size, 1048580U);
  EXPECT_EQ(footprint.send, 1048580U);
  EXPECT_EQ(footprint.recv, 1048580U);
  EXPECT_EQ(footprint.count, 262145U);
}

TEST(SendRecv, HasBusFactorOne) {
  EXPECT_DOUBLE_EQ(sendrecv().bus_factor(2), 1);
  EXPECT_DOUBLE_EQ(sendrecv().bus_factor(16), 1);
}

TEST(SendRecv, IsARing) {
  const Peers first = sendrecv().peers({.rank = 0, .ranks = 4});
  EXPECT_EQ(first.to, 1);
  EXPECT_EQ(first.from, 3);
  const Peers last = sendrecv().peers({.rank = 3, .ranks = 4});
  EXPECT_EQ(last.to, 0);
  EXPECT_EQ(last.from, 2);
  const Peers alone = sendrecv().peers({.rank = 0, .ranks = 1});
  EXPECT_EQ(alone.to, 0);
  EXPECT_EQ(alone.from, 0);
}

TEST(SendRecv, IsOneWayBetweenAPair) {
  const Pair pair{.sender = 3, .receiver = 1};
  const auto peers = [&](int rank) {
    return sendrecv().peers({.rank = rank, .ranks = 4, .pair = pair});
  };
  EXPECT_EQ(peers(3).to, 1);
  EXPECT_EQ(peers(3).from, -1);
  EXPECT_EQ(peers(1).to, -1);
  EXPECT_EQ(peers(1).from, 3);
  for (const int idle : {0, 2}) {
    EXPECT_EQ(peers(idle).to, -1);
    EXPECT_EQ(peers(idle).from, -1);
  }
}

TEST(SendRecv, GivesEveryRankWhatTheOneBeforeSends) {
  const auto pieces = sendrecv().expected(100, {.rank = 0, .ranks = 4});
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0].first, 0U);
  EXPECT_EQ(pieces[0].count, 100U);
  EXPECT_EQ(pieces[0].source, 3);
  EXPECT_EQ(pieces[0].source_first, 0U);
}

TEST(SendRecv, GivesOnlyTheReceiverOfAPairWhatItsSenderSends) {
  const Pair pair{.sender = 3, .receiver = 1};
  const auto received = sendrecv().expected(100, {.rank = 1, .ranks = 4, .pair = pair});
  ASSERT_EQ(received.size(), 1U);
  EXPECT_EQ(received[0].source, 3);
  for (const int other : {0, 2, 3}) {
    EXPECT_TRUE(sendrecv().expected(100, {.rank = other, .ranks = 4, .pair = pair}).empty());
  }
}

}  // namespace
}  // namespace busbar

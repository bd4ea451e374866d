// SPDX-License-Identifier: BSD-3-Clause
#include "harness/row_buffers.hpp"

#include <set>

#include <gtest/gtest.h>

#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

constexpr int kRanks = 4;
const std::byte kPoison{0xa5};

SizePlan plan_for(const char* name, Bytes size) {
  return {.wanted = size, .footprint = test::collective(name).footprint(size, 4, kRanks)};
}

Call like(const char* name) { return {.collective = &test::collective(name), .root = 2}; }

TEST(RowBuffers, GiveACallItsBuffersCountAndSegment) {
  test::FakeCommunicator communicator;
  SizePlan plan = plan_for("allreduce", 4096);
  plan.segment = 256;
  RowBuffers buffers(communicator, plan);
  const auto calls = buffers.calls(like("allreduce"), false);
  ASSERT_EQ(calls.size(), 1U);
  EXPECT_EQ(calls[0].count, 1024U);
  EXPECT_EQ(calls[0].segment, 256U);
  EXPECT_EQ(calls[0].root, 2);
  EXPECT_FALSE(calls[0].in_place);
  EXPECT_NE(calls[0].send, calls[0].recv);
}

TEST(RowBuffers, GiveAnInPlaceCallOneBuffer) {
  test::FakeCommunicator communicator;
  RowBuffers buffers(communicator, plan_for("allreduce", 4096));
  const Call call = buffers.calls(like("allreduce"), true).at(0);
  EXPECT_TRUE(call.in_place);
  EXPECT_EQ(call.send, call.recv);
}

TEST(RowBuffers, SendFromTheLargeBufferWhatIsSentMost) {
  test::FakeCommunicator communicator;
  RowBuffers scatter(communicator, plan_for("reducescatter", 4096));
  EXPECT_EQ(scatter.calls(like("reducescatter"), false)[0].send,
            scatter.calls(like("reducescatter"), true)[0].send);
  RowBuffers gather(communicator, plan_for("allgather", 4096));
  EXPECT_EQ(gather.calls(like("allgather"), false)[0].recv,
            gather.calls(like("allgather"), true)[0].recv);
}

TEST(RowBuffers, HaveASlotForEveryRotation) {
  test::FakeCommunicator communicator;
  SizePlan plan = plan_for("allreduce", 4096);
  plan.slots = 5;
  RowBuffers buffers(communicator, plan);
  std::set<std::byte*> places;
  for (const Call& call : buffers.calls(like("allreduce"), false)) {
    places.insert(call.send);
    places.insert(call.recv);
  }
  EXPECT_EQ(places.size(), 10U);
}

TEST(RowBuffers, HaveNoSecondBufferWhereThePlanGoesInPlaceOnly) {
  test::FakeCommunicator communicator;
  SizePlan plan = plan_for("allreduce", 4096);
  plan.out_of_place = false;
  RowBuffers buffers(communicator, plan);
  EXPECT_EQ(buffers.calls(like("allreduce"), false)[0].recv, nullptr);
  EXPECT_NE(buffers.calls(like("allreduce"), true)[0].recv, nullptr);
}

TEST(RowBuffers, PoisonResultsButNotWhatIsSent) {
  test::FakeCommunicator communicator;
  RowBuffers buffers(communicator, plan_for("allreduce", 4096));
  const Call call = buffers.calls(like("allreduce"), false).at(0);
  call.send[0] = call.recv[0] = std::byte{1};
  buffers.poison_results(false);
  EXPECT_EQ(call.recv[0], kPoison);
  EXPECT_EQ(call.send[0], std::byte{1});
}

TEST(RowBuffers, PoisonNothingInPlaceThatIsAllSent) {
  test::FakeCommunicator communicator;
  RowBuffers buffers(communicator, plan_for("allreduce", 4096));
  const Call call = buffers.calls(like("allreduce"), true).at(0);
  call.send[0] = std::byte{1};
  buffers.poison_results(true);
  EXPECT_EQ(call.send[0], std::byte{1});
}

TEST(RowBuffers, PoisonTheWholeResultOfAnInPlaceGather) {
  test::FakeCommunicator communicator;
  RowBuffers buffers(communicator, plan_for("allgather", 4096));
  const Call call = buffers.calls(like("allgather"), true).at(0);
  call.recv[4095] = std::byte{1};
  buffers.poison_results(true);
  EXPECT_EQ(call.recv[4095], kPoison);
}

}  // namespace
}  // namespace busbar

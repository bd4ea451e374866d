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
  RowBuffers buffers(communicator, plan, 0);
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
  RowBuffers buffers(communicator, plan_for("allreduce", 4096), 0);
  const Call call = buffers.calls(like("allreduce"), true).at(0);
  EXPECT_TRUE(call.in_place);
  EXPECT_EQ(call.send, call.recv);
}

TEST(RowBuffers, SendFromTheLargeBufferWhatIsSentMost) {
  test::FakeCommunicator communicator;
  RowBuffers scatter(communicator, plan_for("reducescatter", 4096), 0);
  EXPECT_EQ(scatter.calls(like("reducescatter"), false)[0].send,
            scatter.calls(like("reducescatter"), true)[0].send);
  RowBuffers gather(communicator, plan_for("allgather", 4096), 0);
  EXPECT_EQ(gather.calls(like("allgather"), false)[0].recv,
            gather.calls(like("allgather"), true)[0].recv);
}

TEST(RowBuffers, HaveASlotForEveryRotation) {
  test::FakeCommunicator communicator;
  SizePlan plan = plan_for("allreduce", 4096);
  plan.slots = 5;
  RowBuffers buffers(communicator, plan, 0);
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
  RowBuffers buffers(communicator, plan, 0);
  EXPECT_EQ(buffers.calls(like("allreduce"), false)[0].recv, nullptr);
  EXPECT_NE(buffers.calls(like("allreduce"), true)[0].recv, nullptr);
}

TEST(RowBuffers, PoisonResultsButNotWhatIsSent) {
  test::FakeCommunicator communicator;
  RowBuffers buffers(communicator, plan_for("allreduce", 4096), 0);
  const Call call = buffers.calls(like("allreduce"), false).at(0);
  call.send[0] = call.recv[0] = std::byte{1};
  buffers.poison_results(false);
  EXPECT_EQ(call.recv[0], kPoison);
  EXPECT_EQ(call.send[0], std::byte{1});
}

TEST(RowBuffers, PoisonNothingInPlaceThatIsAllSent) {
  test::FakeCommunicator communicator;
  RowBuffers buffers(communicator, plan_for("allreduce", 4096), 0);
  const Call call = buffers.calls(like("allreduce"), true).at(0);
  call.send[0] = std::byte{1};
  buffers.poison_results(true);
  EXPECT_EQ(call.send[0], std::byte{1});
}

TEST(RowBuffers, PoisonTheWholeResultOfAnInPlaceGather) {
  test::FakeCommunicator communicator;
  RowBuffers buffers(communicator, plan_for("allgather", 4096), 0);
  const Call call = buffers.calls(like("allgather"), true).at(0);
  call.recv[4095] = std::byte{1};
  buffers.poison_results(true);
  EXPECT_EQ(call.recv[4095], kPoison);
}

SizePlan of_three_slots(const char* name) {
  SizePlan plan = plan_for(name, 4096);
  plan.slots = 3;
  return plan;
}

/// A slot's part is of whole pages: 4096 bytes of data and an offset take two.
TEST(RowBuffers, BeginTheirDataAsFarFromAPageAsAsked) {
  test::FakeCommunicator communicator;
  RowBuffers aligned(communicator, of_three_slots("allreduce"), 0);
  RowBuffers late(communicator, of_three_slots("allreduce"), 12);
  const auto on_pages = aligned.calls(like("allreduce"), false);
  const auto off_pages = late.calls(like("allreduce"), false);
  for (std::size_t slot = 1; slot < 3; ++slot) {
    EXPECT_EQ(on_pages[slot].send - on_pages[0].send, static_cast<std::ptrdiff_t>(slot * 4096));
    EXPECT_EQ(off_pages[slot].send - off_pages[0].send, static_cast<std::ptrdiff_t>(slot * 8192));
  }
  late.enlist();
  ASSERT_EQ(communicator.enlisted.size(), 2U);
  EXPECT_EQ(off_pages[0].send - communicator.enlisted[0], 12);
  EXPECT_EQ(off_pages[0].recv - communicator.enlisted[1], 12);
  EXPECT_EQ(late.calls(like("allreduce"), true)[0].send - communicator.enlisted[0], 12);
}

TEST(RowBuffers, AreAsManyBytesAsTheirSlotsWithTheOffset) {
  EXPECT_EQ(RowBuffers::bytes_of(of_three_slots("allreduce"), 0), 2 * 3 * 4096U);
  EXPECT_EQ(RowBuffers::bytes_of(of_three_slots("allreduce"), 12), 2 * 3 * 8192U);
}

TEST(RowBuffers, LetNoSlotReachIntoTheNext) {
  test::FakeCommunicator communicator;
  RowBuffers buffers(communicator, of_three_slots("allreduce"), 4);
  const auto calls = buffers.calls(like("allreduce"), false);
  for (std::size_t slot = 0; slot < 3; ++slot) {
    communicator.poison(calls[slot].recv, 4096);
    calls[slot].recv[0] = calls[slot].recv[4095] = static_cast<std::byte>(slot);
  }
  for (std::size_t slot = 0; slot < 3; ++slot) {
    EXPECT_EQ(calls[slot].recv[0], static_cast<std::byte>(slot));
    EXPECT_EQ(calls[slot].recv[4095], static_cast<std::byte>(slot));
  }
}

TEST(RowBuffers, PoisonTheResultOfEverySlot) {
  test::FakeCommunicator communicator;
  RowBuffers buffers(communicator, of_three_slots("allreduce"), 4);
  const auto calls = buffers.calls(like("allreduce"), false);
  for (const Call& call : calls) call.recv[0] = call.recv[4095] = std::byte{1};
  buffers.poison_results(false);
  for (const Call& call : calls) {
    EXPECT_EQ(call.recv[0], kPoison);
    EXPECT_EQ(call.recv[4095], kPoison);
  }
}

TEST(RowBuffers, AreMadeKnownToTheLibraryOnceEach) {
  test::FakeCommunicator communicator;
  RowBuffers both(communicator, plan_for("allreduce", 4096), 0);
  EXPECT_TRUE(communicator.enlisted.empty());  // not before every rank has its own
  both.enlist();
  const Call call = both.calls(like("allreduce"), false).at(0);
  EXPECT_EQ(communicator.enlisted, (std::vector<const std::byte*>{call.send, call.recv}));
  communicator.enlisted.clear();
  SizePlan in_place_only = plan_for("allreduce", 4096);
  in_place_only.out_of_place = false;
  RowBuffers one(communicator, in_place_only, 0);
  one.enlist();
  EXPECT_EQ(communicator.enlisted.size(), 1U);
}

}  // namespace
}  // namespace busbar

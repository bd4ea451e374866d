// SPDX-License-Identifier: BSD-3-Clause
#include "harness/row_buffers.hpp"

#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

constexpr int kRowRanks = 4;
const std::byte kPoison{0xa5};

SizePlan plan_for(const char* name, std::uint64_t slots = 1) {
  return {.wanted = 4096,
          .footprint =
              test::collective(name).footprint({.wanted = 4096, .element = 4, .ranks = kRowRanks}),
          .slots = slots};
}

/// The buffers of rows of 4 KiB.
struct RowBuffersOfARow : testing::Test {
  RowBuffers buffers(const SizePlan& plan, Bytes offset = 0) {
    return {communicator, plan, offset};
  }
  static std::vector<Call> calls(const RowBuffers& of, bool in_place,
                                 const char* name = "allreduce") {
    return of.calls({.collective = &test::collective(name), .root = 2}, in_place);
  }

  test::FakeCommunicator communicator;
};

TEST_F(RowBuffersOfARow, GiveACallItsBuffersCountAndSegmentAndOneBufferInPlace) {
  SizePlan plan = plan_for("allreduce");
  plan.segment = 256;
  const RowBuffers row = buffers(plan);
  const auto apart = calls(row, false);
  EXPECT_EQ(apart.at(0).count, 1024U);
  EXPECT_EQ(apart[0].segment, 256U);
  EXPECT_EQ(apart[0].root, 2);
  EXPECT_FALSE(apart[0].in_place);
  EXPECT_NE(apart[0].send, apart[0].recv);
  const Call together = calls(row, true).at(0);
  EXPECT_TRUE(together.in_place);
  EXPECT_EQ(together.send, together.recv);
}

TEST_F(RowBuffersOfARow, SendFromTheLargeBufferWhatIsSentMost) {
  const RowBuffers scatter = buffers(plan_for("reducescatter"));
  EXPECT_EQ(calls(scatter, false, "reducescatter")[0].send,
            calls(scatter, true, "reducescatter")[0].send);
  const RowBuffers gather = buffers(plan_for("allgather"));
  EXPECT_EQ(calls(gather, false, "allgather")[0].recv, calls(gather, true, "allgather")[0].recv);
}

TEST_F(RowBuffersOfARow, HaveNoSecondBufferWhereThePlanGoesInPlaceOnly) {
  SizePlan plan = plan_for("allreduce");
  plan.out_of_place = false;
  RowBuffers one = buffers(plan);
  EXPECT_EQ(calls(one, false)[0].recv, nullptr);
  EXPECT_NE(calls(one, true)[0].recv, nullptr);
  one.register_buffers();
  EXPECT_EQ(communicator.registered.size(), 1U);
}

TEST_F(RowBuffersOfARow, PoisonResultsButNotWhatIsSent) {
  RowBuffers row = buffers(plan_for("allreduce"));
  const Call call = calls(row, false).at(0);
  call.send[0] = call.recv[0] = std::byte{1};
  row.poison_results(false);
  EXPECT_EQ(call.recv[0], kPoison);
  EXPECT_EQ(call.send[0], std::byte{1});
  row.poison_results(true);  // which is all sent
  EXPECT_EQ(calls(row, true).at(0).send[0], std::byte{1});
  RowBuffers gather = buffers(plan_for("allgather"));
  const Call gathered = calls(gather, true, "allgather").at(0);
  gathered.recv[4095] = std::byte{1};
  gather.poison_results(true);
  EXPECT_EQ(gathered.recv[4095], kPoison);
}

/// A slot's part is of whole pages: 4096 bytes of data and an offset take two.
TEST_F(RowBuffersOfARow, BeginTheirDataAsFarFromAPageAsAskedAndAreRegisteredOnceEach) {
  const SizePlan plan = plan_for("allreduce", 3);
  const auto on_pages = calls(buffers(plan), false);
  RowBuffers late = buffers(plan, 12);
  const auto off_pages = calls(late, false);
  for (std::size_t slot = 1; slot < 3; ++slot) {
    EXPECT_EQ(on_pages[slot].send - on_pages[0].send, static_cast<std::ptrdiff_t>(slot * 4096));
    EXPECT_EQ(off_pages[slot].send - off_pages[0].send, static_cast<std::ptrdiff_t>(slot * 8192));
  }
  EXPECT_TRUE(communicator.registered.empty());  // not before every rank has its own
  late.register_buffers();
  ASSERT_EQ(communicator.registered.size(), 2U);
  EXPECT_EQ(off_pages[0].send - communicator.registered[0], 12);
  EXPECT_EQ(off_pages[0].recv - communicator.registered[1], 12);
  EXPECT_EQ(calls(late, true)[0].send - communicator.registered[0], 12);
  EXPECT_EQ(RowBuffers::bytes_of(plan, 0), 2 * 3 * 4096U);
  EXPECT_EQ(RowBuffers::bytes_of(plan, 12), 2 * 3 * 8192U);
}

TEST_F(RowBuffersOfARow, PoisonTheResultOfEverySlotWhichDoesNotReachIntoTheNext) {
  RowBuffers row = buffers(plan_for("allreduce", 3), 4);
  const auto slots = calls(row, false);
  for (std::size_t slot = 0; slot < 3; ++slot) {
    communicator.poison(slots[slot].recv, 4096);
    slots[slot].recv[0] = slots[slot].recv[4095] = static_cast<std::byte>(slot);
  }
  for (std::size_t slot = 0; slot < 3; ++slot) {
    EXPECT_EQ(slots[slot].recv[0], static_cast<std::byte>(slot));
    EXPECT_EQ(slots[slot].recv[4095], static_cast<std::byte>(slot));
  }
  row.poison_results(false);
  for (const Call& call : slots) {
    EXPECT_EQ(call.recv[0], kPoison);
    EXPECT_EQ(call.recv[4095], kPoison);
  }
}

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "harness/memory_plan.hpp"

#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/fake_communicator.hpp"
#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

/// Four ranks on a host, for each of which 10 GiB are available.
RankMap four_ranks() {
  RankMap rank_map;
  rank_map.most_ranks_per_host = 4;
  rank_map.least_memory = 10 * kGiB;
  return rank_map;
}

MemoryPool find(const Options& options, std::optional<Bytes> device_memory = {},
                int ranks_on_device = 1) {
  test::FakeBootstrap world;
  test::FakeCommunicator communicator;
  communicator.device_memory = device_memory;
  return plan_memory(world, options, four_ranks(), communicator, ranks_on_device);
}

TEST(SlotStride, IsOfWholePagesAndOneAtLeast) {
  EXPECT_EQ(slot_stride(0), 4096U);
  EXPECT_EQ(slot_stride(4096), 4096U);
  EXPECT_EQ(slot_stride(4097), 8192U);
}

TEST(FindMemory, IsTheHostsOrTheDevicesWhereThereIsOneDividedAmongItsRanks) {
  const MemoryPool host = find({});
  EXPECT_EQ(host.place, "host");
  EXPECT_EQ(host.ranks, 4);
  EXPECT_EQ(host.free, 42949672960U);  // 40 GiB
  EXPECT_DOUBLE_EQ(host.share, 0.85);
  EXPECT_FALSE(host.by_option);
  const MemoryPool device = find({}, 80 * kGiB);
  EXPECT_EQ(device.place, "GPU");
  EXPECT_EQ(device.ranks, 1);
  EXPECT_EQ(device.free, 85899345920U);  // 80 GiB
  EXPECT_DOUBLE_EQ(device.share, 0.95);
  const MemoryPool shared = find({}, 80 * kGiB, 5);
  EXPECT_EQ(shared.ranks, 5);
  EXPECT_EQ(shared.free, 85899345920U);
  EXPECT_EQ(shared.per_rank(), 16320875724U);  // 95 % of 16 GiB
}

TEST(FindMemory, IsTheLimitWhereOneIsGiven) {
  Options options;
  options.memory_limit = 4000;
  const MemoryPool host = find(options);
  EXPECT_EQ(host.per_rank(), 1000U);
  EXPECT_TRUE(host.by_option);
  const MemoryPool device = find(options, 80 * kGiB, 2);
  EXPECT_EQ(device.place, "GPU");
  EXPECT_EQ(device.per_rank(), 2000U);
}

TEST(FindMemory, IsThatOfTheFullestDeviceOnEveryRank) {
  test::on_ranks(3, [](test::ThreadBootstrap& world) {
    // Rank 0 has a device of its own; ranks 1 and 2 share a larger one.
    const bool alone = world.rank() == 0;
    test::FakeCommunicator communicator;
    communicator.device_memory = alone ? 3000 : 10000;
    const MemoryPool pool = plan_memory(world, {}, four_ranks(), communicator, alone ? 1 : 2);
    EXPECT_EQ(pool.ranks, 2);
    EXPECT_EQ(pool.free, 6000U);
    EXPECT_EQ(pool.per_rank(), 2850U);
  });
}

using test::collective;

MemoryRequest request(const char* name, Bytes available_per_rank) {
  return {.collective = &collective(name),
          .type = DataType::Float,
          .op = ReduceOp::Sum,
          .ranks = 16,
          .ranks_per_place = 16,
          .available_per_rank = available_per_rank};
}

struct MemoryPlan : testing::Test {
  MemoryPlan() {
    communicator.temporary = [](const Call& call) {
      const auto count = call.segment > 0 ? std::min(call.segment, call.count) : call.count;
      return count * info(call.type).size / 2;
    };
  }
  [[nodiscard]] SizePlan plan(const MemoryRequest& asked, Bytes wanted) const {
    return plan_size(asked, communicator, wanted);
  }
  [[nodiscard]] SizePlan plan(const char* name, Bytes available, Bytes wanted) const {
    return plan(request(name, available), wanted);
  }
  /// Whether the plan runs a size as expected.
  static void expect_runs(const SizePlan& plan, bool out_of_place, bool in_place) {
    EXPECT_EQ(plan.out_of_place, out_of_place);
    EXPECT_EQ(plan.in_place, in_place);
  }

  test::FakeCommunicator communicator;
};

TEST_F(MemoryPlan, RunsBothBufferModesWhereThereIsRoomToTheByte) {
  const SizePlan both = plan("allreduce", 4 * kGiB, kGiB);
  expect_runs(both, true, true);
  EXPECT_EQ(both.segment, 0U);
  EXPECT_EQ(both.slots, 1U);
  EXPECT_EQ(both.reason, "");
  EXPECT_EQ(both.need, 2 * kGiB + kGiB / 2 + kMemorySlack);
  const Bytes need = 2 * kGiB + kGiB / 2 + kMemorySlack;
  EXPECT_TRUE(plan("allreduce", need, kGiB).out_of_place);
  EXPECT_FALSE(plan("allreduce", need - 1, kGiB).out_of_place);
}

TEST_F(MemoryPlan, DropsTheOutOfPlaceHalfFirst) {
  const SizePlan in_place = plan("allreduce", 2 * kGiB, kGiB);
  expect_runs(in_place, false, true);
  EXPECT_EQ(in_place.segment, 0U);
  EXPECT_EQ(in_place.need, kGiB + kGiB / 2 + kMemorySlack);
  EXPECT_EQ(in_place.reason, "needs 40.5 GiB for 16 ranks of a host, 32 GiB may be used");
}

TEST_F(MemoryPlan, IssuesTheInPlaceCallInSegmentsNext) {
  const SizePlan segmented = plan("allreduce", kGiB + 64 * kMiB, kGiB);
  expect_runs(segmented, false, true);
  EXPECT_EQ(segmented.segment, 4194304U);  // 16 MiB of float
  EXPECT_EQ(segmented.need, kGiB + 8 * kMiB + kMemorySlack);
}

TEST_F(MemoryPlan, SkipsTheSizeLastWithNeedAndAvailable) {
  const SizePlan skipped = plan("allreduce", kGiB, kGiB);
  expect_runs(skipped, false, false);
  EXPECT_EQ(skipped.reason, "needs 16.62 GiB for 16 ranks of a host, 16 GiB may be used");
  EXPECT_EQ(skipped.need, kGiB + 8 * kMiB + kMemorySlack);
}

TEST_F(MemoryPlan, DoesNotSegmentAnAllGatherAndCountsItsSmallerBufferAtItsOwnSize) {
  const SizePlan skipped = plan("allgather", kGiB + 32 * kMiB, kGiB);
  EXPECT_FALSE(skipped.in_place);
  EXPECT_EQ(skipped.segment, 0U);
  communicator.temporary = [](const Call&) { return Bytes{0}; };
  EXPECT_EQ(plan("allgather", 4 * kGiB, kGiB).need, kGiB + kGiB / 16 + kMemorySlack);
}

TEST_F(MemoryPlan, PlansOnlyWhatWasAskedFor) {
  MemoryRequest out_only = request("allreduce", 2 * kGiB);
  out_only.in_place = false;
  EXPECT_FALSE(plan(out_only, kGiB).in_place);
  EXPECT_FALSE(plan(out_only, kGiB).out_of_place);  // does not fit: 2.5 GiB
  EXPECT_TRUE(plan(out_only, kGiB / 2).out_of_place);
  MemoryRequest in_only = request("allreduce", 4 * kGiB);
  in_only.out_of_place = false;
  EXPECT_FALSE(plan(in_only, kGiB).out_of_place);
  EXPECT_TRUE(plan(in_only, kGiB).in_place);
  EXPECT_EQ(plan(in_only, kGiB).reason, "");
}

TEST_F(MemoryPlan, SkipsASizeOfLessThanOneElementPerRank) {
  const SizePlan empty = plan("allgather", 4 * kGiB, 64);
  expect_runs(empty, false, false);
  EXPECT_EQ(empty.wanted, 64U);
  EXPECT_EQ(empty.reason, "64 B is less than one element for each rank");
}

TEST_F(MemoryPlan, RunsOutOfPlaceWhatTheLibraryCannotDoInPlace) {
  communicator.in_place_obstacle = "it would overwrite";
  const SizePlan half = plan("sendrecv", 4 * kGiB, kGiB);
  expect_runs(half, true, false);
  EXPECT_EQ(half.reason, "");
  EXPECT_EQ(half.in_place_reason, "it would overwrite");
  EXPECT_EQ(half.need, 2 * kGiB + kGiB / 2 + kMemorySlack);
}

TEST_F(MemoryPlan, SkipsWhatHasNoExactData) {
  MemoryRequest average = request("allreduce", 4 * kGiB);
  average.type = DataType::F8e4m3;
  average.op = ReduceOp::Avg;
  EXPECT_TRUE(plan(average, kMiB).out_of_place);
  average.ranks = 65;
  const SizePlan skipped = plan(average, kMiB);
  expect_runs(skipped, false, false);
  EXPECT_TRUE(skipped.reason.starts_with("no data has one average over 65 ranks in f8e4m3"));
}

TEST_F(MemoryPlan, SegmentsWhatIsTooMuchForOneLibraryCallByAGibibyteWhereTheLibraryTakesThat) {
  MemoryRequest bytes = request("broadcast", 64 * kGiB);
  bytes.type = DataType::Int8;
  communicator.largest = 1000000000;
  const SizePlan segmented = plan(bytes, 3 * kGiB);
  expect_runs(segmented, true, true);
  EXPECT_GT(segmented.segment, 0U);
  EXPECT_LE(segmented.segment, 1000000000U);
  communicator.largest = 2147483647;
  EXPECT_EQ(plan(bytes, 3 * kGiB).segment, 1073741824U);
  EXPECT_EQ(plan(bytes, kGiB).segment, 0U);
}

TEST_F(MemoryPlan, SkipsWhatIsTooMuchForOneLibraryCallAndHasNoSegments) {
  communicator.largest = 1000;
  const SizePlan skipped = plan("allgather", 64 * kGiB, kMiB);
  expect_runs(skipped, false, false);
  EXPECT_TRUE(skipped.reason.starts_with("16384 elements in one call, the library takes 1000;"));
}

TEST_F(MemoryPlan, RotatesThroughAsManyBuffersAsCoverWhatIsAskedForAndCountsAll) {
  MemoryRequest rotating = request("allreduce", 64 * kGiB);
  rotating.rotate_through = 128 * kMiB;
  EXPECT_EQ(plan(rotating, 32 * kMiB).slots, 4U);
  EXPECT_EQ(plan(rotating, 48 * kMiB).slots, 3U);
  EXPECT_EQ(plan(rotating, 256 * kMiB).slots, 1U);
  EXPECT_EQ(plan(rotating, 8).slots, 1024U);  // never more
  EXPECT_EQ(plan(rotating, 32 * kMiB).need, 4 * 64 * kMiB + 16 * kMiB + kMemorySlack);
  rotating.out_of_place = false;
  EXPECT_EQ(plan(rotating, 32 * kMiB).need, 4 * 32 * kMiB + 16 * kMiB + kMemorySlack);
  rotating.collective = &test::collective("allgather");
  EXPECT_EQ(plan(rotating, kMiB).slots, 128U);  // of 1 MiB, though 64 KiB are sent
}

/// A slot is as many bytes as the larger of its two buffers. All-gather of 16 ranks at 1 MiB: 128
/// of 1 MiB, though what is sent is 8 MiB of them; reduce-scatter the other way round. 8 bytes:
/// 1024 slots are 8 KiB. 128 KiB: 1024 slots are 128 MiB to the byte, of 64 bytes less 64 KiB less.
TEST_F(MemoryPlan, LeavesTheCacheWhereAllSlotsAreAsManyBytesAsAskedFor) {
  const auto leaves = [&](const char* name, Bytes size, Bytes through) {
    MemoryRequest rotating = request(name, 64 * kGiB);
    rotating.rotate_through = through;
    return plan(rotating, size).leaves_cache;
  };
  EXPECT_TRUE(leaves("allgather", kMiB, 128 * kMiB));
  EXPECT_TRUE(leaves("reducescatter", kMiB, 128 * kMiB));
  EXPECT_TRUE(leaves("allreduce", kMiB, 128 * kMiB));
  EXPECT_TRUE(leaves("allreduce", 128 * kKiB, 128 * kMiB));
  EXPECT_FALSE(leaves("allreduce", 128 * kKiB - 64, 128 * kMiB));
  EXPECT_FALSE(leaves("allreduce", 8, 128 * kMiB));
  EXPECT_FALSE(leaves("allreduce", kMiB, 0));  // does not rotate
}

TEST_F(MemoryPlan, CountsWhatTheLibraryHasTakenWhereThatIsMore) {
  MemoryRequest grown = request("allreduce", 64 * kGiB);
  grown.library_growth = 3 * kGiB;
  EXPECT_EQ(plan(grown, kGiB).need, 2 * kGiB + 3 * kGiB + kMemorySlack);
}

TEST_F(MemoryPlan, GivesTheLibraryInOneCallWhatItJustTakes) {
  communicator.largest = kMiB / 4;
  EXPECT_EQ(plan("broadcast", 64 * kGiB, kMiB).segment, 0U);
  EXPECT_EQ(plan("broadcast", 64 * kGiB, kMiB + 4).segment, kMiB / 4);
  communicator.largest = 2147483647;  // 12 GiB of float are 3 Gi elements, a GiB of them 256 Mi
  EXPECT_EQ(plan("broadcast", 64 * kGiB, 12 * kGiB).segment, 268435456U);
  EXPECT_EQ(plan("allreduce", 1, 16 * kMiB).segment, 0U);  // a segment is 16 MiB
}

}  // namespace
}  // namespace busbar

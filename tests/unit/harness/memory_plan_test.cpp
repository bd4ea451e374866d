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

/// "host: 4 of 40 GiB * 0.85": how many ranks share which part of what.
std::string text_of(const MemoryPool& pool) {
  return fmt::format("{}: {} of {} * {}{}", pool.place, pool.ranks, format_bytes(pool.free),
                     pool.share, pool.by_option ? " by option" : "");
}

TEST(FindMemory, IsTheHostsOrTheDevicesWhereThereIsOneDividedAmongItsRanks) {
  EXPECT_EQ(text_of(find({})), "host: 4 of 40 GiB * 0.85");
  EXPECT_EQ(text_of(find({}, 80 * kGiB)), "GPU: 1 of 80 GiB * 0.95");
  EXPECT_EQ(text_of(find({}, 80 * kGiB, 5)), "GPU: 5 of 80 GiB * 0.95");
  EXPECT_EQ(find({}, 80 * kGiB, 5).per_rank(), 16320875724U);  // 95 % of 16 GiB
}

TEST(FindMemory, IsTheLimitWhereOneIsGiven) {
  Options options;
  options.memory_limit = 4096;
  EXPECT_EQ(text_of(find(options)), "host: 4 of 4 KiB * 1 by option");
  EXPECT_EQ(find(options).per_rank(), 1024U);
  EXPECT_EQ(text_of(find(options, 80 * kGiB, 2)), "GPU: 2 of 4 KiB * 1 by option");
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
  /// What the plan runs of a size: "out, in", with the reason of what it does not.
  static std::string runs(const SizePlan& plan) {
    std::string text = plan.out_of_place ? "out" : "";
    if (plan.in_place) text += text.empty() ? "in" : ", in";
    if (!plan.reason.empty()) text += "; " + plan.reason;
    return text;
  }

  test::FakeCommunicator communicator;
};

TEST_F(MemoryPlan, RunsBothBufferModesWhereThereIsRoomToTheByte) {
  const Bytes need = 2 * kGiB + kGiB / 2 + kMemorySlack;
  const SizePlan both = plan("allreduce", need, kGiB);
  EXPECT_EQ(runs(both), "out, in");
  EXPECT_EQ(both.segment, 0U);
  EXPECT_EQ(both.slots, 1U);
  EXPECT_EQ(both.need, need);
  EXPECT_FALSE(plan("allreduce", need - 1, kGiB).out_of_place);
}

/// Of an all-reduce of 1 GiB: first the half out of place, then whole calls, then all of it.
TEST_F(MemoryPlan, DropsWhatThereIsNoRoomForWithNeedAndAvailable) {
  const SizePlan in_place = plan("allreduce", 2 * kGiB, kGiB);
  EXPECT_EQ(runs(in_place), "in; needs 40.5 GiB for 16 ranks of a host, 32 GiB may be used");
  EXPECT_EQ(in_place.segment, 0U);
  EXPECT_EQ(in_place.need, kGiB + kGiB / 2 + kMemorySlack);
  const SizePlan segmented = plan("allreduce", kGiB + 64 * kMiB, kGiB);
  EXPECT_THAT(runs(segmented), StartsWith("in; "));
  EXPECT_EQ(segmented.segment, 4194304U);  // 16 MiB of float
  EXPECT_EQ(segmented.need, kGiB + 8 * kMiB + kMemorySlack);
  const SizePlan skipped = plan("allreduce", kGiB, kGiB);
  EXPECT_EQ(runs(skipped), "; needs 16.62 GiB for 16 ranks of a host, 16 GiB may be used");
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
  EXPECT_THAT(runs(plan(out_only, kGiB)), StartsWith("; "));  // does not fit: 2.5 GiB
  EXPECT_EQ(runs(plan(out_only, kGiB / 2)), "out");
  MemoryRequest in_only = request("allreduce", 4 * kGiB);
  in_only.out_of_place = false;
  EXPECT_EQ(runs(plan(in_only, kGiB)), "in");
}

TEST_F(MemoryPlan, RunsOutOfPlaceWhatTheLibraryCannotDoInPlace) {
  communicator.in_place_obstacle = "it would overwrite";
  const SizePlan half = plan("sendrecv", 4 * kGiB, kGiB);
  EXPECT_EQ(runs(half), "out");
  EXPECT_EQ(half.in_place_reason, "it would overwrite");
  EXPECT_EQ(half.need, 2 * kGiB + kGiB / 2 + kMemorySlack);
}

TEST_F(MemoryPlan, SkipsWhatHasNoElementForEachRankNoExactDataOrNoSegments) {
  const SizePlan empty = plan("allgather", 4 * kGiB, 64);
  EXPECT_EQ(empty.wanted, 64U);
  EXPECT_EQ(runs(empty), "; 64 B is less than one element for each rank");
  MemoryRequest average = request("allreduce", 4 * kGiB);
  average.type = DataType::F8e4m3;
  average.op = ReduceOp::Avg;
  EXPECT_EQ(runs(plan(average, kMiB)), "out, in");
  average.ranks = 65;
  EXPECT_THAT(runs(plan(average, kMiB)),
              StartsWith("; no data has one average over 65 ranks in f8e4m3"));
  communicator.largest = 1000;
  EXPECT_THAT(runs(plan("allgather", 64 * kGiB, kMiB)),
              StartsWith("; 16384 elements in one call, the library takes 1000;"));
}

TEST_F(MemoryPlan, SegmentsWhatIsTooMuchForOneLibraryCallByAGibibyteWhereTheLibraryTakesThat) {
  MemoryRequest bytes = request("broadcast", 64 * kGiB);
  bytes.type = DataType::Int8;
  communicator.largest = 1000000000;
  const SizePlan segmented = plan(bytes, 3 * kGiB);
  EXPECT_EQ(runs(segmented), "out, in");
  EXPECT_GT(segmented.segment, 0U);
  EXPECT_LE(segmented.segment, 1000000000U);
  communicator.largest = 2147483647;
  EXPECT_EQ(plan(bytes, 3 * kGiB).segment, 1073741824U);
  EXPECT_EQ(plan(bytes, kGiB).segment, 0U);
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

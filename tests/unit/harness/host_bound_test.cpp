// SPDX-License-Identifier: BSD-3-Clause
#include "harness/host_bound.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

const HostLimits& limits() {
  static const HostLimits kLimits{{{.set = 2 * kMiB, .copy_GBps = 60, .reduce_GBps = 40},
                                   {.set = 64 * kMiB, .copy_GBps = 12, .reduce_GBps = 4}}};
  return kLimits;
}

/// The bound of a size beyond the caches, or 0.
double bound(std::string_view name, int ranks, bool in_place = false, Bytes size = kGiB) {
  const BoundRow row{
      .collective = &test::collective(name), .ranks = ranks, .size = size, .in_place = in_place};
  return host_bound_GBps(limits(), row).value_or(0);
}

TEST(HostBound, OfAnAllReduceIsHalfReducingAndHalfCopying) {
  EXPECT_DOUBLE_EQ(bound("allreduce", 2), 6);  // 2 / (1/12 + 1/4)
  EXPECT_DOUBLE_EQ(bound("allreduce", 16), 6);
  EXPECT_DOUBLE_EQ(bound("allreduce", 16, true), 6);
}

TEST(HostBound, OfAReduceScatterIsTheReduction) {
  EXPECT_DOUBLE_EQ(bound("reducescatter", 2), 4);
  EXPECT_DOUBLE_EQ(bound("reducescatter", 16, true), 4);
}

TEST(HostBound, OfAReduceCountsWhatAllRanksCanAddNotOnlyTheRoot) {
  EXPECT_DOUBLE_EQ(bound("reduce", 2), 8);  // two ranks add S bytes
  EXPECT_DOUBLE_EQ(bound("reduce", 4), 4 * 4.0 / 3);
}

TEST(HostBound, OfWhatMovesDataIsTheCopy) {
  for (const char* name : {"allgather", "alltoall"}) {
    EXPECT_DOUBLE_EQ(bound(name, 4, true), 12) << name;
    EXPECT_DOUBLE_EQ(bound(name, 4), 9) << name;  // a rank's own part is copied too
  }
  EXPECT_DOUBLE_EQ(bound("sendrecv", 4), 12);
  EXPECT_DOUBLE_EQ(bound("broadcast", 4), 12);        // the root copies to itself
  EXPECT_DOUBLE_EQ(bound("broadcast", 4, true), 16);  // four ranks write three copies
}

TEST(HostBound, OfGatherAndScatterIsWhatAllRanksCanCopyTogether) {
  for (const char* name : {"gather", "scatter"}) {
    EXPECT_DOUBLE_EQ(bound(name, 4, true), 48) << name;
    EXPECT_DOUBLE_EQ(bound(name, 4), 36) << name;
  }
}

TEST(HostBound, GoesByTheBytesThatARowTouches) {
  EXPECT_DOUBLE_EQ(bound("sendrecv", 2, false, 16 * kMiB), 12);  // 2 ranks, 2 buffers: 64 MiB
  EXPECT_DOUBLE_EQ(bound("sendrecv", 2, false, 16 * kMiB - 64), 60);
  EXPECT_DOUBLE_EQ(bound("allreduce", 4, true, 16 * kMiB), 6);
  EXPECT_DOUBLE_EQ(bound("allreduce", 4, true, 16 * kMiB - 64), 48);
  EXPECT_DOUBLE_EQ(bound("gather", 16, false, 32 * kMiB), 12 * 15);  // only the root has it all
  BoundRow rotating{.collective = &test::collective("sendrecv"), .ranks = 2, .size = kMiB};
  EXPECT_DOUBLE_EQ(host_bound_GBps(limits(), rotating).value_or(0), 60);
  rotating.slots = 16;
  EXPECT_DOUBLE_EQ(host_bound_GBps(limits(), rotating).value_or(0), 12);
}

TEST(HostBound, IsNoneForOneRankOrNoLimits) {
  EXPECT_FALSE(
      host_bound_GBps(limits(), {.collective = &test::collective("allreduce"), .ranks = 1}));
  EXPECT_FALSE(host_bound_GBps({}, {.collective = &test::collective("allreduce"), .ranks = 2}));
}

TEST(HostBound, IsKnownForEveryCollective) {
  for (const Collective* collective : measured_collectives()) {
    EXPECT_GT(bound(collective->name, 3), 0) << collective->name;
  }
}

TEST(HostBoundWords, TellWhatWasMeasuredAndWhatFollows) {
  const HostTeam team{.device_set = "cores 0-1", .ranks = 16, .last_level_cache = 32 * kMiB};
  EXPECT_EQ(host_bound_obstacle(team), "");
  const SetBound bound = host_bound(team, test::collective("allreduce"), limits());
  EXPECT_EQ(bound.device_set, "cores 0-1");
  EXPECT_EQ(bound.kind, "host-memory");
  EXPECT_EQ(bound.note,
            "Host: 16 ranks on cores 0-1: copy 12.00 GB/s and reduce 4.00 GB/s per rank (memory), "
            "60.00 and 40.00 (cache); all-reduce at most 6.00 GB/s (memory)");
  EXPECT_EQ(bound.limit,
            "copy and reduce, GB/s of each of 16 ranks at once, by bytes in use: 60.00 and 40.00 "
            "from 2 MiB on, 12.00 and 4.00 from 64 MiB on");
  ASSERT_TRUE(bound.bus_GBps != nullptr);
  const BoundRow row{.collective = &test::collective("allreduce"), .ranks = 16, .size = kGiB};
  EXPECT_DOUBLE_EQ(bound.bus_GBps(row).value_or(0), 6);
}

TEST(HostBoundWords, TellWhyThereIsNone) {
  HostTeam team{.device_set = "cores 0-1", .ranks = 4, .nodes = 2};
  const auto note = [](const HostTeam& of) {
    return host_bound(of, test::collective("allreduce"), {}).note;
  };
  EXPECT_EQ(note(team),
            "Host: 4 ranks on cores 0-1: no bound: 2 nodes, and what joins them is not known");
  team.nodes = 1;
  team.whole = false;
  EXPECT_EQ(
      note(team),
      "Host: 4 ranks on cores 0-1: no bound: rows are not of all ranks that share the memory");
  team.whole = true;
  team.measured = false;
  EXPECT_EQ(note(team), "Host: 4 ranks on cores 0-1: no bound: not measured (--host-limits off)");
  const SetBound none = host_bound(team, test::collective("allreduce"), {});
  EXPECT_EQ(none.kind, "");
  EXPECT_EQ(none.limit, "");
  EXPECT_TRUE(none.bus_GBps == nullptr);
  team.measured = true;
  EXPECT_EQ(note(team), "Host: 4 ranks on cores 0-1: no bound: no memory to measure with");
}

TEST(HostBoundWords, AreNoneForOneRank) {
  const HostTeam team{.device_set = "cores 0"};
  EXPECT_EQ(host_bound_obstacle(team), "one rank");
  const SetBound bound = host_bound(team, test::collective("allreduce"), {});
  EXPECT_EQ(bound.device_set, "cores 0");
  EXPECT_EQ(bound.note, "");
}

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "harness/memory_pool.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/fake_communicator.hpp"
#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

/// Four ranks on a host, for each of which 10 GiB are available.
Placements four_ranks() {
  Placements placements;
  placements.most_ranks_per_host = 4;
  placements.least_memory = 10 * kGiB;
  return placements;
}

MemoryPool find(const Options& options, std::optional<Bytes> device_memory = {}, int sharers = 1) {
  test::FakeBootstrap everyone;
  test::FakeCommunicator communicator;
  communicator.device_memory = device_memory;
  return find_memory(everyone, options, four_ranks(), communicator, sharers);
}

TEST(MemoryPool, IsSharedOutEquallyAmongItsRanks) {
  EXPECT_EQ((MemoryPool{.ranks = 4, .free = 1000, .share = 0.5}.per_rank()), 125U);
  EXPECT_EQ((MemoryPool{.ranks = 1, .free = 1000, .share = 1}.per_rank()), 1000U);
}

TEST(FindMemory, IsTheHostsWithoutADevice) {
  const MemoryPool pool = find({});
  EXPECT_EQ(pool.place, "host");
  EXPECT_EQ(pool.ranks, 4);
  EXPECT_EQ(pool.free, 42949672960U);  // 40 GiB
  EXPECT_DOUBLE_EQ(pool.share, 0.85);
  EXPECT_FALSE(pool.by_option);
}

TEST(FindMemory, IsTheDevicesWhereThereIsOne) {
  const MemoryPool pool = find({}, 80 * kGiB);
  EXPECT_EQ(pool.place, "GPU");
  EXPECT_EQ(pool.ranks, 1);
  EXPECT_EQ(pool.free, 85899345920U);  // 80 GiB
  EXPECT_DOUBLE_EQ(pool.share, 0.95);
}

TEST(FindMemory, IsDividedAmongTheRanksThatShareADevice) {
  const MemoryPool pool = find({}, 80 * kGiB, 5);
  EXPECT_EQ(pool.ranks, 5);
  EXPECT_EQ(pool.free, 85899345920U);
  EXPECT_EQ(pool.per_rank(), 16320875724U);  // 95 % of 16 GiB
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
  test::on_ranks(3, [](test::ThreadBootstrap& everyone) {
    // Rank 0 has a device of its own; ranks 1 and 2 share a larger one.
    const bool alone = everyone.rank() == 0;
    test::FakeCommunicator communicator;
    communicator.device_memory = alone ? 3000 : 10000;
    const MemoryPool pool = find_memory(everyone, {}, four_ranks(), communicator, alone ? 1 : 2);
    EXPECT_EQ(pool.ranks, 2);
    EXPECT_EQ(pool.free, 6000U);
    EXPECT_EQ(pool.per_rank(), 2850U);
  });
}

}  // namespace
}  // namespace busbar

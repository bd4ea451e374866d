// SPDX-License-Identifier: BSD-3-Clause
#include "harness/memory_bandwidth.hpp"

#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/support/fake_communicator.hpp"
#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

constexpr std::size_t kCount = (2 * kCopyBlock + 4 * 1001) / sizeof(float);  // no whole blocks

std::vector<float> rising(float first) {
  std::vector<float> values(kCount);
  for (std::size_t i = 0; i < kCount; ++i) values[i] = first + static_cast<float>(i);
  return values;
}

/// What becomes of 1, 2, 3, ... by 10, 11, 12, ...
std::vector<float> result_of(MemoryKernel kernel) {
  std::vector<float> to = rising(1);
  const std::vector<float> from = rising(10);
  run_kernel(kernel, std::as_writable_bytes(std::span(to)), std::as_bytes(std::span(from)));
  return to;
}

TEST(MemoryKernels, CopyEveryByteAndAddEveryElement) {
  EXPECT_EQ(result_of(MemoryKernel::CopyWhole), rising(10));
  EXPECT_EQ(result_of(MemoryKernel::CopyBlocks), rising(10));
  const std::vector<float> sums = result_of(MemoryKernel::Add);
  EXPECT_EQ(sums.front(), 11.0F);
  EXPECT_EQ(sums.back(), 11.0F + 2.0F * static_cast<float>(kCount - 1));
  EXPECT_EQ(sums[kCount - 2], 11.0F + 2.0F * static_cast<float>(kCount - 2));
}

HostBandwidth three_sets() {
  return {{{.set = 256 * kKiB, .copy_GBps = 40, .reduce_GBps = 30},
           {.set = 8 * kMiB, .copy_GBps = 20, .reduce_GBps = 15},
           {.set = 64 * kMiB, .copy_GBps = 8, .reduce_GBps = 6}}};
}

TEST(HostBandwidth, IsThatOfTheLargestSetThatIsNotLargerOrTheFastest) {
  const HostBandwidth limits = three_sets();
  EXPECT_DOUBLE_EQ(limits.of(64 * kMiB).copy_GBps, 8);
  EXPECT_DOUBLE_EQ(limits.of(kGiB).reduce_GBps, 6);
  EXPECT_DOUBLE_EQ(limits.of(64 * kMiB - 1).copy_GBps, 20);
  EXPECT_DOUBLE_EQ(limits.of(8 * kMiB).reduce_GBps, 15);
  EXPECT_DOUBLE_EQ(limits.of(256 * kKiB).copy_GBps, 40);
  EXPECT_DOUBLE_EQ(limits.of(8).copy_GBps, 40);
}

TEST(SetsToMeasure, LieNextToTheProcessorsInTheCacheAndBeyondIt) {
  EXPECT_EQ(sets_to_measure(32 * kMiB, 2, kGiB),
            (std::vector<Bytes>{256 * kKiB, 8 * kMiB, 64 * kMiB}));
  EXPECT_EQ(sets_to_measure(32 * kMiB, 16, kGiB),
            (std::vector<Bytes>{2 * kMiB, 8 * kMiB, 64 * kMiB}));
  EXPECT_EQ(sets_to_measure(kMiB, 4, kGiB), (std::vector<Bytes>{512 * kKiB, 2 * kMiB}));
  EXPECT_EQ(sets_to_measure(0, 2, kGiB), (std::vector<Bytes>{256 * kKiB, 128 * kMiB}));
}

TEST(SetsToMeasure, TakeNoMoreOfARankThanItHasAndSixtyFourMebibytes) {
  EXPECT_EQ(sets_to_measure(32 * kMiB, 2, 2 * kMiB), (std::vector<Bytes>{256 * kKiB, 4 * kMiB}));
  EXPECT_EQ(sets_to_measure(kGiB, 2, kGiB).back(), 128 * kMiB);
  EXPECT_TRUE(sets_to_measure(32 * kMiB, 2, 100).empty());
}

TEST(TimeOfAll, IsTheSlowestRanksOrAllTheirWorkWhereTheyShareProcessors) {
  EXPECT_DOUBLE_EQ(time_of_all({0.1, 0.4, 0.2}, 3).count(), 0.4);
  EXPECT_DOUBLE_EQ(time_of_all({0.1, 0.4, 0.2}, 64).count(), 0.4);
  EXPECT_DOUBLE_EQ(time_of_all(std::vector<double>(16, 0.1), 2).count(), 0.8);
  EXPECT_DOUBLE_EQ(time_of_all({0.1, 0.2}, 0.5).count(), 0.6);
  EXPECT_GT(time_of_all({0, 0}, 2).count(), 0);
}

TEST(MeasureHostLimits, GivesTheSameFallingRatesToAllRanksAndTakesOneBuffer) {
  constexpr int kRanks = 2;
  std::array<HostBandwidth, kRanks> found;
  test::on_ranks(kRanks, [&](test::ThreadBootstrap& world) {
    test::FakeCommunicator communicator;
    found.at(static_cast<std::size_t>(world.rank())) = measure_host_bandwidth(
        world, communicator,
        {.last_level_cache = kMiB, .processors = 2, .most_per_rank = 64 * kMiB});
    EXPECT_EQ(communicator.allocated, kMiB + kSourceSkew);  // half of the larger set
  });
  const auto& rates = found[0].rates;
  ASSERT_EQ(rates.size(), 2U);
  EXPECT_EQ(rates[0].set, 256 * kKiB);
  EXPECT_EQ(rates[1].set, 2 * kMiB);
  EXPECT_GT(rates[1].copy_GBps, 0);
  EXPECT_GT(rates[1].reduce_GBps, 0);
  EXPECT_GE(rates[0].copy_GBps, rates[1].copy_GBps);
  EXPECT_GE(rates[0].reduce_GBps, rates[1].reduce_GBps);
  for (std::size_t i = 0; i < rates.size(); ++i) {
    EXPECT_DOUBLE_EQ(found[1].rates.at(i).copy_GBps, rates[i].copy_GBps);
    EXPECT_DOUBLE_EQ(found[1].rates.at(i).reduce_GBps, rates[i].reduce_GBps);
  }
}

TEST(MeasureHostLimits, GivesNothingWhereThereIsNoMemory) {
  test::on_ranks(1, [](test::ThreadBootstrap& world) {
    test::FakeCommunicator communicator;
    EXPECT_TRUE(
        measure_host_bandwidth(world, communicator, {.last_level_cache = kMiB}).rates.empty());
  });
}

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
// Rows that are measured at the same time, by ranks that are threads: harness/chunk,
// harness/sampler.
#include <gtest/gtest.h>

#include "harness/sampler.hpp"
#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/fake_communicator.hpp"
#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

using stats::StopReason;

constexpr Seconds kMillisecond{1e-3};

TEST(ChunkRunOfCrews, BeginsOnAllRanksAndCombinesTimesOfTheSharersOnly) {
  test::on_ranks(4, [](test::ThreadBootstrap& world) {
    const auto part = world.split(world.rank() / 2);
    test::FakeCommunicator communicator;
    const int rank = world.rank();
    communicator.operation_time = [rank](std::size_t) { return Seconds{(rank + 1) * 1e-6}; };
    const std::vector<Call> calls{Call{.collective = &test::collective("allreduce")}};
    ChunkRunner chunks({.world = world, .members = *part}, communicator, calls, {}, [] {});
    world.barriers = 0;
    const ChunkResult result = chunks.run(ChunkShape::of(3, 1));
    EXPECT_EQ(world.barriers, 1);
    ASSERT_EQ(result.samples_us.size(), 3U);
    EXPECT_NEAR(result.samples_us.front(), rank < 2 ? 2 : 4, 1e-9);
    EXPECT_EQ(world.gather(result.elapsed_s), std::vector<double>(4, result.elapsed_s));
  });
}

TEST(PairGroup, IsLedByTheFirstOfItsSharersUnlessItIsIdle) {
  test::FakeBootstrap first(0, 2);
  test::FakeBootstrap second(1, 2);
  EXPECT_TRUE((PairGroup{.world = second, .members = first}.leads()));
  EXPECT_FALSE((PairGroup{.world = first, .members = second}.leads()));
  EXPECT_FALSE((PairGroup{.world = first, .members = first, .idle = true}.leads()));
}

using TimeOfOperation = std::function<Seconds(std::size_t)>;

Seconds steadily(std::size_t /*n*/) { return kMillisecond; }
Seconds swinging(std::size_t n) { return kMillisecond * (n % 2 == 0 ? 1 : 3); }

/// Crews of two ranks each, and a rank without a row after them; what each rank came to.
std::vector<Samples> take_in_groups(const std::vector<TimeOfOperation>& time_of_group,
                                    const TimeOfOperation& time_of_idle, const SamplingPlan& plan) {
  const auto pair_groups = time_of_group.size();
  const auto ranks = 2 * pair_groups + 1;
  std::vector<Samples> samples(ranks);
  test::on_ranks(static_cast<int>(ranks), [&](test::ThreadBootstrap& world) {
    const auto rank = static_cast<std::size_t>(world.rank());
    const bool idle = rank == 2 * pair_groups;
    const auto part = world.split(world.rank() / 2);
    const PairGroup pair_group{.world = world, .members = *part, .idle = idle};
    test::FakeCommunicator communicator;
    communicator.operation_time = idle ? time_of_idle : time_of_group[rank / 2];
    const std::vector<Call> calls{Call{.collective = &test::collective("allreduce")}};
    ChunkRunner chunks(pair_group, communicator, calls, {}, [] {});
    samples[rank] = take_samples(pair_group, chunks, plan, {});
  });
  return samples;
}

SamplingPlan warm_plan() {
  SamplingPlan plan{.warmup_operations = 2};
  plan.limits.time_budget_s = 1000;
  return plan;
}

TEST(SamplingInCrews, EndsWhereEveryRowHasEnough) {
  const auto samples = take_in_groups({steadily, steadily}, steadily, warm_plan());
  for (const Samples& of_rank : samples) EXPECT_EQ(of_rank.times_us.size(), 50U);
  EXPECT_EQ(samples[0].stop, StopReason::CiWidth);
  EXPECT_EQ(samples[3].stop, StopReason::CiWidth);
}

TEST(SamplingInCrews, LetsAnIdleRankDecideNothing) {
  const auto samples = take_in_groups({steadily}, swinging, warm_plan());
  for (const Samples& of_rank : samples) EXPECT_EQ(of_rank.times_us.size(), 50U);
  EXPECT_EQ(samples[0].stop, StopReason::CiWidth);
}

TEST(SamplingInCrews, LetsAnIdleRankNeitherSizeBatchesNorProlongWarmup) {
  SamplingPlan plan{.operations = 8, .timer_cost_s = 1e-6};
  plan.limits.time_budget_s = 1000;
  const TimeOfOperation in_no_time = [](std::size_t) { return Seconds{1e-9}; };
  const auto samples = take_in_groups({steadily}, in_no_time, plan);
  EXPECT_EQ(samples[0].batch, 1U);
  EXPECT_EQ(samples[2].batch, 1U);
  const auto falling = [](std::size_t n) { return Seconds{1 / static_cast<double>(n)}; };
  EXPECT_EQ(take_in_groups({steadily}, falling, plan)[0].warmup_operations, 11U);
}

TEST(SamplingInCrews, GoesOnUntilTheSlowestRowHasEnough) {
  const auto samples = take_in_groups({steadily, swinging}, steadily, warm_plan());
  for (const Samples& of_rank : samples) EXPECT_EQ(of_rank.times_us.size(), 500U);
  EXPECT_EQ(samples[0].stop, StopReason::CiWidth);
  EXPECT_EQ(samples[2].stop, StopReason::MaxSamples);
  EXPECT_EQ(samples[3].stop, StopReason::MaxSamples);
}

TEST(SamplingInCrews, WarmsUpUntilEveryRowIsSteady) {
  SamplingPlan plan{.operations = 1};
  plan.limits.time_budget_s = 1000;
  const auto falling = [](std::size_t n) {
    return kMillisecond * (n <= 11 ? 12.0 - static_cast<double>(n) : 1);
  };
  const auto samples = take_in_groups({steadily, falling}, steadily, plan);
  EXPECT_GT(samples[0].warmup_operations, 11U);
  for (const Samples& of_rank : samples) {
    EXPECT_EQ(of_rank.warmup_operations, samples[0].warmup_operations);
  }
  EXPECT_TRUE(samples[0].steady);
  EXPECT_TRUE(samples[2].steady);
}

TEST(SamplingInCrews, MakesBatchesForTheFastestRow) {
  SamplingPlan plan{.operations = 40, .warmup_operations = 2, .timer_cost_s = 40e-9};
  const TimeOfOperation fast = [](std::size_t) { return Seconds{1e-6}; };
  for (const Samples& of_rank : take_in_groups({steadily, fast}, steadily, plan)) {
    EXPECT_EQ(of_rank.batch, 4U);
    EXPECT_EQ(of_rank.times_us.size(), 10U);
  }
}

}  // namespace
}  // namespace busbar

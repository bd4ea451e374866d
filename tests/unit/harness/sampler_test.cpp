// SPDX-License-Identifier: BSD-3-Clause
#include "harness/sampler.hpp"

#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/fake_communicator.hpp"
#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

using stats::StopReason;

constexpr Seconds kMillisecond{1e-3};

Seconds steadily(std::size_t /*n*/) { return kMillisecond; }
/// No interval is narrow, and no warm-up would end.
Seconds swinging(std::size_t n) { return kMillisecond * (n % 2 == 0 ? 1 : 3); }
/// The first ten times fall.
Seconds falling(std::size_t n) {
  return kMillisecond * (n <= 11 ? 12.0 - static_cast<double>(n) : 1);
}

struct Sampling : testing::Test {
  Sampling() {
    plan.limits.time_budget_s = 1000;  // does not end it
    // The rank whose clock counts is another one, for which an operation takes what it is said to:
    // the first maximum over all ranks after some operations is that of the time they took.
    world.others = [this](std::span<double> values, Combine how) {
      if (how == Combine::Max && passed_s > 0) values[0] = std::exchange(passed_s, 0);
    };
  }

  Evidence take(const ProgressReport& report = {}) {
    const auto operation_time = communicator.operation_time;
    communicator.operation_time = [&](std::size_t n) {
      const Seconds time = operation_time(n);
      passed_s += time.count();
      return time;
    };
    const RoundGroup round_group{.world = world, .members = members};
    StepTracker tracker;
    ChunkRunner runner(round_group, communicator, calls, {}, tracker);
    Evidence samples;
    take_samples(round_group, runner, plan, report, samples);
    communicator.operation_time = operation_time;
    return samples;
  }
  /// So many operations after so many of warm-up.
  void count(std::uint64_t operations, std::optional<std::uint64_t> warmup = {}) {
    plan.operations = operations;
    plan.warmup_operations = warmup;
  }
  void take_each(Seconds time) {
    communicator.operation_time = [time](std::size_t) { return time; };
  }
  [[nodiscard]] std::size_t operations() const { return communicator.calls.size(); }

  SamplingPlan plan;
  test::FakeBootstrap world;
  test::FakeBootstrap members;
  test::FakeCommunicator communicator;
  std::vector<Call> calls{Call{.collective = &test::collective("allreduce")}};
  double passed_s = 0;  // since the last chunk
};

TEST_F(Sampling, DoesExactlyTheOperationsThatWereAskedFor) {
  count(7, 3);
  const Evidence samples = take();
  EXPECT_EQ(operations(), 10U);
  EXPECT_EQ(samples.operations, 7U);
  EXPECT_EQ(samples.warmup_operations, 3U);
  EXPECT_EQ(samples.times_us, std::vector<double>(7, 1000));
  EXPECT_EQ(samples.stop, StopReason::Count);
  count(2, 0);
  EXPECT_EQ(take().warmup_operations, 0U);
  EXPECT_EQ(operations(), 12U);
}

/// - 1 ms: none, of 0.04 us; 1 us: a hundred of 0.04 us
/// - the first operation, which connects, does not count; 99.5 are a hundred of 0.995 us, which
///   makes 99 batches of 100 out of 9900, not 100 of 99
/// - a hundred of 1 us would be a sample of 100, but 7 are asked for
TEST_F(Sampling, PutsSmallOperationsIntoBatchesOfAHundredTimerCostsAndLargeOnesIntoNone) {
  struct Batched {
    double time_us;
    double timer_cost_us;
    std::uint64_t operations;
    std::uint64_t batch;
    std::size_t samples;
  };
  for (const Batched& c : {Batched{1000, 0.04, 5, 1, 5},
                           {1, 0.04, 40, 4, 10},
                           {1, 0.995, 9900, 100, 99},
                           {1, 1, 7, 7, 1}}) {
    communicator.calls.clear();
    communicator.operation_time = [&](std::size_t n) {
      return Seconds{n == 1 ? 1 : c.time_us / 1e6};
    };
    plan.timer_cost_s = c.timer_cost_us / 1e6;
    count(c.operations);
    const Evidence samples = take();
    EXPECT_EQ(samples.batch, c.batch);
    EXPECT_EQ(samples.operations, c.operations);
    EXPECT_EQ(samples.times_us.size(), c.samples);
    EXPECT_NEAR(samples.times_us.front(), c.time_us, 1e-9);
  }
}

TEST_F(Sampling, WarmsUpUntilTwoWindowsAgree) {
  count(1);
  const Evidence samples = take();
  EXPECT_EQ(samples.warmup_operations, 11U);  // one, and two windows of five
  EXPECT_TRUE(samples.steady);
}

TEST_F(Sampling, BeginsNoWarmupWindowThatDoesNotFit) {
  take_each(Seconds{3});
  count(2);
  for (const double budget_s : {3.0, 1.0}) {
    plan.limits.time_budget_s = budget_s;
    const Evidence samples = take();
    EXPECT_EQ(samples.warmup_operations, 1U) << budget_s;
    EXPECT_EQ(samples.times_us.size(), 2U) << budget_s;  // as many as are asked for, however long
  }
}

TEST_F(Sampling, ReportsTimesThatNeverBecameSteady) {
  communicator.operation_time = [](std::size_t n) { return kMillisecond * static_cast<double>(n); };
  count(1);
  // 1 ms, then medians of 4 and 9 ms: the windows end after 21 and 66 ms. A third of 45 ms fits
  // into 125 ms, a quarter of the budget, but not into 100 ms; a fourth of 70 ms into neither.
  for (const auto& [budget_s, operations] : {std::pair{0.5, 16U}, {0.4, 11U}}) {
    plan.limits.time_budget_s = budget_s;
    communicator.calls.clear();
    const Evidence samples = take();
    EXPECT_EQ(samples.warmup_operations, operations);
    EXPECT_FALSE(samples.steady);
  }
}

// A sample of 10 operations of 1 ms, and a window of 5 such samples, which 40 ms have no room for.
TEST_F(Sampling, BeginsNoWarmupWindowWhoseBatchesDoNotFit) {
  plan.limits.time_budget_s = 0.16;
  count(1);
  plan.timer_cost_s = 0.95e-4;
  EXPECT_EQ(take().warmup_operations, 1U);
}

/// How much of a budget of 1 s the first operation and each window of five take, and how many of
/// them fit into a quarter of it: with 40 ms 0.04 + 0.2, with 41 ms 0.041 + 0.205, with 42 ms not
/// 0.042 + 0.21; two windows from 0.25 / 11 s = 22.7 ms down.
TEST_F(Sampling, BeginsNoSecondWindowThatDoesNotFitEither) {
  for (const auto& [milliseconds, operations] :
       {std::pair{22, 11U}, {23, 6U}, {40, 6U}, {41, 6U}, {42, 1U}}) {
    take_each(milliseconds * kMillisecond);
    plan.limits.time_budget_s = 1;
    count(1);
    const Evidence samples = take();
    EXPECT_EQ(samples.warmup_operations, operations) << milliseconds;
    EXPECT_TRUE(samples.steady) << milliseconds;  // one window has none to differ from
  }
}

/// Of a budget of 1 s, after one operation of warm-up, 20 samples at most between two looks:
/// - 30 ms: 20 end at 0.63 s; 0.37 s take 12.3 more, which end at 0.99 s; one more, at 1.02 s
/// - 130 ms: 0.87 s take 6.7, which end at 0.91 s; one more, at 1.04 s
/// - 400 ms: 0.6 s take 1.5, but two are the least
/// - 2000 ms: two are the least
TEST_F(Sampling, StopsAtItsTimeBudget) {
  plan.warmup_operations = 1;
  plan.limits.time_budget_s = 1;
  for (const auto& [milliseconds, count] : {std::pair{30, 33U}, {130, 7U}, {400, 2U}, {2000, 2U}}) {
    take_each(milliseconds * kMillisecond);
    const Evidence samples = take();
    EXPECT_EQ(samples.stop, StopReason::TimeBudget) << milliseconds;
    EXPECT_EQ(samples.times_us.size(), count) << milliseconds;
  }
  // A sample is 10 operations of 1 ms: of 99 ms 9.9 take 90, one more ends at 101 ms.
  take_each(kMillisecond);
  plan.timer_cost_s = 0.95e-4;
  plan.limits.time_budget_s = 0.1;
  const Evidence samples = take();
  EXPECT_EQ(samples.batch, 10U);
  EXPECT_EQ(samples.times_us.size(), 10U);
}

/// Of a visit's share of a fifth of 5 s, and of a row's 5 s:
/// - 400 ms: 1 of warm-up, since a sample still fits; 0.6 s take 1.5; one more, at 1.2 s
/// - 600 ms: none of warm-up, since no sample would fit; a second, at 1.2 s
/// - 1100 ms: none, and no second
/// - 1300 ms: of the row's 5 s an interval's visits could not have one each: 1 of warm-up, 2.8
///   more, which end at 3.9 s; one more, at 5.2 s. In a later visit: none of warm-up, and no
///   second.
TEST_F(Sampling, TakesAVisitsShareUnlessTheRowsBudgetIsTooSmallForVisits) {
  plan.whole = stats::StopLimits{.time_budget_s = 5};
  plan.limits = stats::share_of(*plan.whole, 5);
  struct Share {
    int milliseconds;
    std::uint64_t warmup;
    std::size_t samples;
  };
  for (const Share& c : {Share{400, 1, 2}, {600, 0, 2}, {1100, 0, 1}, {1300, 1, 3}}) {
    take_each(c.milliseconds * kMillisecond);
    const Evidence samples = take();
    EXPECT_EQ(samples.warmup_operations, c.warmup) << c.milliseconds;
    EXPECT_EQ(samples.times_us.size(), c.samples) << c.milliseconds;
  }
  plan.first_visit = false;
  EXPECT_EQ(take().times_us.size(), 1U);
}

TEST_F(Sampling, ReportsProgressAfterEveryChunk) {
  communicator.operation_time = swinging;
  plan.warmup_operations = 2;
  std::vector<std::size_t> reported;
  bool interval = false;
  (void)take([&](std::size_t count, std::optional<double> half_width) {
    reported.push_back(count);
    interval = interval || half_width.has_value();
  });
  EXPECT_EQ(reported.front(), 20U);
  EXPECT_EQ(reported.back(), 500U);
  EXPECT_TRUE(interval);
}

TEST_F(Sampling, GivesTheDisturbancesOfTheWorstRank) {
  members.others = [](std::span<double> values, Combine how) {
    if (how != Combine::Max || values.size() != 2) return;
    values[0] = 5000;
    values[1] = 70;
  };
  count(10, 0);
  const Evidence samples = take();
  EXPECT_DOUBLE_EQ(samples.disturbances.minor_faults, 5000);
  EXPECT_DOUBLE_EQ(samples.disturbances.involuntary_switches, 70);
}

TEST_F(Sampling, KeepsTheHostsTimesBesideTheSamples) {
  count(12, 0);
  plan.least_batch = 3;
  const Evidence samples = take();
  EXPECT_EQ(samples.times_us.size(), 12U);
  EXPECT_EQ(samples.enqueue_us.size(), 1U);
  EXPECT_EQ(samples.host_times_us.size(), 1U);  // one chunk
}

// Rows that are measured at the same time, by ranks that are threads.
TEST(ChunkRunOfRoundGroups, BeginsOnAllRanksAndCombinesTimesOfAGroupOnly) {
  test::on_ranks(4, [](test::ThreadBootstrap& world) {
    const auto part = world.split(world.rank() / 2);
    test::FakeCommunicator communicator;
    const int rank = world.rank();
    communicator.operation_time = [rank](std::size_t) { return Seconds{(rank + 1) * 1e-6}; };
    const std::vector<Call> calls{Call{.collective = &test::collective("allreduce")}};
    StepTracker tracker;
    ChunkRunner chunks({.world = world, .members = *part}, communicator, calls, {}, tracker);
    world.barriers = 0;
    const ChunkResult result = chunks.run(ChunkShape::of(3, 1));
    EXPECT_EQ(world.barriers, 1);
    EXPECT_THAT(result.samples_us, testing::Each(testing::DoubleNear(rank < 2 ? 2 : 4, 1e-9)));
    EXPECT_EQ(world.gather(result.elapsed_s), std::vector<double>(4, result.elapsed_s));
  });
}

using TimeOfOperation = std::function<Seconds(std::size_t)>;

/// Crews of two ranks each, and a rank without a row after them; what each rank came to.
std::vector<Evidence> take_in_groups(const std::vector<TimeOfOperation>& time_of_group,
                                     const TimeOfOperation& time_of_idle,
                                     const SamplingPlan& plan) {
  const auto round_groups = time_of_group.size();
  const auto ranks = 2 * round_groups + 1;
  std::vector<Evidence> samples(ranks);
  test::on_ranks(static_cast<int>(ranks), [&](test::ThreadBootstrap& world) {
    const auto rank = static_cast<std::size_t>(world.rank());
    const bool idle = rank == 2 * round_groups;
    const auto part = world.split(world.rank() / 2);
    const RoundGroup round_group{.world = world, .members = *part, .idle = idle};
    test::FakeCommunicator communicator;
    communicator.operation_time = idle ? time_of_idle : time_of_group[rank / 2];
    const std::vector<Call> calls{Call{.collective = &test::collective("allreduce")}};
    StepTracker tracker;
    ChunkRunner chunks(round_group, communicator, calls, {}, tracker);
    take_samples(round_group, chunks, plan, {}, samples[rank]);
  });
  return samples;
}

SamplingPlan warm_plan() {
  SamplingPlan plan{.warmup_operations = 2};
  plan.limits.time_budget_s = 1000;
  return plan;
}

TEST(SamplingInRoundGroups, EndsWhereEveryRowHasEnoughWhateverAnIdleRankDoes) {
  for (const TimeOfOperation& idle : {TimeOfOperation(steadily), TimeOfOperation(swinging)}) {
    const auto samples = take_in_groups({steadily, steadily}, idle, warm_plan());
    for (const Evidence& of_rank : samples) EXPECT_EQ(of_rank.times_us.size(), 50U);
    EXPECT_EQ(samples[0].stop, StopReason::CiWidth);
    EXPECT_EQ(samples[3].stop, StopReason::CiWidth);
  }
}

TEST(SamplingInRoundGroups, LetsAnIdleRankNeitherSizeBatchesNorProlongWarmup) {
  SamplingPlan plan{.operations = 8, .timer_cost_s = 1e-6};
  plan.limits.time_budget_s = 1000;
  const TimeOfOperation in_no_time = [](std::size_t) { return Seconds{1e-9}; };
  const auto samples = take_in_groups({steadily}, in_no_time, plan);
  EXPECT_EQ(samples[0].batch, 1U);
  EXPECT_EQ(samples[2].batch, 1U);
  const auto ever_less = [](std::size_t n) { return Seconds{1 / static_cast<double>(n)}; };
  EXPECT_EQ(take_in_groups({steadily}, ever_less, plan)[0].warmup_operations, 11U);
}

TEST(SamplingInRoundGroups, GoesOnUntilTheSlowestRowHasEnough) {
  const auto samples = take_in_groups({steadily, swinging}, steadily, warm_plan());
  for (const Evidence& of_rank : samples) EXPECT_EQ(of_rank.times_us.size(), 500U);
  EXPECT_EQ(samples[0].stop, StopReason::CiWidth);
  EXPECT_EQ(samples[2].stop, StopReason::MaxSamples);
  EXPECT_EQ(samples[3].stop, StopReason::MaxSamples);
}

TEST(SamplingInRoundGroups, WarmsUpUntilEveryRowIsSteady) {
  SamplingPlan plan{.operations = 1};
  plan.limits.time_budget_s = 1000;
  const auto samples = take_in_groups({steadily, falling}, steadily, plan);
  EXPECT_GT(samples[0].warmup_operations, 11U);
  for (const Evidence& of_rank : samples) {
    EXPECT_EQ(of_rank.warmup_operations, samples[0].warmup_operations);
  }
  EXPECT_TRUE(samples[0].steady);
  EXPECT_TRUE(samples[2].steady);
}

TEST(SamplingInRoundGroups, MakesBatchesForTheFastestRow) {
  SamplingPlan plan{.operations = 40, .warmup_operations = 2, .timer_cost_s = 40e-9};
  const TimeOfOperation fast = [](std::size_t) { return Seconds{1e-6}; };
  for (const Evidence& of_rank : take_in_groups({steadily, fast}, steadily, plan)) {
    EXPECT_EQ(of_rank.batch, 4U);
    EXPECT_EQ(of_rank.times_us.size(), 10U);
  }
}

}  // namespace
}  // namespace busbar

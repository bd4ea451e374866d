// SPDX-License-Identifier: BSD-3-Clause
#include "harness/sampler.hpp"

#include <algorithm>
#include <utility>

#include <gtest/gtest.h>

#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

using stats::StopReason;

constexpr Seconds kMillisecond{1e-3};

class Sampling : public testing::Test {
 protected:
  Sampling() {
    // The rank whose clock counts is another one, for which an operation takes what it is said to:
    // the first maximum over all ranks after some operations is that of the time they took.
    world_.others = [this](std::span<double> values, Combine how) {
      if (how == Combine::Max && passed_s_ > 0) values[0] = std::exchange(passed_s_, 0);
    };
  }

  /// A plan whose time budget does not end it.
  static SamplingPlan plan() {
    SamplingPlan plan;
    plan.limits.time_budget_s = 1000;
    return plan;
  }

  Samples take(const SamplingPlan& plan, const ProgressReport& report = {}) {
    const auto operation_time = communicator_.operation_time;
    communicator_.operation_time = [&](std::size_t n) {
      const Seconds time = operation_time(n);
      passed_s_ += time.count();
      return time;
    };
    const PairGroup pair_group{.world = world_, .members = members_};
    ChunkRunner runner(pair_group, communicator_, calls_, {}, [] {});
    Samples samples = take_samples(pair_group, runner, plan, report);
    communicator_.operation_time = operation_time;
    return samples;
  }
  /// Operations that swing between one and three milliseconds: no interval is narrow, and no
  /// warm-up would end.
  SamplingPlan swinging_plan() {
    communicator_.operation_time = [](std::size_t n) {
      return kMillisecond * (n % 2 == 0 ? 1 : 3);
    };
    SamplingPlan swinging = plan();
    swinging.warmup_operations = 2;
    return swinging;
  }
  test::FakeCommunicator& communicator() { return communicator_; }
  test::FakeBootstrap& members() { return members_; }
  [[nodiscard]] std::size_t operations() const { return communicator_.calls.size(); }

 private:
  test::FakeBootstrap world_;
  test::FakeBootstrap members_;
  test::FakeCommunicator communicator_;
  std::vector<Call> calls_{Call{.collective = &test::collective("allreduce")}};
  double passed_s_ = 0;  // since the last chunk
};

TEST_F(Sampling, DoesExactlyTheOperationsThatWereAskedFor) {
  SamplingPlan exact = plan();
  exact.operations = 7;
  exact.warmup_operations = 3;
  const Samples samples = take(exact);
  EXPECT_EQ(operations(), 10U);
  EXPECT_EQ(samples.operations, 7U);
  EXPECT_EQ(samples.warmup_operations, 3U);
  EXPECT_EQ(samples.times_us, std::vector<double>(7, 1000));
  EXPECT_EQ(samples.stop, StopReason::Count);
}

TEST_F(Sampling, DoesNoWarmupWhereNoneIsAskedFor) {
  SamplingPlan exact = plan();
  exact.operations = 2;
  exact.warmup_operations = 0;
  EXPECT_EQ(take(exact).warmup_operations, 0U);
  EXPECT_EQ(operations(), 2U);
}

TEST_F(Sampling, PutsSmallOperationsIntoBatchesOfAHundredTimerCosts) {
  communicator().operation_time = [](std::size_t) { return Seconds{1e-6}; };
  SamplingPlan exact = plan();
  exact.operations = 40;
  exact.warmup_operations = 5;
  exact.timer_cost_s = 40e-9;
  const Samples samples = take(exact);
  EXPECT_EQ(samples.batch, 4U);
  EXPECT_EQ(samples.times_us.size(), 10U);
  EXPECT_EQ(samples.operations, 40U);
  EXPECT_NEAR(samples.times_us.front(), 1, 1e-9);
}

// 99.5 operations are a hundred timer costs. The first one, which connects, does not count.
TEST_F(Sampling, SizesBatchesByTheLastWarmup) {
  communicator().operation_time = [](std::size_t n) { return Seconds{n == 1 ? 1.0 : 1e-6}; };
  SamplingPlan exact = plan();
  exact.operations = 9900;  // 99 batches of 100, or 100 of 99
  exact.timer_cost_s = 0.995e-6;
  const Samples samples = take(exact);
  EXPECT_EQ(samples.batch, 100U);
  EXPECT_EQ(samples.times_us.size(), 99U);
}

TEST_F(Sampling, MeasuresLargeOperationsOneByOne) {
  SamplingPlan exact = plan();
  exact.operations = 5;
  exact.warmup_operations = 1;
  exact.timer_cost_s = 40e-9;
  EXPECT_EQ(take(exact).batch, 1U);
}

TEST_F(Sampling, AggregatesAtLeastAsManyOperationsAsAskedFor) {
  SamplingPlan exact = plan();
  exact.operations = 5;
  exact.warmup_operations = 0;
  exact.least_batch = 4;
  const Samples samples = take(exact);
  EXPECT_EQ(samples.batch, 4U);
  EXPECT_EQ(samples.operations, 20U);
  EXPECT_EQ(samples.times_us.size(), 5U);
}

TEST_F(Sampling, ReportsTheBatchThatItMade) {
  communicator().operation_time = [](std::size_t) { return Seconds{1e-6}; };
  SamplingPlan exact = plan();
  exact.operations = 7;
  exact.warmup_operations = 5;
  exact.timer_cost_s = 1e-6;  // a hundred operations would be a sample
  const Samples samples = take(exact);
  EXPECT_EQ(samples.operations, 7U);
  EXPECT_EQ(samples.batch * samples.times_us.size(), 7U);
}

TEST_F(Sampling, WarmsUpUntilTwoWindowsAgree) {
  SamplingPlan automatic = plan();
  automatic.operations = 1;
  const Samples samples = take(automatic);
  EXPECT_EQ(samples.warmup_operations, 11U);  // one, and two windows of five
  EXPECT_TRUE(samples.steady);
}

TEST_F(Sampling, WarmsUpWhileTimesFall) {
  communicator().operation_time = [](std::size_t n) {
    return kMillisecond * (n <= 11 ? 12.0 - static_cast<double>(n) : 1);
  };
  SamplingPlan automatic = plan();
  automatic.operations = 1;
  const Samples samples = take(automatic);
  EXPECT_GT(samples.warmup_operations, 11U);
  EXPECT_TRUE(samples.steady);
}

TEST_F(Sampling, BeginsNoWarmupWindowThatDoesNotFit) {
  communicator().operation_time = [](std::size_t) { return Seconds{3}; };
  SamplingPlan automatic = plan();
  automatic.limits.time_budget_s = 3;
  automatic.operations = 1;
  EXPECT_EQ(take(automatic).warmup_operations, 1U);
}

TEST_F(Sampling, SaysWhereTimesNeverBecameSteady) {
  communicator().operation_time = [](std::size_t n) {
    return kMillisecond * static_cast<double>(n);
  };
  SamplingPlan automatic = plan();
  automatic.operations = 1;
  // 1 ms, then medians of 4 and 9 ms: the windows end after 21 and 66 ms. A third of 45 ms fits
  // into 125 ms, a quarter of the budget, but not into 100 ms; a fourth of 70 ms into neither.
  for (const auto& [budget_s, operations] : {std::pair{0.5, 16U}, {0.4, 11U}}) {
    automatic.limits.time_budget_s = budget_s;
    communicator().calls.clear();
    const Samples samples = take(automatic);
    EXPECT_EQ(samples.warmup_operations, operations);
    EXPECT_FALSE(samples.steady);
  }
}

// A sample of 10 operations of 1 ms, and a window of 5 such samples, which 40 ms have no room for.
TEST_F(Sampling, BeginsNoWarmupWindowWhoseBatchesDoNotFit) {
  SamplingPlan automatic = plan();
  automatic.limits.time_budget_s = 0.16;
  automatic.operations = 1;
  automatic.timer_cost_s = 0.95e-4;
  EXPECT_EQ(take(automatic).warmup_operations, 1U);
}

/// How much of a budget of 1 s the first operation and each window of five take, and how many of
/// them fit into a quarter of it: with 40 ms 0.04 + 0.2, with 41 ms 0.041 + 0.205, with 42 ms not
/// 0.042 + 0.21; two windows from 0.25 / 11 s = 22.7 ms down.
TEST_F(Sampling, BeginsNoSecondWindowThatDoesNotFitEither) {
  for (const auto& [milliseconds, operations] :
       {std::pair{22, 11U}, {23, 6U}, {40, 6U}, {41, 6U}, {42, 1U}}) {
    communicator().operation_time = [time = milliseconds * kMillisecond](std::size_t) {
      return time;
    };
    SamplingPlan automatic = plan();
    automatic.limits.time_budget_s = 1;
    automatic.operations = 1;
    const Samples samples = take(automatic);
    EXPECT_EQ(samples.warmup_operations, operations) << milliseconds;
    EXPECT_TRUE(samples.steady) << milliseconds;  // one window has none to differ from
  }
}

TEST_F(Sampling, StopsWhereTheIntervalIsNarrowEnough) {
  const Samples samples = take(plan());
  EXPECT_EQ(samples.stop, StopReason::CiWidth);
  EXPECT_EQ(samples.times_us.size(), 50U);
}

TEST_F(Sampling, StopsAtTheMostSamples) {
  const Samples samples = take(swinging_plan());
  EXPECT_EQ(samples.stop, StopReason::MaxSamples);
  EXPECT_EQ(samples.times_us.size(), 500U);
}

/// Of a budget of 1 s, after one operation of warm-up, 20 samples at most between two looks:
/// - 30 ms: 20 end at 0.63 s; 0.37 s take 12.3 more, which end at 0.99 s; one more, at 1.02 s
/// - 130 ms: 0.87 s take 6.7, which end at 0.91 s; one more, at 1.04 s
/// - 400 ms: 0.6 s take 1.5, but two are the least
/// - 2000 ms: two are the least
TEST_F(Sampling, StopsAtItsTimeBudget) {
  for (const auto& [milliseconds, count] : {std::pair{30, 33U}, {130, 7U}, {400, 2U}, {2000, 2U}}) {
    communicator().operation_time = [time = milliseconds * kMillisecond](std::size_t) {
      return time;
    };
    SamplingPlan brief = plan();
    brief.warmup_operations = 1;
    brief.limits.time_budget_s = 1;
    const Samples samples = take(brief);
    EXPECT_EQ(samples.stop, StopReason::TimeBudget) << milliseconds;
    EXPECT_EQ(samples.times_us.size(), count) << milliseconds;
  }
}

TEST_F(Sampling, ReportsProgressAfterEveryChunk) {
  std::vector<std::size_t> reported;
  bool interval = false;
  (void)take(swinging_plan(), [&](std::size_t count, std::optional<double> half_width) {
    reported.push_back(count);
    interval = interval || half_width.has_value();
  });
  ASSERT_FALSE(reported.empty());
  EXPECT_EQ(reported.front(), 20U);
  EXPECT_EQ(reported.back(), 500U);
  EXPECT_TRUE(interval);
}

TEST_F(Sampling, GivesDisturbancesPerOperation) {
  SamplingPlan exact = plan();
  exact.operations = 1000;
  exact.warmup_operations = 0;
  const Samples samples = take(exact);
  EXPECT_GE(samples.disturbances.minor_faults, 0);
  EXPECT_LT(samples.disturbances.minor_faults, 10);
}

// The worst rank had 5000 faults and 70 switches, of 10 operations.
TEST_F(Sampling, GivesTheDisturbancesOfTheWorstRankPerOperation) {
  members().others = [](std::span<double> values, Combine how) {
    if (how != Combine::Max || values.size() != 2) return;
    values[0] = 5000;
    values[1] = 70;
  };
  SamplingPlan exact = plan();
  exact.operations = 10;
  exact.warmup_operations = 0;
  const Samples samples = take(exact);
  EXPECT_DOUBLE_EQ(samples.disturbances.minor_faults, 500);
  EXPECT_DOUBLE_EQ(samples.disturbances.involuntary_switches, 7);
}

// A sample is 10 operations of 1 ms: of 99 ms 9.9 samples take 90, one more ends at 101 ms.
TEST_F(Sampling, CountsItsTimeBudgetInBatches) {
  SamplingPlan brief = plan();
  brief.warmup_operations = 1;
  brief.timer_cost_s = 0.95e-4;
  brief.limits.time_budget_s = 0.1;
  const Samples samples = take(brief);
  EXPECT_EQ(samples.batch, 10U);
  EXPECT_EQ(samples.times_us.size(), 10U);
}

TEST_F(Sampling, KeepsTheHostsTimesBesideTheSamples) {
  SamplingPlan exact = plan();
  exact.operations = 12;
  exact.warmup_operations = 0;
  exact.least_batch = 3;
  const Samples samples = take(exact);
  EXPECT_EQ(samples.times_us.size(), 12U);
  EXPECT_EQ(samples.enqueue_us.size(), 1U);
  EXPECT_EQ(samples.host_times_us.size(), 1U);  // one chunk
}

}  // namespace
}  // namespace busbar

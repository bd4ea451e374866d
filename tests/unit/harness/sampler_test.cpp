// SPDX-License-Identifier: BSD-3-Clause
#include "harness/sampler.hpp"

#include <thread>

#include <gtest/gtest.h>

#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

using stats::StopReason;

constexpr Seconds kMillisecond{1e-3};

class Sampling : public testing::Test {
 protected:
  /// A plan that no clock of a slow machine can cut short.
  static SamplingPlan plan() {
    SamplingPlan plan;
    plan.limits.time_budget_s = 1000;
    return plan;
  }

  Samples take(const SamplingPlan& plan, const ProgressReport& report = {}) {
    const Crew crew{.everyone = bootstrap_, .sharers = bootstrap_};
    ChunkRunner runner(crew, communicator_, calls_, {}, [] {});
    return take_samples(crew, runner, plan, report);
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
  [[nodiscard]] std::size_t operations() const { return communicator_.calls.size(); }

 private:
  test::FakeBootstrap bootstrap_;
  test::FakeCommunicator communicator_;
  std::vector<Call> calls_{Call{.collective = &test::collective("allreduce")}};
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
    std::this_thread::sleep_for(kMillisecond);
    return kMillisecond * static_cast<double>(n);
  };
  SamplingPlan automatic = plan();
  automatic.limits.time_budget_s = 0.2;
  automatic.operations = 1;
  EXPECT_FALSE(take(automatic).steady);
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

TEST_F(Sampling, StopsAtItsTimeBudget) {
  communicator().operation_time = [](std::size_t n) {
    std::this_thread::sleep_for(kMillisecond);
    return kMillisecond * (n % 2 == 0 ? 1 : 3);
  };
  SamplingPlan brief = plan();
  brief.limits.time_budget_s = 0.1;
  const Samples samples = take(brief);
  EXPECT_EQ(samples.stop, StopReason::TimeBudget);
  EXPECT_LT(samples.times_us.size(), 500U);
  EXPECT_GE(samples.times_us.size(), 2U);
}

TEST_F(Sampling, TakesTwoSamplesOfWhatNoBudgetCanHold) {
  communicator().operation_time = [](std::size_t) {
    std::this_thread::sleep_for(10 * kMillisecond);
    return Seconds{0.01};
  };
  SamplingPlan brief = plan();
  brief.limits.time_budget_s = 0.001;
  const Samples samples = take(brief);
  EXPECT_EQ(samples.times_us.size(), 2U);
  EXPECT_EQ(samples.stop, StopReason::TimeBudget);
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

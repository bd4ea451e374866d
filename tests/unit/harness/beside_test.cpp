// SPDX-License-Identifier: BSD-3-Clause
#include "harness/beside.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

TEST(BesideEffect, IsTheMedianOfRatiosWithinTurns) {
  // The machine is three times slower in the last turn, which neither ratio sees.
  const std::array turns{
      BesideTurn{.alone_us = 10, .loaded_us = 15, .load_alone = 100, .load_beside = 80},
      BesideTurn{.alone_us = 10, .loaded_us = 16, .load_alone = 100, .load_beside = 50},
      BesideTurn{.alone_us = 30, .loaded_us = 48, .load_alone = 33, .load_beside = 22}};
  const BesideEffect effect = effect_of(turns);
  EXPECT_DOUBLE_EQ(effect.loaded_us, 16);
  EXPECT_DOUBLE_EQ(effect.operation_slowdown, 1.6);
  EXPECT_DOUBLE_EQ(*effect.load_slowdown, 1.5);
}

TEST(BesideEffect, HasNoSlowdownOfALoadThatCameToAHalt) {
  const BesideTurn halted{.alone_us = 10, .loaded_us = 15, .load_alone = 100, .load_beside = 0};
  const BesideTurn running{.alone_us = 10, .loaded_us = 15, .load_alone = 100, .load_beside = 50};
  EXPECT_DOUBLE_EQ(effect_of(std::array{halted}).operation_slowdown, 1.5);
  EXPECT_FALSE(effect_of(std::array{halted, running}).load_slowdown);
  EXPECT_DOUBLE_EQ(*effect_of(std::array{halted, running, running}).load_slowdown, 2);
}

/// Whether it runs is seen from outside.
class SeenWork final : public SideWork {
 public:
  explicit SeenWork(std::atomic<bool>& runs) : runs_(runs) {}
  void attach() override { runs_ = true; }
  void pass() override { std::this_thread::sleep_for(Seconds{1e-5}); }
  void drain() override { runs_ = false; }

 private:
  std::atomic<bool>& runs_;
};

TEST(MeasureBeside, RunsTheLoadDuringSomeOperationsAndNotDuringOthers) {
  std::atomic<bool> runs = false;
  SideLoad load(std::make_unique<SeenWork>(runs));
  test::FakeBootstrap bootstrap;
  test::FakeCommunicator communicator;
  communicator.operation_time = [&runs](std::size_t) { return Seconds{runs ? 3e-3 : 1e-3}; };
  const std::vector<Call> calls{{.collective = &test::collective("allreduce")}};
  StepTracker tracker;
  const RoundGroup round_group{.world = bootstrap, .members = bootstrap};
  ChunkRunner chunks(round_group, communicator, calls, {}, tracker);
  const BesidePlan plan{.batch = 2, .budget_s = 0.1};
  const BesideEffect effect = measure_beside(round_group, chunks, &load, plan);
  EXPECT_FALSE(runs);
  EXPECT_DOUBLE_EQ(effect.loaded_us, 3000);
  EXPECT_DOUBLE_EQ(effect.operation_slowdown, 3);
  EXPECT_TRUE(effect.load_slowdown);
  // A rank without a load keeps step.
  EXPECT_DOUBLE_EQ(measure_beside(round_group, chunks, nullptr, plan).operation_slowdown, 1);
}

}  // namespace
}  // namespace busbar

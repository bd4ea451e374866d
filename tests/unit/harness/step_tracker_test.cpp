// SPDX-License-Identifier: BSD-3-Clause
#include "harness/step_tracker.hpp"

#include <thread>

#include <gtest/gtest.h>

namespace busbar {
namespace {

using namespace std::chrono_literals;

TEST(StepTracker, CountsStepsAndTheirPartsAlike) {
  StepTracker tracker;
  EXPECT_EQ(tracker.position().step, 0U);
  tracker.step("connecting");
  tracker.step("all-reduce 1 MiB");
  tracker.phase("warming up");
  EXPECT_EQ(tracker.position().step, 3U);
  EXPECT_EQ(to_string(tracker.position()), "all-reduce 1 MiB, warming up");
  tracker.phase("timing");
  EXPECT_EQ(tracker.position().step, 4U);
  EXPECT_EQ(to_string(tracker.position()), "all-reduce 1 MiB, timing");
}

TEST(StepTracker, KnowsAnOperationFromTheTimeAfterIt) {
  StepTracker tracker;
  tracker.step("all-reduce");
  tracker.end_operations();  // none has begun
  EXPECT_EQ(tracker.position().point, 0U);
  tracker.begin_operation(37);
  EXPECT_EQ(tracker.position().point, 73U);
  tracker.end_operations();
  tracker.end_operations();
  EXPECT_EQ(tracker.position().point, 74U);
  tracker.step("next");
  EXPECT_EQ(tracker.position().point, 0U);
}

TEST(StepTracker, IsIdleUntilAnythingMoves) {
  StepTracker tracker;
  const auto idle_after_a_while = [&] {
    std::this_thread::sleep_for(20ms);
    return tracker.idle();
  };
  EXPECT_GE(idle_after_a_while(), 20ms);
  tracker.tick();
  EXPECT_LT(tracker.idle(), 20ms);
  EXPECT_GE(idle_after_a_while(), 20ms);
  EXPECT_GE(tracker.position().idle_s, 0.02);
  tracker.begin_operation(1);
  EXPECT_LT(tracker.idle(), 20ms);
  tracker.step("next");  // the point goes back
  EXPECT_LT(tracker.idle(), 20ms);
  EXPECT_GE(idle_after_a_while(), 20ms);
  tracker.restart_clock();
  EXPECT_LT(tracker.idle(), 20ms);
}

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "model/stopwatch.hpp"

#include <thread>

namespace busbar {
namespace {

constexpr Seconds kPause{0.002};

TEST(HostStopwatch, TimesConsecutiveIntervals) {
  HostStopwatch stopwatch;
  stopwatch.reset(2);
  stopwatch.start();
  std::this_thread::sleep_for(kPause);
  stopwatch.lap();
  stopwatch.lap();
  ASSERT_EQ(stopwatch.intervals().size(), 2U);
  EXPECT_GE(stopwatch.intervals()[0], kPause);
  EXPECT_GE(stopwatch.intervals()[1].count(), 0);
}

TEST(HostStopwatch, LeavesOutWhatPassesBeforeStart) {
  HostStopwatch stopwatch;
  stopwatch.reset(1);
  const Clock::time_point before = Clock::now();
  std::this_thread::sleep_for(kPause);
  stopwatch.start();
  stopwatch.lap();
  EXPECT_LT(stopwatch.intervals().front(), Seconds(Clock::now() - before));
}

TEST(HostStopwatch, KeepsItsIntervalsWhileItsCostIsMeasuredUntilItIsReset) {
  HostStopwatch stopwatch;
  stopwatch.reset(1);
  stopwatch.start();
  stopwatch.lap();
  const Seconds cost = stopwatch.cost();
  EXPECT_GT(cost, Seconds{1e-9}) << "no clock is read as fast";
  EXPECT_LT(cost, Seconds{1e-3});
  EXPECT_EQ(stopwatch.intervals().size(), 1U);
  stopwatch.reset(1);
  EXPECT_TRUE(stopwatch.intervals().empty());
}

}  // namespace
}  // namespace busbar

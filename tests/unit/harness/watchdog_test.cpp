// SPDX-License-Identifier: BSD-3-Clause
#include "harness/watchdog.hpp"

#include <future>
#include <pthread.h>

#include "base/thread.hpp"

namespace busbar {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 30s;  // far beyond any time-out here

/// What a watchdog reports, once.
class Report {
 public:
  Watchdog::OnTimeout callback() {
    return [this](const std::string& step, Seconds timeout) {
      promise_.set_value(step);
      timeout_ = timeout;
    };
  }
  /// The step that the time-out named, or nothing within `patience`.
  std::optional<std::string> wait(std::chrono::milliseconds patience) {
    if (future_.wait_for(patience) != std::future_status::ready) return std::nullopt;
    return future_.get();
  }
  /// Of the watchdog that reported; once it is gone.
  [[nodiscard]] Seconds timeout() const { return timeout_; }

 private:
  Seconds timeout_{0};
  std::promise<std::string> promise_;
  std::future<std::string> future_ = promise_.get_future();
};

TEST(Watchdog, FiresWhenNothingMovesForItsTimeoutAndNamesTheStep) {
  Report report;
  const Clock::time_point begin = Clock::now();
  Watchdog watchdog(Seconds{0.2}, report.callback());
  watchdog.step("all-reduce of 1 MiB");
  EXPECT_EQ(report.wait(kPatience), "all-reduce of 1 MiB");
  EXPECT_GE(Clock::now() - begin, 200ms);
}

TEST(Watchdog, AStepMayShortenTheTimeoutAndNeverLengthensIt) {
  Report shorter;
  Watchdog hours(Seconds{3600}, shorter.callback());
  hours.step("releasing", Seconds{0.1});
  EXPECT_EQ(shorter.wait(kPatience), "releasing");
  Report as_before;
  Watchdog brief(Seconds{0.1}, as_before.callback());
  brief.step("releasing", Seconds{3600});
  EXPECT_EQ(as_before.wait(kPatience), "releasing");
}

TEST(Watchdog, CountsFromTheLastTick) {
  Report report;
  Watchdog watchdog(Seconds{0.3}, report.callback());
  watchdog.step("moving");
  Clock::time_point last_tick = Clock::now();
  for (int i = 0; i < 5; ++i) {
    std::this_thread::sleep_for(50ms);
    last_tick = Clock::now();
    watchdog.tracker()->tick();
  }
  EXPECT_TRUE(report.wait(kPatience).has_value());
  EXPECT_GE(Clock::now() - last_tick, 300ms);
}

TEST(Watchdog, ReportsAtOnceWhereAnotherRankAsks) {
  Report report;
  Watchdog watchdog(Seconds{3600}, report.callback());
  watchdog.step("all-reduce of 1 MiB");
  watchdog.tracker()->request_report();
  EXPECT_EQ(report.wait(kPatience), "all-reduce of 1 MiB");
}

TEST(Watchdog, NeverFiresWhereThereIsNoTimeoutOrItIsZero) {
  for (const std::optional<Seconds> timeout : {std::optional<Seconds>{}, {Seconds{0}}}) {
    Report report;
    Watchdog watchdog(timeout, report.callback());
    watchdog.step("anything");
    watchdog.tracker()->tick();
    EXPECT_FALSE(report.wait(150ms).has_value());
  }
}

TEST(Watchdog, EndsAtOnceWhereItIsNoLongerNeeded) {
  Report report;
  const Clock::time_point begin = Clock::now();
  { const Watchdog watchdog(Seconds{3600}, report.callback()); }
  EXPECT_LT(Clock::now() - begin, kPatience);
  EXPECT_FALSE(report.wait(0ms).has_value());
}

TEST(Watchdog, StartsLaterOnRequestUnlessItHasATimeout) {
  Report report;
  {
    Watchdog watchdog(std::nullopt, report.callback());
    watchdog.start(Seconds{0.2});
    watchdog.step("all-reduce of 1 MiB");
    EXPECT_EQ(report.wait(kPatience), "all-reduce of 1 MiB");
  }
  EXPECT_EQ(report.timeout(), Seconds{0.2});
  Report kept;
  Watchdog hours(Seconds{3600}, kept.callback());
  hours.start(Seconds{0.05});
  EXPECT_FALSE(kept.wait(300ms).has_value());
}

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

TEST(StartThread, SaysInOneLineThatThereIsNone) {
  pthread_attr_t usual{};
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  pthread_attr_t huge = usual;  // more than any address space has
  ASSERT_EQ(pthread_attr_setstacksize(&huge, std::size_t{1} << 60U), 0);
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  test::expect_failure(Status::Runtime, "cannot start a thread (ulimit -u, ", [] {
    Watchdog watchdog({}, {});  // which ends, too
    watchdog.start(Seconds{1});
  });
  ASSERT_EQ(pthread_setattr_default_np(&usual), 0);
}

}  // namespace
}  // namespace busbar

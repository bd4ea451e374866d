// SPDX-License-Identifier: BSD-3-Clause
#include "harness/watchdog.hpp"

#include <future>

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace busbar

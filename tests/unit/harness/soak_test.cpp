// SPDX-License-Identifier: BSD-3-Clause
#include "harness/soak.hpp"

#include <csignal>
#include <unistd.h>

#include "harness/sampler.hpp"

namespace busbar {
namespace {

using stats::StopReason;
using testing::DoubleNear;
using testing::Each;

Clock::time_point& fake_time() {
  static Clock::time_point time;
  return time;
}

struct LongRow : testing::Test {
  /// Runs a chunk of two samples that ends `seconds` later.
  void run(double seconds, double sample_us = 1000) {
    fake_time() += std::chrono::duration_cast<Clock::duration>(Seconds{seconds});
    ChunkResult chunk;
    chunk.samples_us = {sample_us, sample_us};
    chunk.start_skew_us = {3};
    chunk.operations = 2;
    soak.add(chunk);
  }
  Soak::Settings settings() {
    return {.duration = Seconds{2},
            .interval = Seconds{1},
            .checked_bytes = 100,
            .check =
                [this] {
                  ++checks;
                  fake_time() += check_time;
                  return found;
                },
            .report = [this](const TimelineInterval& each) { intervals.push_back(each); },
            .clock = [] { return fake_time(); }};
  }

  DataCheck found{};
  int checks = 0;
  std::chrono::milliseconds check_time{0};
  std::vector<TimelineInterval> intervals;
  Soak soak{settings()};
};

TEST_F(LongRow, TakesAsManySamplesAsFillAQuarterOfATenth) {
  soak.begin();
  EXPECT_EQ(soak.decide(1e-3).samples, 25U);
  EXPECT_EQ(soak.decide(0).samples, 1024U);
  EXPECT_EQ(soak.decide(3).samples, 1U);
}

TEST_F(LongRow, EndsIntervalsAndItselfByTheClock) {
  soak.begin();
  run(0.9);
  EXPECT_FALSE(soak.decide(1e-3).ends_interval);
  run(0.2);
  EXPECT_TRUE(soak.decide(1e-3).ends_interval);
  soak.end_interval(true);
  run(0.4);
  EXPECT_FALSE(soak.decide(1e-3).ends_interval);  // none is short after a long operation
  run(0.55);
  const SoakStep last = soak.decide(1e-3);
  EXPECT_TRUE(last.ends_interval && last.checks);
  EXPECT_EQ(last.samples, 0U);
  EXPECT_EQ(last.stop, StopReason::Duration);
}

TEST_F(LongRow, HasTheRateOfEachTenthOfASecondAndOneForAllThatAnOperationSpans) {
  soak.begin();
  run(0.06, 1000);
  run(0.06, 3000);
  run(0.2, 10000);
  soak.end_interval(true);
  ASSERT_EQ(intervals.size(), 1U);
  EXPECT_THAT(intervals[0].part_rates, ElementsAre(500, 100, 100));
  EXPECT_EQ(intervals[0].operations, 6U);
  EXPECT_NEAR(intervals[0].seconds, 0.32, 1e-9);
  EXPECT_NEAR(intervals[0].median_us, 3000, 6);
  EXPECT_EQ(intervals[0].max_us, 10000);
  EXPECT_NEAR(intervals[0].operations_per_s, 214.2857, 1e-4);
  EXPECT_EQ(intervals[0].checked_bytes, 100U);
  Evidence samples;
  soak.finish(samples);
  EXPECT_EQ(samples.summary->count, 6U);
  EXPECT_EQ(samples.times_us, std::vector<double>{intervals[0].median_us});
  EXPECT_THAT(samples.start_skews_us, ElementsAre(3));
}

// Three times the usual time of a check, and a file that takes long to write.
TEST_F(LongRow, HasNoRateWhileNoOperationCanBegin) {
  soak.begin();
  run(0.11, 55000);
  run(0.4, 50000);
  run(0.1, 50000);
  check_time = std::chrono::milliseconds(200);
  for (int i = 0; i < 3; ++i) {
    soak.end_interval(true);
    run(0.1, 50000);
    check_time *= i == 0 ? 1 : 3;
  }
  EXPECT_THAT(intervals[0].part_rates, SizeIs(6));
  EXPECT_NEAR(intervals[0].part_rates[2], 5, 1e-9);
  soak.end_interval(false);
  for (const std::size_t i : {1U, 2U})
    EXPECT_THAT(intervals[i].part_rates, Each(DoubleNear(20, 1e-9)));
  EXPECT_THAT(intervals[3].part_rates, Each(DoubleNear(4, 1e-9)));
}

TEST_F(LongRow, ChecksDataInAtMostATenthOfTheTime) {
  check_time = std::chrono::milliseconds(200);
  soak.begin();
  run(1);
  EXPECT_TRUE(soak.decide(1e-3).checks);
  soak.end_interval(true);
  run(0.7);
  EXPECT_FALSE(soak.decide(1e-3).checks);
  soak.end_interval(false);
  EXPECT_EQ(intervals[1].checked_bytes, 0U);
  EXPECT_EQ(checks, 1);
}

TEST_F(LongRow, CountsWrongElementsAndNamesTheFirst) {
  soak.begin();
  run(1);
  soak.end_interval(true);
  found = {.wrong = 2, .first_wrong = "rank 1, element 5"};
  run(1);
  soak.end_interval(true);
  found.first_wrong = "rank 0, element 9";
  run(1);
  soak.end_interval(true);
  Evidence evidence;
  soak.finish(evidence);
  EXPECT_EQ(evidence.check->wrong, 4U);
  EXPECT_EQ(evidence.check->first_wrong, "at 00:00:02: rank 1, element 5");
  EXPECT_EQ(intervals[2].wrong, 2U);
  EXPECT_THAT(evidence.findings.back(), HasSubstr("300 B checked, 4 elements wrong"));
}

TEST_F(LongRow, EndsInOrderAtASignal) {
  soak.begin();
  run(0.1);
  kill(getpid(), SIGTERM);
  const SoakStep step = soak.decide(1e-3);
  EXPECT_EQ(step.stop, StopReason::Interrupted);
  EXPECT_TRUE(step.ends_interval);
}

TEST(Soak, SignalThatReachesARankAfterTheRowDoesNotEndIt) {
  const auto end_row = [] {
    { const Soak soak({}); }
    kill(getpid(), SIGTERM);
    std::_Exit(0);
  };
  EXPECT_EXIT(end_row(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace busbar

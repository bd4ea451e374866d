// SPDX-License-Identifier: BSD-3-Clause
#include "stats/timeline.hpp"
#include "tests/unit/stats/healthy_runs.hpp"

namespace busbar::stats {
namespace {

/// Values about 100 that vary by 1 % without a trend.
std::vector<double> quiet(std::size_t count) {
  constexpr std::array kPattern{100.0, 101.0, 99.5, 100.5, 99.0, 100.2, 99.8};
  std::vector<double> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(kPattern.at(i * i % kPattern.size()));
  return all;
}
/// Rates about 50 that vary by less.
std::vector<double> rates(std::size_t count) {
  constexpr std::array kPattern{50.0, 50.2, 49.9, 50.1, 49.8};
  std::vector<double> all;
  for (std::size_t i = 0; i < count; ++i) all.push_back(kPattern.at(i * i % kPattern.size()));
  return all;
}

std::vector<double> with(std::vector<double> all, std::size_t from, std::size_t to, double factor) {
  for (std::size_t i = from; i < to; ++i) all[i] *= factor;
  return all;
}

TEST(LevelChanges, AreFoundToTheIntervalWithTheLevelsBeforeAndAfter) {
  const LevelScan scan = find_level_changes(with(quiet(300), 134, 300, 1.06));
  ASSERT_EQ(scan.changes.size(), 1U);
  EXPECT_EQ(scan.changes[0].at, 134U);
  EXPECT_NEAR(scan.changes[0].before, 99.5, 1e-9);
  EXPECT_NEAR(scan.changes[0].after, 105.47, 1e-9);
  EXPECT_EQ(scan.needed, 0U);
  EXPECT_NEAR(scan.least, std::expm1(0.03), 1e-12);
}

TEST(LevelChanges, OfLessThan3PercentAndOfTenIntervalsAreNone) {
  EXPECT_TRUE(find_level_changes(quiet(300)).changes.empty());
  EXPECT_TRUE(find_level_changes(std::vector<double>(300, 5)).changes.empty());
  EXPECT_TRUE(find_level_changes(with(quiet(300), 134, 300, 1.025)).changes.empty());
  EXPECT_TRUE(find_level_changes(with(quiet(300), 120, 130, 2)).changes.empty());
}

TEST(LevelChanges, AreNotJudgedOnShortRunsNorOnSlowWander) {
  EXPECT_EQ(find_level_changes(with(quiet(59), 30, 59, 2)).needed, 60U);
  EXPECT_EQ(find_level_changes({}).needed, 60U);
  EXPECT_EQ(find_level_changes(quiet(60)).needed, 0U);
  std::vector<double> wandering;
  for (int i = 0; i < 100; ++i) wandering.push_back(100 + std::sin(i / 30.0));
  const LevelScan scan = find_level_changes(wandering);
  EXPECT_TRUE(scan.changes.empty());
  EXPECT_EQ(scan.needed, 105U);
}

TEST(LevelChanges, DoNotHideOthersButAVariableRunDoes) {
  const LevelScan one = find_level_changes(with(quiet(80), 40, 80, 1.2));
  EXPECT_EQ(one.changes.size(), 1U);
  EXPECT_NEAR(one.least, std::expm1(0.03), 1e-12);
  std::vector<double> noisy;
  for (std::size_t i = 0; i < 300; ++i) noisy.push_back(i / 25 % 2 == 0 ? 100 : 104);
  EXPECT_GT(find_level_changes(noisy).least, 0.2);
}

TEST(Drift, OfAWholeRunIsFoundAndAChangeOfLevelIsNone) {
  std::vector<double> rising = quiet(320);
  for (std::size_t i = 0; i < rising.size(); ++i) {
    rising[i] *= 1 + 0.08 * static_cast<double>(i) / 320;
  }
  const Drift drift = find_drift(rising);
  EXPECT_TRUE(drift.found);
  EXPECT_NEAR(drift.total, 0.075, 0.006);
  EXPECT_FALSE(find_drift(quiet(320)).found);
  EXPECT_EQ(find_drift(quiet(320)).least, 0.03);
  EXPECT_FALSE(find_drift(with(quiet(320), 160, 320, 1.08)).found);
  EXPECT_EQ(find_drift(quiet(127)).needed, 128U);
  EXPECT_EQ(find_drift(quiet(128)).needed, 0U);
}

// docs/measurement.md has the figures of bench/recorded_series --changes, which has more runs.
TEST(HealthyRuns, HaveAnEventOfAKindInAtMostOneOfAHundred) {
  const test::EventCounts counts = test::count_healthy(450, 300);
  EXPECT_EQ(counts.runs, 450U);
  EXPECT_LE(counts.level, 4U);
  EXPECT_LE(counts.drift, 4U);
  EXPECT_LE(counts.dip, 4U);
}

TEST(Slowdowns, OfTwoTenthsOfASecondAreDipsWithDepthAndRecovery) {
  const SlowdownScan scan = find_slowdowns(with(rates(300), 100, 102, 0.5));
  ASSERT_EQ(scan.slowdowns.size(), 1U);
  const Slowdown& dip = scan.slowdowns[0];
  EXPECT_TRUE(dip.is_dip());
  EXPECT_EQ(dip.at, 100U);
  EXPECT_EQ(dip.length, 2U);
  EXPECT_DOUBLE_EQ(dip.before, 50);
  EXPECT_NEAR(dip.lowest, 25, 0.1);
  EXPECT_EQ(dip.tolerance, 0.02);
  EXPECT_EQ(dip.recovery, 2U);
  EXPECT_EQ(dip.held, true);
  EXPECT_NEAR(dip.settled, 50, 0.1);
  EXPECT_NEAR(scan.least, 0.2, 1e-12);
}

TEST(Slowdowns, OfMoreThan15ValuesAreNoDipsAndOfLessThanAFifthOrOnShortRunsAreNone) {
  EXPECT_TRUE(find_slowdowns(with(rates(300), 100, 115, 0.5)).slowdowns.at(0).is_dip());
  const Slowdown longer = find_slowdowns(with(rates(300), 100, 116, 0.5)).slowdowns.at(0);
  EXPECT_FALSE(longer.is_dip());
  EXPECT_EQ(longer.recovery, 16U);
  EXPECT_TRUE(find_slowdowns(with(rates(300), 100, 102, 0.81)).slowdowns.empty());
  EXPECT_EQ(find_slowdowns(rates(59)).needed, 60U);
  EXPECT_EQ(find_slowdowns(rates(60)).needed, 0U);
}

TEST(Slowdowns, OfAVariableRunMustBeDeeper) {
  std::vector<double> wild = rates(300);
  for (std::size_t i = 0; i < wild.size(); ++i) wild[i] *= 1 + 0.04 * static_cast<double>(i % 7);
  const SlowdownScan scan = find_slowdowns(with(wild, 100, 102, 0.7));
  EXPECT_TRUE(scan.slowdowns.empty());
  EXPECT_GT(scan.least, 0.4);
}

/// The first slowdown of 20 values in a run of rates, which then goes on at `factor` from `from`.
Slowdown first_slowdown(std::size_t count, std::size_t from, std::size_t to, double factor) {
  return find_slowdowns(with(with(rates(count), 200, 220, 0.4), from, to, factor)).slowdowns.at(0);
}

TEST(Recovery, IsNotBeforeARelapseEndsAndNoneAtALowerRateOrWhereTheRunEnds) {
  EXPECT_EQ(first_slowdown(600, 225, 240, 0.4).recovery, 40U);
  const Slowdown lower = first_slowdown(600, 220, 600, 0.96);
  EXPECT_FALSE(lower.recovery);
  EXPECT_NEAR(lower.settled / lower.before, 0.96, 0.002);
  EXPECT_FALSE(first_slowdown(230, 0, 0, 1).recovery);
}

TEST(Recovery, ThatDoesNotHoldForTenSecondsSaysSo) {
  const Slowdown relapse = first_slowdown(600, 245, 600, 0.9);
  EXPECT_EQ(relapse.recovery, 20U);
  EXPECT_EQ(relapse.held, false);
  const Slowdown ended = first_slowdown(300, 0, 0, 1);
  EXPECT_EQ(ended.recovery, 20U);
  EXPECT_FALSE(ended.held) << "is not known";
}

TEST(EventPeriods, AreOfAtLeastFourEventsThatKeepTime) {
  const auto period = find_period(std::array<std::size_t, 5>{100, 700, 1301, 1900, 2500});
  ASSERT_TRUE(period);
  EXPECT_EQ(period->length, 600);
  EXPECT_EQ(period->on_time, 4U);
  EXPECT_EQ(period->gaps, 4U);
  const auto one_missing = find_period(std::array<std::size_t, 6>{0, 600, 1200, 2400, 3000, 3600});
  EXPECT_EQ(one_missing->on_time, 4U);
  EXPECT_EQ(one_missing->gaps, 5U);
  EXPECT_FALSE(find_period(std::array<std::size_t, 3>{0, 600, 1200}));
  EXPECT_FALSE(find_period(std::array<std::size_t, 6>{0, 130, 600, 640, 1400, 1500}));
  EXPECT_FALSE(find_period(std::array<std::size_t, 4>{7, 7, 7, 7}));
}

}  // namespace
}  // namespace busbar::stats

// SPDX-License-Identifier: BSD-3-Clause
#include "stats/level_changes.hpp"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/stats/healthy_runs.hpp"
#include "tests/unit/support/captures.hpp"
#include "tests/unit/support/temporary_folder.hpp"

namespace busbar::stats {
namespace {

/// Times about 100 that vary by 1 % without a trend.
std::vector<double> quiet(std::size_t count) {
  constexpr std::array kPattern{100.0, 101.0, 99.5, 100.5, 99.0, 100.2, 99.8};
  std::vector<double> times;
  for (std::size_t i = 0; i < count; ++i) times.push_back(kPattern.at(i * i % kPattern.size()));
  return times;
}

std::vector<double> slower(std::vector<double> times, std::size_t from, std::size_t to,
                           double factor) {
  for (std::size_t i = from; i < to; ++i) times[i] *= factor;
  return times;
}

TEST(LevelChanges, AreFoundToTheIntervalWithTheLevelsBeforeAndAfter) {
  const LevelScan scan = find_level_changes(slower(quiet(300), 134, 300, 1.06));
  ASSERT_EQ(scan.changes.size(), 1U);
  EXPECT_EQ(scan.changes[0].at, 134U);
  EXPECT_NEAR(scan.changes[0].before, 99.5, 1e-9);
  EXPECT_NEAR(scan.changes[0].after, 105.47, 1e-9);
  EXPECT_EQ(scan.needed, 0U);
  EXPECT_NEAR(scan.least, std::expm1(0.03), 1e-12);
}

// A cumulative sum is back at zero when it ends: the moving windows see it.
TEST(LevelChanges, ThatComeAndGoAreTwo) {
  const LevelScan scan = find_level_changes(slower(quiet(300), 120, 180, 1.1));
  ASSERT_EQ(scan.changes.size(), 2U);
  EXPECT_EQ(scan.changes[0].at, 120U);
  EXPECT_EQ(scan.changes[1].at, 180U);
  EXPECT_NEAR(scan.changes[1].after / scan.changes[1].before, 1 / 1.1, 0.005);
}

TEST(LevelChanges, OfLessThan3PercentAndOfTenIntervalsAreNone) {
  EXPECT_TRUE(find_level_changes(quiet(300)).changes.empty());
  EXPECT_TRUE(find_level_changes(std::vector<double>(300, 5)).changes.empty());
  EXPECT_TRUE(find_level_changes(slower(quiet(300), 134, 300, 1.025)).changes.empty());
  EXPECT_TRUE(find_level_changes(slower(quiet(300), 120, 130, 2)).changes.empty());
}

TEST(LevelChanges, AreNotJudgedOnShortRunsNorOnSlowWander) {
  EXPECT_EQ(find_level_changes(slower(quiet(59), 30, 59, 2)).needed, 60U);
  EXPECT_EQ(find_level_changes({}).needed, 60U);
  EXPECT_EQ(find_level_changes(quiet(60)).needed, 0U);
  std::vector<double> wandering;
  for (int i = 0; i < 100; ++i) wandering.push_back(100 + std::sin(i / 30.0));
  const LevelScan scan = find_level_changes(wandering);
  EXPECT_TRUE(scan.changes.empty());
  EXPECT_EQ(scan.needed, 105U);
}

TEST(LevelChanges, DoNotHideOthers) {
  const LevelScan scan = find_level_changes(slower(quiet(80), 40, 80, 1.2));
  EXPECT_EQ(scan.changes.size(), 1U);
  EXPECT_NEAR(scan.least, std::expm1(0.03), 1e-12);
}

TEST(LevelChanges, SayWhichOnesAVariableRunHides) {
  std::vector<double> noisy;
  for (std::size_t i = 0; i < 300; ++i) noisy.push_back(i / 25 % 2 == 0 ? 100 : 104);
  const LevelScan scan = find_level_changes(noisy);
  EXPECT_GT(scan.least, 0.2);
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
  EXPECT_FALSE(find_drift(slower(quiet(320), 160, 320, 1.08)).found);
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

// Nobody knows whether something happened in them; a drift would be news.
TEST(RecordedRuns, HaveAsFewEventsAsWhenTheMethodsWereChosen) {
  const std::filesystem::path archive = busbar::test::kSharedData / "pico.tar.xz";
  if (!std::filesystem::exists(archive)) GTEST_SKIP() << "no " << archive << ": 120 series";
  const busbar::test::TemporaryFolder folder;
  const std::string unpack = "tar -xf " + archive.string() + " -C " + folder.path();
  ASSERT_EQ(std::system(unpack.c_str()), 0);
  test::EventCounts counts;
  for (const auto& run : test::intervals_of(busbar::test::recorded_series(folder.path()))) {
    counts.add(run);
  }
  EXPECT_EQ(counts.runs, 126U);
  EXPECT_LE(counts.level, 6U);
  EXPECT_EQ(counts.drift, 0U);
  EXPECT_LE(counts.dip, 20U);
}

}  // namespace
}  // namespace busbar::stats

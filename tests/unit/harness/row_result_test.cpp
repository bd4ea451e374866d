// SPDX-License-Identifier: BSD-3-Clause
#include "harness/row_result.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

Record record_of(int ranks) { return {.ranks = ranks, .size = 1000000}; }

Samples samples_of(std::vector<double> times_us) {
  Samples samples;
  samples.times_us = std::move(times_us);
  samples.operations = 100;
  samples.warmup_operations = 11;
  samples.batch = 2;
  samples.stop = stats::StopReason::CiWidth;
  samples.disturbances = {.minor_faults = 1.5, .involuntary_switches = 0.25};
  return samples;
}

TEST(AddStatistics, FillsARowFromItsSamples) {
  Record record = record_of(4);
  std::vector<double> times(100);
  std::iota(times.begin(), times.end(), 1);
  std::swap(times[0], times[99]);
  add_statistics(record, samples_of(times), test::collective("allreduce"));
  EXPECT_EQ(record.samples, 100U);
  EXPECT_EQ(record.operations, 100U);
  EXPECT_EQ(record.batch, 2U);
  EXPECT_EQ(record.warmup_operations, 11U);
  EXPECT_EQ(record.stop_reason, "ci-width");
  EXPECT_DOUBLE_EQ(record.time_median_us.value_or(0), 50.5);
  EXPECT_DOUBLE_EQ(record.time_mean_us.value_or(0), 50.5);
  EXPECT_DOUBLE_EQ(record.time_min_us.value_or(0), 1);
  EXPECT_DOUBLE_EQ(record.time_p90_us.value_or(0), 90);
  EXPECT_DOUBLE_EQ(record.time_p99_us.value_or(0), 99);
  EXPECT_DOUBLE_EQ(record.time_max_us.value_or(0), 100);
  EXPECT_DOUBLE_EQ(record.minor_faults_per_op.value_or(0), 1.5);
  EXPECT_DOUBLE_EQ(record.involuntary_switches_per_op.value_or(0), 0.25);
}

TEST(AddStatistics, DividesTheSizeByTheMedianAndMultipliesByTheBusFactor) {
  Record record = record_of(4);
  add_statistics(record, samples_of(std::vector<double>(10, 500)), test::collective("allreduce"));
  EXPECT_DOUBLE_EQ(record.algbw_GBps.value_or(0), 2);  // 10^6 bytes in 500 us
  EXPECT_DOUBLE_EQ(record.busbw_GBps.value_or(0), 3);
}

TEST(AddStatistics, GivesOneRankNoBusBandwidth) {
  Record record = record_of(1);
  add_statistics(record, samples_of(std::vector<double>(10, 500)), test::collective("allreduce"));
  EXPECT_TRUE(record.algbw_GBps.has_value());
  EXPECT_FALSE(record.busbw_GBps.has_value());
}

TEST(AddStatistics, GivesTheIntervalWhereThereIsOne) {
  Record record = record_of(4);
  add_statistics(record, samples_of(std::vector<double>(50, 500)), test::collective("allreduce"));
  EXPECT_DOUBLE_EQ(record.time_ci_low_us.value_or(0), 500);
  EXPECT_DOUBLE_EQ(record.time_ci_high_us.value_or(0), 500);
  EXPECT_TRUE(record.autocorrelation_time.has_value());
  EXPECT_EQ(record.flags, "");
}

TEST(AddStatistics, KeepsTheTimesOfIssuingAndOfTheHostApart) {
  Record record = record_of(4);
  std::vector<double> times;
  for (int i = 0; i < 50; ++i) times.push_back(500 + i * 21 % 50);
  Samples samples = samples_of(times);
  samples.enqueue_us = {9, 3, 5};
  samples.host_times_us = {60, 10, 20};
  add_statistics(record, samples, test::collective("allreduce"));
  EXPECT_EQ(record.enqueue_time_us, 5);
  EXPECT_EQ(record.host_time_us, 20);
  EXPECT_LT(record.time_ci_low_us, record.time_median_us);
  EXPECT_GT(record.time_ci_high_us, record.time_median_us);
}

TEST(AddStatistics, LeavesTheIntervalEmptyAndSaysSoWhereSamplesAreTooFew) {
  Record record = record_of(4);
  add_statistics(record, samples_of({500, 501, 502}), test::collective("allreduce"));
  EXPECT_FALSE(record.time_ci_low_us.has_value());
  EXPECT_FALSE(record.time_ci_high_us.has_value());
  EXPECT_EQ(record.flags, "few-samples no-interval");
}

TEST(AddStatistics, CallsFewerThanFiftySamplesFew) {
  Record record = record_of(4);
  add_statistics(record, samples_of(std::vector<double>(49, 500)), test::collective("allreduce"));
  EXPECT_EQ(record.flags, "few-samples");
}

TEST(AddStatistics, FlagsWhatWasNotSteady) {
  Record record = record_of(4);
  Samples samples = samples_of(std::vector<double>(50, 500));
  samples.steady = false;
  add_statistics(record, samples, test::collective("allreduce"));
  EXPECT_EQ(record.flags, "not-steady");
}

TEST(AddStatistics, FlagsTimesThatDrift) {
  Record record = record_of(4);
  std::vector<double> times;
  for (int i = 0; i < 200; ++i) times.push_back(1000.0 + i + (i % 7) * 3);
  add_statistics(record, samples_of(times), test::collective("allreduce"));
  EXPECT_NE(record.flags.find("drifting"), std::string::npos) << record.flags;
}

TEST(AddFlag, SeparatesWordsByOneBlank) {
  Record record;
  add_flag(record, "segmented");
  EXPECT_EQ(record.flags, "segmented");
  add_flag(record, "oversubscribed");
  EXPECT_EQ(record.flags, "segmented oversubscribed");
}

TEST(HasFlag, LooksForWholeWords) {
  Record record;
  EXPECT_FALSE(has_flag(record, "segmented"));
  record.flags = "segmented oversubscribed";
  EXPECT_TRUE(has_flag(record, "oversubscribed"));
  EXPECT_FALSE(has_flag(record, "segment"));
}

/// A bound that holds for rows from 1 MB on.
SetBound large_rows_bound() {
  return {.device_set = "cores 0-1", .kind = "host-memory", .bus_GBps = [](const BoundRow& row) {
            return row.size >= 1000000 ? std::optional(4.0) : std::nullopt;
          }};
}

TEST(AddBound, TellsHowMuchOfItTheRowCameTo) {
  Record record{.busbw_GBps = 1};
  add_bound(record, large_rows_bound(), {.size = 1000000});
  EXPECT_EQ(record.bound_GBps, 4);
  EXPECT_EQ(record.bound_kind, "host-memory");
  EXPECT_EQ(record.efficiency, 0.25);
}

TEST(AddBound, LeavesARowAloneThatItDoesNotHoldFor) {
  Record record{.busbw_GBps = 1};
  add_bound(record, large_rows_bound(), {.size = 1000});
  add_bound(record, {.device_set = "cores 0-1"}, {.size = 1000000});
  EXPECT_FALSE(record.bound_GBps);
  EXPECT_EQ(record.bound_kind, "");
  EXPECT_FALSE(record.efficiency);
}

TEST(AddBound, GivesNoEfficiencyToARowWithoutBusBandwidth) {
  Record record;
  add_bound(record, large_rows_bound(), {.size = 1000000});
  EXPECT_EQ(record.bound_GBps, 4);
  EXPECT_FALSE(record.efficiency);
}

TEST(LaunchBound, IsARowWhoseIssuingTakesNineTenthsOfItsTime) {
  EXPECT_TRUE(is_launch_bound({.time_median_us = 10, .enqueue_time_us = 9.0}));
  EXPECT_TRUE(is_launch_bound({.time_median_us = 10, .enqueue_time_us = 10.5}));
  EXPECT_FALSE(is_launch_bound({.time_median_us = 10, .enqueue_time_us = 8.9}));
  EXPECT_FALSE(is_launch_bound({.time_median_us = 10}));
  EXPECT_FALSE(is_launch_bound({.enqueue_time_us = 9}));
}

TEST(AddBound, LeavesASkippedRowWithoutOne) {
  Record record{.status = RowStatus::Skipped};
  add_bound(record, {.kind = "links", .bus_GBps = [](const BoundRow&) { return 100.0; }}, {});
  EXPECT_FALSE(record.bound_GBps.has_value());
}

}  // namespace
}  // namespace busbar

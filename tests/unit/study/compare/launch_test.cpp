// SPDX-License-Identifier: BSD-3-Clause
#include "study/compare/launch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/csv_writer.hpp"
#include "tests/unit/support/failure.hpp"
#include "tests/unit/support/sample_records.hpp"
#include "tests/unit/support/temporary_folder.hpp"

namespace busbar::study {
namespace {

using testing::ElementsAre;

Record row(double time_us) {
  Record record = test::measured(false);
  record.time_median_us = time_us;
  record.busbw_GBps = 1000 / time_us;
  record.time_ci_low_us = time_us - 1;
  record.time_ci_high_us = time_us + 1;
  return record;
}

Launch launch_of(std::initializer_list<Record> records) {
  LaunchMaker maker("x.csv", {});
  for (const Record& record : records) maker.add(record);
  return maker.finish();
}

TEST(LaunchMaker, TakesTheMedianOverCyclesAndNoIntervalOfOneOfThem) {
  const Launch launch = launch_of({row(100), row(300), row(110)});
  ASSERT_EQ(launch.rows.size(), 1U);
  const LaunchRow& median = launch.rows.begin()->second;
  EXPECT_EQ(median.time_us, 110);
  EXPECT_EQ(median.busbw_GBps, 1000.0 / 110);
  EXPECT_FALSE(median.ci_low_us.has_value());
  EXPECT_FALSE(median.ci_high_us.has_value());
}

TEST(LaunchMaker, KeepsTheIntervalOfASingleRow) {
  const Launch launch = launch_of({row(100)});
  ASSERT_EQ(launch.rows.size(), 1U);
  EXPECT_EQ(launch.rows.begin()->second.ci_low_us, 99);
  EXPECT_EQ(launch.rows.begin()->second.ci_high_us, 101);
}

TEST(LaunchMaker, LeavesRowsWithoutATimeOrWithWrongDataOut) {
  Record wrong = row(100);
  wrong.status = RowStatus::Wrong;
  Record timeless = row(100);
  timeless.time_median_us.reset();
  const Launch launch = launch_of({wrong, timeless, row(0), test::skipped(false, "no memory")});
  EXPECT_TRUE(launch.rows.empty());
  EXPECT_THAT(launch.ranks, ElementsAre(16));
}

TEST(LoadLaunch, ReadsEveryColumnThatTellsMeasurementsApart) {
  const Record one = row(100);
  std::vector<Record> records(11, one);
  records[1].collective = "broadcast";
  records[2].type = "half";
  records[3].op = "max";
  records[4].root = 1;
  records[5].ranks = 8;
  records[6].group = 1;
  records[7].sender = 1;
  records[8].receiver = 1;
  records[9].size = 8;
  records[10].in_place = true;
  std::string text = csv_header();
  for (const Record& record : records) text += csv_row(record);
  const test::TemporaryFolder folder;
  folder.write("x.csv", text);
  EXPECT_EQ(load_launch(folder.path("x.csv")).rows.size(), records.size());
}

TEST(LoadLaunch, ReadsWhatHeadsAndRowsSayOfTheLaunch) {
  Record record = row(100);
  record.device_set = "0,1";
  const test::TemporaryFolder folder;
  folder.write("x.csv", "# library: MPICH 4.0.2\n" + csv_header() + csv_row(record));
  const Launch launch = load_launch(folder.path("x.csv"));
  EXPECT_EQ(launch.path, folder.path("x.csv"));
  EXPECT_EQ(launch.fact("library"), "MPICH 4.0.2");
  EXPECT_THAT(launch.backends, ElementsAre("mpi"));
  EXPECT_THAT(launch.device_sets, ElementsAre("0,1"));
  EXPECT_THAT(launch.aggregations, ElementsAre("max"));
  EXPECT_THAT(launch.ranks, ElementsAre(16));
  EXPECT_FALSE(launch.simulated());
  ASSERT_EQ(launch.rows.size(), 1U);
  EXPECT_EQ(launch.rows.begin()->second.ci_high_us, 101);
  EXPECT_EQ(launch.rows.begin()->second.busbw_GBps, 10);
}

TEST(LoadLaunch, NamesFileLineAndColumnOfABadCell) {
  const test::TemporaryFolder folder;
  folder.write("x.csv",
               "# a\ncollective,size_bytes,ranks\nallreduce,1024,4\nallreduce,1024,many\n");
  const test::Failure failure = test::failure_of([&] { (void)load_launch(folder.path("x.csv")); });
  EXPECT_EQ(failure.message, folder.path("x.csv") + ":4: column ranks: 'many' is not a number");
}

}  // namespace
}  // namespace busbar::study

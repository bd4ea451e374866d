// SPDX-License-Identifier: BSD-3-Clause
#include "format/timeline_file.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "tests/unit/support/failure.hpp"
#include "tests/unit/support/sample_records.hpp"
#include "tests/unit/support/temporary_folder.hpp"

namespace busbar {
namespace {

struct TimelineFiles : testing::Test {
  /// What is wrong with a file of this text.
  test::Failure failure_of(const std::string& text) {
    std::ofstream(path) << text;
    return test::failure_of([&] { (void)read_timeline(path); });
  }

  test::TemporaryFolder folder;
  std::string path = folder.path() + "/t.csv";
};

TEST_F(TimelineFiles, AreReadBackAsTheyWereWritten) {
  {
    TimelineWriter writer(path);
    writer.begin(test::context());
    writer.append({.at_s = 1.002,
                   .seconds = 1.002,
                   .operations = 4000000,
                   .median_us = 250.5,
                   .p99_us = 300,
                   .max_us = 412.25,
                   .busbw_GBps = 41.5,
                   .operations_per_s = 3990.25,
                   .checked_bytes = 3000000000,
                   .wrong = 2,
                   .part_rates = {3990, 2000.5}});
    writer.append({.at_s = 2, .median_us = 260, .p99_us = 300});
    writer.write({.findings = {"level: none", "two\nlines"}});
    writer.end({.finished_at = "now"});
  }
  const TimelineFile file = read_timeline(path);
  EXPECT_TRUE(file.finished);
  EXPECT_EQ(value_of(file.facts, fact::kCommand),
            value_of(facts_of(CsvReader(path).head()), fact::kCommand));
  ASSERT_EQ(file.intervals.size(), 2U);
  const TimelineInterval& first = file.intervals[0];
  EXPECT_EQ(first.at_s, 1.002);
  EXPECT_EQ(first.operations, 4000000U);
  EXPECT_EQ(first.max_us, 412.25);
  EXPECT_EQ(first.busbw_GBps, 41.5);
  EXPECT_EQ(first.checked_bytes, 3000000000U);
  EXPECT_EQ(first.wrong, 2U);
  EXPECT_FALSE(file.intervals[1].busbw_GBps);
  EXPECT_EQ(file.timeline.points().size(), 2U);
  EXPECT_EQ(file.timeline.rates(), (std::vector<double>{3990, 2000.5}));
  const std::string text = read_file(path).value();
  EXPECT_THAT(text, testing::HasSubstr(",3990.25,2000.5,3000000000,2,3990 2000.5\n"));
  EXPECT_THAT(text, testing::EndsWith("# level: none\n# two lines\n# finished: now\n"));
}

TEST_F(TimelineFiles, ThatAreNoneAreRefusedByPlace) {
  const std::string names = "at_s,median_us,p99_us,parts_per_s\n";
  EXPECT_TRUE(failure_of("collective,size_bytes\n").says("no column at_s"));
  EXPECT_TRUE(
      failure_of(names + "1,5,6,3\n2,x,6,3\n").says(":3: 'x' is not a value of column median_us"));
  EXPECT_TRUE(failure_of(names + "1,5,6,3 -1\n").says("column parts_per_s"));
  EXPECT_TRUE(failure_of(names + "1,5,0,3\n").says(":2: not a line of a timeline"));
  EXPECT_TRUE(failure_of(names + "1,5\n").says(":2: not a line of a timeline"));
  EXPECT_EQ(failure_of(names + "1,5,6,3\n2,5,6").status, Status::Ok);  // a killed run's last line
  EXPECT_FALSE(read_timeline(path).finished);
}

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "report/csv_reader.hpp"

#include <fstream>
#include <sys/stat.h>
#include <thread>

#include <gtest/gtest.h>

#include "report/csv_writer.hpp"
#include "tests/unit/support/failure.hpp"
#include "tests/unit/support/sample_records.hpp"
#include "tests/unit/support/temporary_folder.hpp"

namespace busbar {
namespace {

using test::Failure;

/// What read_csv makes of a file with this text.
CsvFile read(const std::string& text) {
  const test::TemporaryFolder folder;
  folder.write("x.csv", text);
  return read_csv(folder.path("x.csv"));
}

Failure refusal(const std::string& text) {
  return test::failure_of([&] { (void)read(text); });
}

TEST(ReadCsv, GivesBackTheRecordsThatWereWritten) {
  Record wrong = test::measured(true);
  wrong.status = RowStatus::Wrong;
  wrong.reason = "rank 1, element 12345: expected \"37\", got 36";
  wrong.root = 2;
  const CsvFile file = read(csv_header() + csv_row(test::measured(false)) + csv_row(wrong));
  ASSERT_EQ(file.records.size(), 2U);
  EXPECT_EQ(csv_row(file.records[0]), csv_row(test::measured(false)));
  EXPECT_EQ(csv_row(file.records[1]), csv_row(wrong));
  EXPECT_EQ(file.records[1].reason, wrong.reason);
  EXPECT_FALSE(file.records[0].root.has_value());
}

TEST(ReadCsv, KeepsTheHeadAndPassesOverLaterComments) {
  const CsvFile file = read("# busbar: 0.1.0\n# configuration: a=1 b=2\n" + csv_header() +
                            csv_row(test::measured(false)) + "# resumed-started: later\n" +
                            csv_row(test::measured(true)) + "# finished: now\n");
  EXPECT_EQ(file.head, (std::vector<std::string>{"# busbar: 0.1.0", "# configuration: a=1 b=2"}));
  EXPECT_EQ(file.records.size(), 2U);
}

TEST(ReadCsv, LeavesOutALineThatAKilledRunLeftUnfinished) {
  const std::string whole = csv_header() + csv_row(test::measured(false));
  for (const char* piece : {"allreduce", "allreduce,mpi,16,1,float,sum,,1,3355", "\"", "# resum"}) {
    const CsvFile file = read(whole + piece);
    EXPECT_EQ(file.records.size(), 1U) << piece;
  }
}

TEST(ReadCsv, FindsColumnsByNameInAnyOrderAndWithoutSome) {
  const CsvFile file = read("size_bytes,new_column,collective,busbw_GBps\n1024,x,broadcast,1.5\n");
  ASSERT_EQ(file.records.size(), 1U);
  EXPECT_EQ(file.records[0].collective, "broadcast");
  EXPECT_EQ(file.records[0].size, 1024U);
  EXPECT_DOUBLE_EQ(file.records[0].busbw_GBps.value_or(0), 1.5);
  EXPECT_FALSE(file.records[0].wrong.has_value());
}

TEST(ReadCsv, NamesFileLineAndColumnOfABadCell) {
  const test::TemporaryFolder folder;
  folder.write("x.csv",
               "# a\ncollective,size_bytes,ranks\nallreduce,1024,4\nallreduce,1024,many\n");
  const Failure failure = test::failure_of([&] { (void)read_csv(folder.path("x.csv")); });
  EXPECT_EQ(failure.status, Status::Usage);
  EXPECT_EQ(failure.message, folder.path("x.csv") + ":4: column ranks: 'many' is not a number");
}

TEST(ReadCsv, RefusesARowWithTooManyOrTooFewCells) {
  for (const char* row : {"allreduce\n", "allreduce,8,1,2\n"}) {
    const Failure failure = refusal(std::string("collective,size_bytes,ranks\n") + row);
    EXPECT_EQ(failure.status, Status::Usage) << row;
    EXPECT_TRUE(failure.is_one_line());
    EXPECT_TRUE(failure.says("x.csv")) << failure.message;
  }
}

TEST(ReadCsv, RefusesAFileThatIsNotOneOfOurs) {
  const Failure failure = refusal("time,speed\n1,2\n");
  EXPECT_EQ(failure.status, Status::Usage);
  EXPECT_TRUE(failure.says("not a CSV of busbar")) << failure.message;
}

TEST(ReadCsv, RefusesAFolder) {
  const test::TemporaryFolder folder;
  EXPECT_EQ(test::failure_of([&] { (void)read_csv(folder.path("")); }).status, Status::Usage);
}

TEST(ReadCsv, ReadsAPipe) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), S_IRUSR | S_IWUSR), 0);
  const std::jthread writer([&] {
    std::ofstream(path) << "# a\n" << csv_header() << csv_row(test::measured(false)) << "allred";
  });
  const CsvFile file = read_csv(path);
  EXPECT_EQ(file.head, std::vector<std::string>{"# a"});
  ASSERT_EQ(file.records.size(), 1U);
  EXPECT_EQ(csv_row(file.records[0]), csv_row(test::measured(false)));
}

TEST(ReadCsv, FindsTheLastWholeLineBehindALongUnfinishedOne) {
  const std::string whole = csv_header() + csv_row(test::measured(false));
  EXPECT_EQ(read(whole + std::string(10000, 'x')).records.size(), 1U);
  EXPECT_TRUE(refusal("").says("no line names columns"));
  EXPECT_TRUE(refusal(std::string(10000, 'x')).says("no line names columns"));
}

TEST(CsvRows, ReadsOnlyTheColumnsThatAreAskedFor) {
  const test::TemporaryFolder folder;
  folder.write("x.csv", "size_bytes,ranks,collective,op,busbw_GBps\n8,many,broadcast,sum,1.5\n");
  const std::vector<std::string_view> columns{"busbw_GBps", "type"};
  CsvRows rows(folder.path("x.csv"), columns);
  Record record;
  ASSERT_TRUE(rows.next(record));
  EXPECT_EQ(record.collective, "broadcast");
  EXPECT_EQ(record.size, 8U);
  EXPECT_EQ(record.busbw_GBps, 1.5);
  EXPECT_EQ(record.op, "");
  EXPECT_EQ(record.ranks, 0);
  EXPECT_FALSE(rows.next(record));
}

TEST(ReadCsv, RefusesAFileThatIsNotThere) {
  const Failure failure = test::failure_of([] { (void)read_csv("/nowhere/x.csv"); });
  EXPECT_EQ(failure.message, "cannot read /nowhere/x.csv");
  EXPECT_EQ(failure.status, Status::Usage);
}

}  // namespace
}  // namespace busbar

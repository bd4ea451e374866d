// SPDX-License-Identifier: BSD-3-Clause
#include "report/csv_writer.hpp"

#include <gtest/gtest.h>

#include "report/csv_text.hpp"
#include "tests/unit/support/failure.hpp"
#include "tests/unit/support/sample_records.hpp"
#include "tests/unit/support/temporary_folder.hpp"

namespace busbar {
namespace {

using test::text_of;

class CsvWriterFile : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return folder_.path("x.csv"); }
  [[nodiscard]] std::string text() const { return text_of(path()); }
  const test::TemporaryFolder& folder() const { return folder_; }

 private:
  test::TemporaryFolder folder_;
};

const std::string kHead =
    "# busbar: 0.1.0\n# configuration: collective=allreduce ranks=16\n# started: 2026-11-21 "
    "14:00:00\n"
    "# command: ./allreduce_perf -e 32M\n# note: memory plan: both placements\n";

TEST_F(CsvWriterFile, BeginsWithItsContextAndTheColumnNames) {
  CsvWriter writer(path(), false);
  writer.begin(test::context());
  EXPECT_EQ(text(), kHead + csv_header());
}

TEST_F(CsvWriterFile, HasEveryRowOnDiskWhenWriteReturns) {
  CsvWriter writer(path(), false);
  writer.begin(test::context());
  writer.write(test::measured(false), {});
  EXPECT_EQ(text(), kHead + csv_header() + csv_row(test::measured(false)));
  writer.write(test::measured(true), {});
  EXPECT_EQ(text(),
            kHead + csv_header() + csv_row(test::measured(false)) + csv_row(test::measured(true)));
}

TEST_F(CsvWriterFile, EndsWithTheTimeAtWhichItWasFinished) {
  CsvWriter writer(path(), false);
  writer.begin(test::context());
  writer.end({.finished_at = "2026-11-21 14:03:00"});
  EXPECT_TRUE(text().ends_with("\n# finished: 2026-11-21 14:03:00\n"));
}

TEST_F(CsvWriterFile, HasFactsOfOneLineEach) {
  RunContext context = test::context();
  context.facts = {{"command", "two\nlines"}};
  context.notes.clear();
  CsvWriter writer(path(), false);
  writer.begin(context);
  EXPECT_EQ(text(), "# command: two lines\n" + csv_header());
}

TEST_F(CsvWriterFile, IsNeverReplaced) {
  folder().write("x.csv", "precious\n");
  const test::Failure failure = test::failure_of([&] { const CsvWriter writer(path(), false); });
  EXPECT_EQ(failure.status, Status::Usage);
  EXPECT_TRUE(failure.says("--csv: ")) << failure.message;
  EXPECT_TRUE(failure.says("--resume")) << failure.message;
  EXPECT_EQ(text(), "precious\n");
}

TEST_F(CsvWriterFile, IsNotResumedWithTheColumnsOfAnotherVersion) {
  std::string columns = csv_header();
  columns.replace(columns.find(",device_set"), std::string::npos, "\n");
  folder().write("x.csv", kHead + columns);
  const test::Failure failure = test::failure_of([&] { const CsvWriter writer(path(), true); });
  EXPECT_EQ(failure.status, Status::Usage);
  EXPECT_TRUE(failure.says("--resume: " + path() + " has the columns of another version"))
      << failure.message;
  EXPECT_TRUE(failure.says("--csv")) << failure.message;
  EXPECT_EQ(text(), kHead + columns);
}

TEST_F(CsvWriterFile, GoesOnAfterItsLastWholeLineWhenResumed) {
  const std::string whole = kHead + csv_header() + csv_row(test::measured(false));
  folder().write("x.csv", whole + "allreduce,mpi,16");
  CsvWriter writer(path(), true);
  ASSERT_EQ(writer.earlier().size(), 1U);
  EXPECT_EQ(writer.earlier_fact("configuration"), "collective=allreduce ranks=16");
  EXPECT_EQ(writer.earlier_fact("colour"), "");
  writer.begin(test::context());
  writer.write(test::measured(true), {});
  EXPECT_EQ(
      text(),
      whole +
          "# resumed-started: 2026-11-21 14:00:00\n# resumed-command: ./allreduce_perf -e 32M\n" +
          csv_row(test::measured(true)));
}

TEST_F(CsvWriterFile, BeginsAnewWhereTheResumedFileIsNotThereOrEmpty) {
  CsvWriter writer(path(), true);
  EXPECT_TRUE(writer.earlier().empty());
  writer.begin(test::context());
  EXPECT_EQ(text(), kHead + csv_header());
}

TEST_F(CsvWriterFile, DoesNotResumeWhatIsNoCsvOfOurs) {
  folder().write("x.csv", "a letter to a friend\n");
  const test::Failure failure = test::failure_of([&] { const CsvWriter writer(path(), true); });
  EXPECT_EQ(failure.status, Status::Usage);
  EXPECT_EQ(text(), "a letter to a friend\n");
}

using SamplesWriterFile = CsvWriterFile;

TEST_F(SamplesWriterFile, HasALinePerSampleWithTheKeysOfItsRow) {
  SamplesWriter writer(path(), false);
  writer.begin(test::context());
  const std::vector<double> samples{276.88, 280, 0.1234567};
  writer.write(test::measured(false), samples);
  EXPECT_EQ(text(),
            "collective,type,op,root,in_place,size_bytes,cycle,batch,sample,time_us,"
            "group,sender,receiver\n"
            "allreduce,float,sum,,0,33554432,0,20,0,276.88,,,\n"
            "allreduce,float,sum,,0,33554432,0,20,1,280,,,\n"
            "allreduce,float,sum,,0,33554432,0,20,2,0.1234567,,,\n");
}

TEST_F(SamplesWriterFile, NamesTheGroupOrThePairOfARow) {
  SamplesWriter writer(path(), false);
  writer.begin(test::context());
  Record record = test::measured(false);
  record.group = 2;
  record.sender = 3;
  record.receiver = 5;
  const std::vector<double> samples{4};
  writer.write(record, samples);
  EXPECT_TRUE(text().ends_with(",0,4,2,3,5\n")) << text();
}

TEST_F(SamplesWriterFile, HasNothingOfASkippedRow) {
  SamplesWriter writer(path(), false);
  writer.begin(test::context());
  const std::string before = text();
  writer.write(test::skipped(false, "no room"), {});
  EXPECT_EQ(text(), before);
}

TEST_F(SamplesWriterFile, IsNeverReplaced) {
  folder().write("x.csv", "precious\n");
  const test::Failure failure =
      test::failure_of([&] { const SamplesWriter writer(path(), false); });
  EXPECT_TRUE(failure.says("--samples: ")) << failure.message;
}

TEST_F(SamplesWriterFile, GoesOnAfterItsLastWholeLineWhenResumed) {
  const std::string whole =
      "collective,type,op,root,in_place,size_bytes,cycle,batch,sample,time_us,"
      "group,sender,receiver\n"
      "allreduce,float,sum,,0,33554432,0,20,0,276.88,,,\n";
  folder().write("x.csv", whole + "allreduce,flo");
  SamplesWriter writer(path(), true);
  writer.begin(test::context());
  const std::vector<double> samples{5};
  writer.write(test::measured(true), samples);
  EXPECT_EQ(text(), whole + "allreduce,float,sum,,1,33554432,0,20,0,5,,,\n");
}

}  // namespace
}  // namespace busbar

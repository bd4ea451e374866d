// SPDX-License-Identifier: BSD-3-Clause
#include "report/csv_writer.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "model/record.hpp"
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

TEST(CsvCell, IsPlainWhereNothingNeedsQuotes) {
  EXPECT_EQ(csv_cell("allreduce"), "allreduce");
  EXPECT_EQ(csv_cell(""), "");
  EXPECT_EQ(csv_cell("a b;c"), "a b;c");
}

TEST(CsvCell, IsQuotedWhereItHasACommaAQuoteOrALineEnd) {
  EXPECT_EQ(csv_cell("rank 1, element 2"), "\"rank 1, element 2\"");
  EXPECT_EQ(csv_cell("say \"no\""), "\"say \"\"no\"\"\"");
  EXPECT_EQ(csv_cell("a\nb"), "\"a\nb\"");
  EXPECT_EQ(csv_cell("a\rb"), "\"a\rb\"");
}

TEST(CsvHeader, NamesEveryFieldOnce) {
  const std::string header = csv_header();
  EXPECT_TRUE(
      header.starts_with("collective,backend,ranks,nodes,type,op,root,in_place,size_bytes,count,"));
  EXPECT_TRUE(header.ends_with("\n"));
  EXPECT_EQ(split(header, ',').size(), kRecordFieldCount);
}

TEST(CsvRow, HasACellForEveryFieldAndNothingInThoseWithoutAValue) {
  EXPECT_EQ(csv_row(test::measured(false)),
            "allreduce,mpi,16,1,float,sum,,0,33554432,8388608,ok,,,streaming,50,1000,ci-width,276."
            "88,,,,,,,,,"
            "121.19,227.23,0,,20,,,,max,block,warm,,0,2026-11-21 14:02:59,,,,,,,,,,,,,\n");
}

TEST(CsvRow, QuotesAReasonWithCommas) {
  const std::string row = csv_row(test::skipped(true, "needs 17 GiB, 16 GiB may be used"));
  EXPECT_EQ(row,
            "allreduce,mpi,16,1,half,sum,,1,1024,512,skipped,\"needs 17 GiB, 16 GiB may be "
            "used\",,,,,,,,,,,,,,,,,,,,,,,"
            ",,,,0,,,,,,,,,,,,,,\n");
}

TEST(CsvRow, IsOneLine) {
  Record record = test::measured(false);
  record.reason = "first\nsecond";
  const std::string row = csv_row(record);
  EXPECT_EQ(std::count(row.begin(), row.end(), '\n'), 1) << row;
}

TEST(SchemaMarkdown, HasALineForEveryColumn) {
  const std::string text = schema_markdown();
  for (const RecordField& field : record_fields()) {
    const std::string line =
        fmt::format("\n| `{}` | {} | {} |\n", field.name, field.unit, field.meaning);
    EXPECT_NE(text.find(line), std::string::npos) << field.name;
  }
}

TEST(SchemaMarkdown, SaysWhatItIsMadeFrom) {
  EXPECT_NE(schema_markdown().find("src/model/record.cpp"), std::string::npos);
}

}  // namespace
}  // namespace busbar

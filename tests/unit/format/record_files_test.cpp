// SPDX-License-Identifier: BSD-3-Clause
#include <sys/stat.h>
#include <unistd.h>

#include "format/csv_writer.hpp"
#include "format/json_writer.hpp"
#include "tests/unit/support/sample_records.hpp"

namespace busbar {
namespace {

using test::Failure;
using test::failure_of;
using test::measured;
using test::with;

const std::string kHead =
    "# busbar: 0.1.0\n# configuration: collective=allreduce ranks=16\n# started: 2026-11-21 "
    "14:00:00\n"
    "# command: ./allreduce_perf -e 32M\n# note: memory plan: both placements\n";
const std::string kSamplesHeader =
    "collective,type,op,root,in_place,size_bytes,cycle,batch,sample,time_us,"
    "group,sender,receiver,round,distribution,variant,mix\n";

class CsvFiles : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return folder_.path("x.csv"); }
  [[nodiscard]] std::string text() const { return test::text_of(path()); }
  void write(const std::string& text) const { folder_.write("x.csv", text); }
  template <class Writer = CsvWriter>
  [[nodiscard]] std::string refusal(bool resume) const {
    return test::refusal_of([&] { const Writer writer(path(), resume); });
  }

 private:
  test::TemporaryFolder folder_;
};

using CsvWriterFile = CsvFiles;

TEST_F(CsvWriterFile, HasItsContextAndEveryRowOnDiskWhenWriteReturns) {
  CsvWriter writer(path(), false);
  writer.begin(test::context());
  std::string expected = kHead + csv_header();
  EXPECT_EQ(text(), expected);
  for (const bool in_place : {false, true}) {
    writer.write({measured(in_place)});
    expected += csv_row(measured(in_place));
    EXPECT_EQ(text(), expected);
  }
  writer.end({.finished_at = "2026-11-21 14:03:00"});
  EXPECT_THAT(text(), EndsWith("\n# finished: 2026-11-21 14:03:00\n"));
}

TEST_F(CsvWriterFile, HasFactsOfOneLineEach) {
  CsvWriter writer(path(), false);
  RunContext context;
  context.facts = {{"command", "two\nlines"}};
  writer.begin(context);
  EXPECT_EQ(text(), "# command: two lines\n" + csv_header());
}

TEST_F(CsvWriterFile, IsNeverReplaced) {
  write("precious\n");
  EXPECT_THAT(refusal(false), AllOf(HasSubstr("--csv: "), HasSubstr("--resume")));
  EXPECT_THAT(refusal<SamplesWriter>(false), HasSubstr("--samples: "));
  EXPECT_EQ(text(), "precious\n");
}

TEST_F(CsvWriterFile, IsNotResumedWithTheColumnsOfAnotherVersionOrWhereItIsOfAnotherProgram) {
  std::string columns = csv_header();
  columns.replace(columns.find(",device_set"), std::string::npos, "\n");
  write(kHead + columns);
  EXPECT_THAT(refusal(true), AllOf(HasSubstr("--resume: " + path()),
                                   HasSubstr("columns of another version"), HasSubstr("--csv")));
  EXPECT_EQ(text(), kHead + columns);
  write("a letter to a friend\n");
  EXPECT_THAT(refusal(true), HasSubstr("not a CSV of busbar"));
  EXPECT_EQ(text(), "a letter to a friend\n");
}

TEST_F(CsvWriterFile, GoesOnAfterItsLastWholeLineWhenResumed) {
  const std::string whole = kHead + csv_header() + csv_row(measured(false));
  write(whole + "allreduce,mpi,16");
  CsvWriter writer(path(), true);
  ASSERT_EQ(writer.earlier().size(), 1U);
  EXPECT_EQ(writer.earlier_fact(fact::kConfiguration), "collective=allreduce ranks=16");
  EXPECT_EQ(writer.earlier_fact(fact::kDriver), "");
  writer.begin(test::context());
  writer.write({measured(true)});
  EXPECT_EQ(text(), whole +
                        "# resumed_started: 2026-11-21 14:00:00\n"
                        "# resumed_command: ./allreduce_perf -e 32M\n" +
                        csv_row(measured(true)));
}

using SamplesWriterFile = CsvFiles;

TEST_F(SamplesWriterFile, HasALinePerSampleWithTheKeysOfItsRow) {
  SamplesWriter writer(path(), false);
  writer.begin(test::context());
  writer.write({test::skipped(false, "no room")});
  EXPECT_EQ(text(), kSamplesHeader) << "nothing of a skipped row";
  writer.write({measured(false), {276.88, 280, 0.1234567}});
  EXPECT_EQ(text(), kSamplesHeader +
                        "allreduce,float,sum,,0,33554432,0,20,0,276.88,,,,,,,\n"
                        "allreduce,float,sum,,0,33554432,0,20,1,280,,,,,,,\n"
                        "allreduce,float,sum,,0,33554432,0,20,2,0.1234567,,,,,,,\n");
  writer.write(
      {with(measured(false), &Record::group, 2, &Record::sender, 3, &Record::receiver, 5), {4}});
  EXPECT_THAT(text(), EndsWith(",0,4,2,3,5,,,,\n"));
}

const std::string kPerRankHeader =
    "collective,type,op,root,in_place,size_bytes,cycle,batch,sample,rank,host,time_us,group,"
    "round,distribution,variant,mix\n";

TEST_F(SamplesWriterFile, HasALinePerSampleAndRankOfTheJobWhereTheTimesAreOfRanks) {
  SamplesWriter writer(path(), false, SamplesWriter::Times::OfRanks);
  RunContext context = test::context();
  context.hosts = {"h1", "h1", "h2"};
  context.groups = {{{0, 0}, {0, 2}}, {{0, 1}, {1}}};
  writer.begin(context);
  writer.write({.record = measured(false), .samples_us = {5}});
  EXPECT_EQ(text(), kPerRankHeader) << "nothing of a row whose times nobody kept";
  writer.write(
      {.record = measured(false), .samples_us = {5, 6}, .rank_times_us = {{5, 4, 3}, {6, 6, 0.5}}});
  const std::string key = "allreduce,float,sum,,0,33554432,0,20,";
  EXPECT_THAT(text(), EndsWith(key + "0,0,h1,5,,,,,\n" + key + "0,1,h1,4,,,,,\n" + key +
                               "0,2,h2,3,,,,,\n" + key + "1,0,h1,6,,,,,\n" + key +
                               "1,1,h1,6,,,,,\n" + key + "1,2,h2,0.5,,,,,\n"));
  writer.write({.record = with(measured(false), &Record::group, 0), .rank_times_us = {{8, 9}}});
  EXPECT_THAT(text(), EndsWith(key + "0,0,h1,8,0,,,,\n" + key + "0,2,h2,9,0,,,,\n"));
}

/// A row less the cells at its end that have no value.
std::string without_empty_end(const std::string& row) {
  EXPECT_TRUE(row.ends_with('\n'));
  return row.substr(0, row.find_last_not_of(",\n") + 1);
}

TEST(CsvRow, HasACellForEveryFieldAndNothingInThoseWithoutAValue) {
  EXPECT_EQ(without_empty_end(csv_row(measured(false))),
            "allreduce,mpi,16,1,float,sum,,0,33554432,8388608,ok,,,streaming,50,1000,ci-width,276."
            "88,,,,,,,,,"
            "121.19,227.23,0,,20,,,,max,block,warm,,0,2026-11-21 "
            "14:02:59");
  EXPECT_EQ(split(csv_row(measured(false)), ',').size(), record_fields().size());
}

/// What read_csv makes of a file with this text.
CsvFile read(const std::string& text) {
  const test::TemporaryFolder folder;
  folder.write("x.csv", text);
  return read_csv(folder.path("x.csv"));
}

std::string refusal_of(const std::string& text) {
  std::string message = test::refusal_of([&] { (void)read(text); });
  EXPECT_THAT(message, Not(HasSubstr("\n")));
  return message;
}

TEST(ReadCsv, GivesBackTheRecordsThatWereWritten) {
  const Record wrong = with(measured(true), &Record::status, RowStatus::Wrong, &Record::root, 2,
                            &Record::reason, "rank 1, element 12345: expected \"37\", got 36");
  const CsvFile file = read(csv_header() + csv_row(measured(false)) + csv_row(wrong));
  ASSERT_EQ(file.records.size(), 2U);
  EXPECT_EQ(csv_row(file.records[0]), csv_row(measured(false)));
  EXPECT_EQ(csv_row(file.records[1]), csv_row(wrong));
  EXPECT_EQ(file.records[1].reason, wrong.reason);
  EXPECT_FALSE(file.records[0].root.has_value());
}

TEST(ReadCsv, KeepsTheHeadAndPassesOverLaterComments) {
  const CsvFile file =
      read("# busbar: 0.1.0\n# configuration: a=1 b=2\n" + csv_header() + csv_row(measured(false)) +
           "# resumed_started: later\n" + csv_row(measured(true)) + "# finished: now\n");
  EXPECT_EQ(file.head, (std::vector<std::string>{"# busbar: 0.1.0", "# configuration: a=1 b=2"}));
  EXPECT_EQ(file.records.size(), 2U);
}

TEST(ReadCsv, LeavesOutALineThatAKilledRunLeftUnfinished) {
  const std::string whole = csv_header() + csv_row(measured(false));
  const std::string tail(10000, 'x');
  for (const std::string& piece :
       {std::string("allreduce"), std::string("allreduce,mpi,16,1,float,sum,,1,3355"),
        std::string("\""), std::string("# resum"), tail}) {
    EXPECT_EQ(read(whole + piece).records.size(), 1U) << piece;
  }
  for (const std::string& text : {std::string(), std::string("x"), tail}) {
    EXPECT_THAT(refusal_of(text), HasSubstr("no line names columns"));
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
  EXPECT_THAT(
      refusal_of("# a\ncollective,size_bytes,ranks\nallreduce,1024,4\nallreduce,1024,many\n"),
      HasSubstr("/x.csv:4: column ranks: 'many'"));
}

TEST(ReadCsv, RefusesWhatIsNoCsvOfBusbar) {
  for (const char* row : {"allreduce\n", "allreduce,8,1,2\n"}) {
    EXPECT_THAT(refusal_of(std::string("collective,size_bytes,ranks\n") + row), HasSubstr("x.csv"));
  }
  EXPECT_THAT(refusal_of("time,speed\n1,2\n"),
              AllOf(HasSubstr("not a CSV of busbar: 'time,speed'"), HasSubstr("busbar import")));
  const test::TemporaryFolder folder;
  for (const std::string& path : {folder.path(""), std::string("/nowhere/x.csv")}) {
    test::expect_failure(Status::Usage, path, [&] { (void)read_csv(path); });
  }
}

TEST(ReadCsv, ReadsAPipe) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), S_IRUSR | S_IWUSR), 0);
  for (const std::string& endless : {path, std::string("/dev/zero")}) {
    test::expect_failure(Status::Usage, "cannot read " + endless, [&] { (void)read_csv(endless); });
  }
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const std::string text = "# a\n" + csv_header() + csv_row(measured(false)) + "allred";
  ASSERT_EQ(write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  close(ends[1]);
  const CsvFile file = read_csv(fmt::format("/dev/fd/{}", ends[0]));  // as of a shell's <(...)
  close(ends[0]);
  EXPECT_EQ(file.head, std::vector<std::string>{"# a"});
  ASSERT_EQ(file.records.size(), 1U);
  EXPECT_EQ(csv_row(file.records[0]), csv_row(measured(false)));
}

using Json = nlohmann::json;

struct JsonWriterFile : testing::Test {
  [[nodiscard]] std::string path() const { return folder.path("x.json"); }
  /// Throws where the file is not a whole document.
  [[nodiscard]] Json document() const { return Json::parse(test::text_of(path())); }

  test::TemporaryFolder folder;
};

TEST_F(JsonWriterFile, IsAWholeDocumentAfterEveryStep) {
  JsonWriter writer(path(), false);
  EXPECT_FALSE(std::filesystem::exists(path())) << "a run that is killed now leaves none";
  writer.begin(test::context());
  EXPECT_EQ(document()["rows"].size(), 0U);
  EXPECT_EQ(document()["context"]["command"], "./allreduce_perf -e 32M");
  EXPECT_EQ(document()["context"]["notes"][0], "memory plan: both placements");
  writer.write({measured(false)});
  EXPECT_EQ(document()["rows"].size(), 1U);
  writer.write({test::skipped(true, "a \"quoted\" reason, \\ and\nmore")});
  EXPECT_EQ(document()["rows"].size(), 2U);
  writer.end(
      {.rows = 3, .skipped = 2, .wrong_rows = 1, .mean_busbw_GBps = 1.5, .finished_at = "then"});
  EXPECT_EQ(document()["rows"].size(), 2U);
  EXPECT_EQ(document()["summary"],
            Json::parse(R"({"measured_rows": 3, "skipped_rows": 2, "wrong_rows": 1,
                            "mean_busbw_GBps": 1.5, "finished": "then"})"));
}

TEST_F(JsonWriterFile, NeverReplacesAFileThatIsNotOfItsRun) {
  folder.write("x.json", "{}\n");
  for (const bool resume : {false, true}) {
    test::expect_failure(Status::Usage, "-J: ", [&] { const JsonWriter writer(path(), resume); });
  }
}

TEST_F(JsonWriterFile, KeepsItsRowsUntilAResumedRunBegins) {
  {
    JsonWriter first(path(), false);
    first.begin(test::context());
    first.write({measured(false)});
  }
  JsonWriter resumed(path(), true);
  EXPECT_EQ(document()["rows"].size(), 1U);
  resumed.begin(test::context());
  EXPECT_EQ(document()["rows"].size(), 0U);
  resumed.write({measured(false)});
  EXPECT_EQ(document()["rows"].size(), 1U);
}

TEST_F(JsonWriterFile, IsAWholeDocumentWhereTheDiskIsFull) {
  JsonWriter writer(path(), false);
  writer.begin(test::context());
  std::size_t rows = 0;
  const Failure failure = failure_of([&] {
    const test::SmallDisk disk(8000);
    for (;; ++rows) writer.write({measured(false)});
  });
  EXPECT_EQ(failure.status, Status::Runtime);
  EXPECT_GE(rows, 2U);
  EXPECT_EQ(document()["rows"].size(), rows);
}

}  // namespace
}  // namespace busbar

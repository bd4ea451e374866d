// SPDX-License-Identifier: BSD-3-Clause
#include "harness/outputs.hpp"

#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/sample_records.hpp"

namespace busbar {
namespace {

using test::Failure;
using test::failure_of;
using test::measured;
using test::skipped;
using test::text_of;

struct OutputsOfARun : testing::Test {
  OutputsOfARun() { testing::internal::CaptureStdout(); }
  OutputsOfARun(const OutputsOfARun&) = delete;
  OutputsOfARun& operator=(const OutputsOfARun&) = delete;
  ~OutputsOfARun() override { (void)testing::internal::GetCapturedStdout(); }

  [[nodiscard]] Options options(bool resume = false) const {
    Options options;
    options.csv_path = csv();
    options.json_path = folder.path("x.json");
    options.samples_path = folder.path("s.csv");
    options.resume = resume;
    return options;
  }
  [[nodiscard]] std::string csv() const { return folder.path("x.csv"); }

  /// A run of these rows into all outputs; true for each that an earlier run had already.
  std::vector<bool> run(const std::vector<Record>& rows, bool resume) {
    Outputs outputs(bootstrap, options(resume));
    outputs.check_resumable("collective=allreduce ranks=16");
    outputs.begin(test::context());
    std::vector<bool> resumed;
    for (const Record& row : rows) {
      const std::vector<Row> earlier = outputs.take_earlier({&row, 1});
      resumed.push_back(!earlier.empty());
      resumed.back() ? outputs.show(earlier.front()) : outputs.write({row, {1, 2}});
    }
    outputs.end("Total 3 GiB");
    summary = outputs.summary();
    return resumed;
  }

  test::TemporaryFolder folder;
  test::FakeBootstrap bootstrap;
  RunSummary summary;
};

using Resumed = std::vector<bool>;

TEST_F(OutputsOfARun, WriteEveryRowToEveryFile) {
  EXPECT_EQ(run({measured(false), measured(true)}, false), (Resumed{false, false}));
  EXPECT_EQ(read_csv(csv()).records.size(), 2U);
  // Names, twice two samples, nothing.
  EXPECT_THAT(split(text_of(folder.path("s.csv")), '\n'), SizeIs(6));
  EXPECT_THAT(text_of(folder.path("x.json")), HasSubstr("\"measured_rows\":2"));
}

TEST_F(OutputsOfARun, GoOnBehindTheLastWholeLineOfFacts) {
  Options options;
  options.facts_path = folder.path("f.csv");
  const auto write = [&](const char* lines) { Outputs(bootstrap, options).write_facts(lines); };
  write("1,h,kernel.boot,,a,\n1,h,ker");
  options.resume = true;
  write("2,h,kernel.boot,,a,\n");
  EXPECT_EQ(text_of(folder.path("f.csv")),
            "at,host,fact,instance,value,reason\n1,h,kernel.boot,,a,\n2,h,kernel.boot,,a,\n");
}

TEST_F(OutputsOfARun, CountRowsAndHaveTheMemoryThatWasTaken) {
  Record wrong = measured(true);
  wrong.status = RowStatus::Wrong;
  wrong.busbw_GBps = 2;
  Record good = measured(false);
  good.busbw_GBps = 4;
  (void)run({good, wrong, skipped(false, "no room")}, false);
  EXPECT_EQ(summary.rows, 2U);
  EXPECT_EQ(summary.wrong_rows, 1U);
  EXPECT_EQ(summary.skipped, 1U);
  EXPECT_DOUBLE_EQ(summary.mean_busbw_GBps, 3);
  EXPECT_EQ(summary.memory_use, "Total 3 GiB");
}

TEST_F(OutputsOfARun, GoOnWithTheFirstMissingRowUntilAllAreThere) {
  Record faulty = measured(false);
  faulty.flags = "oversubscribed fault-injected";
  EXPECT_EQ(run({faulty}, true), (Resumed{false}));  // nothing to resume
  EXPECT_EQ(summary.fault_rows, 1U);
  for (const bool all : {false, true}) {
    EXPECT_EQ(run({faulty, measured(true)}, true), (Resumed{true, all}));
    EXPECT_EQ(read_csv(csv()).records.size(), 2U);
    EXPECT_EQ(summary.rows, 2U);
    EXPECT_EQ(summary.fault_rows, 1U);  // also of an earlier run
  }
  EXPECT_THAT(text_of(folder.path("x.json")), HasSubstr("\"measured_rows\":2"));
}

TEST_F(OutputsOfARun, DistinguishRowsByEverythingThatASweepVaries) {
  (void)run({measured(false)}, false);
  const Record row = measured(false);
  const std::vector<Record> others{test::with(row, &Record::type, "double"),
                                   test::with(row, &Record::op, "max"),
                                   test::with(row, &Record::root, 1),
                                   test::with(row, &Record::size, Bytes{8}),
                                   test::with(row, &Record::cycle, 1U),
                                   measured(true),
                                   test::with(row, &Record::group, 1),
                                   test::with(row, &Record::sender, 0, &Record::receiver, 1),
                                   test::with(row, &Record::sender, 1, &Record::receiver, 0)};
  EXPECT_EQ(run(others, true), Resumed(9, false));
}

TEST_F(OutputsOfARun, MeasureRowsOfOneTimeAgainUnlessAllAreThere) {
  Record first = measured(false);
  Record second = measured(false);
  first.group = 0;
  second.group = 1;
  (void)run({first}, false);
  {
    Outputs outputs(bootstrap, options(true));
    outputs.begin(test::context());
    EXPECT_THAT(outputs.take_earlier(std::vector{first, second}), IsEmpty());
    outputs.write({first});  // an earlier run has it: not written again
    outputs.write({second});
    outputs.end("");
    EXPECT_EQ(outputs.summary().rows, 2U);
    EXPECT_THROW(Outputs(bootstrap, options(true)), Error);  // one run at a time
  }
  const auto rows = read_csv(csv()).records;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].group, 0);
  EXPECT_EQ(rows[1].group, 1);
  Outputs later(bootstrap, options(true));
  EXPECT_THAT(later.take_earlier(std::vector{first, second}), SizeIs(2));
}

TEST_F(OutputsOfARun, HaveTheSamplesOfARowBeforeTheRow) {
  Outputs outputs(bootstrap, options());
  outputs.begin(test::context());
  const Failure failure = failure_of([&] {
    const test::SmallDisk disk(text_of(csv()).size() + 10);  // samples are shorter than the head
    outputs.write({measured(false), {1, 2}});
  });
  EXPECT_EQ(failure.status, Status::Runtime);
  EXPECT_EQ(split(text_of(folder.path("s.csv")), '\n').size(), 4U);
}

TEST_F(OutputsOfARun, ResumeASizeAsOftenAsItWasMeasured) {
  (void)run({measured(false), measured(false)}, false);
  EXPECT_EQ(run({measured(false), measured(false), measured(false)}, true),
            (Resumed{true, true, false}));
}

/// It lacks host-limits, whose default is auto.
TEST_F(OutputsOfARun, ResumeAFileOfAnOlderVersionAndNameTheFirstDifferenceOfAnother) {
  (void)run({measured(false)}, false);
  Outputs outputs(bootstrap, options(true));
  const std::string known = "host-limits=auto collective=allreduce ranks=16";
  EXPECT_NO_THROW(outputs.check_resumable(known));
  for (const auto& [configuration, difference] : std::map<std::string, std::string>{
           {"collective=allreduce ranks=8", "it has ranks=16, this run ranks=8"},
           {"collective=allreduce ranks=16 host-limits=off",
            "it has host-limits=auto, this run host-limits=off"},
           {"collective=allreduce", "it has ranks=16, this run none"},
           {known + " a=1", "this run has a=1"}}) {
    test::expect_failure(Status::Usage, {"--resume: ", difference},
                         [&, &text = configuration] { outputs.check_resumable(text); });
  }
}

TEST_F(OutputsOfARun, AreRefusedBeforeAnythingIsMeasuredWhereAFileCannotBeWritten) {
  Options unwritable = options();
  unwritable.csv_path = folder.path("none/x.csv");
  test::expect_failure(Status::Usage, "--csv: cannot write",
                       [&] { const Outputs outputs(bootstrap, unwritable); });
}

TEST_F(OutputsOfARun, AreOnRankZeroOnly) {
  test::FakeBootstrap second(1, 2);
  Outputs outputs(second, options());
  outputs.write({measured(false)});
  EXPECT_EQ(text_of(csv()), "");
  EXPECT_EQ(outputs.progress_line(), nullptr);
}

}  // namespace
}  // namespace busbar

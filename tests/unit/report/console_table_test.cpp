// SPDX-License-Identifier: BSD-3-Clause
#include "report/console_table.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/unit/support/captured_stream.hpp"
#include "tests/unit/support/failure.hpp"
#include "tests/unit/support/sample_records.hpp"
#include "tests/unit/support/table_text.hpp"

namespace busbar {
namespace {

using test::CapturedStream;
using test::lines_of;
using test::measured;
using test::rows;
using test::skipped;
using test::words_in;

constexpr ConsoleTable::Halves kBoth{};

/// What nccl-tests 2.19.6 printed for this run, less its version line. Blanks at the ends of lines
/// are left out: none of its readers looks at them.
constexpr std::string_view kNcclTestsText =
    R"(# Collective test starting: all_reduce_perf
# nThread 1 nGpus 1 minBytes 33554432 maxBytes 33554432 step: 1048576(bytes) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0 unalign: 0
#
# Using devices
#  Rank  0 Group  0 Pid 249104 on      node1 device  0 [0000:00:05] NVIDIA B200
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
    33554432       8388608     float     sum      -1   276.88  121.19  227.23       0   277.00  121.13  227.13       0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 178.222
#
# Collective test concluded: all_reduce_perf
#
)";

std::string without_blanks_at_line_ends(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line.substr(0, line.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

TEST(ConsoleTable, PrintsWhatNcclTestsPrints) {
  const CapturedStream captured;
  ConsoleTable table(captured.stream(), kBoth);
  RunContext context = test::context();
  context.notes.clear();
  table.begin(context);
  table.write(measured(false), {});
  table.write(measured(true), {});
  table.end({.rows = 2, .mean_busbw_GBps = 178.222, .finished_at = ""});
  EXPECT_EQ(without_blanks_at_line_ends(captured.lines()), kNcclTestsText);
}

TEST(ConsoleTable, PutsNotesOnLinesOfTheirOwnAboveTheDevices) {
  const CapturedStream captured;
  ConsoleTable table(captured.stream(), kBoth);
  RunContext context = test::context();
  context.notes = {"one", "two\nlines"};
  table.begin(context);
  const auto lines = captured.lines();
  EXPECT_EQ(lines.at(2), "# one");
  EXPECT_EQ(lines.at(3), "# two lines");
  EXPECT_EQ(lines.at(5), "# Using devices");
}

TEST(ConsoleTable, SaysOnceForHowManyRowsNcclsChoiceIsUnknown) {
  const CapturedStream captured;
  ConsoleTable table(captured.stream(), kBoth);
  RunContext context = test::context();
  context.observes_choice = true;
  table.begin(context);
  Record known = measured(false);
  known.algorithm = "Ring";
  table.write(known, {});
  table.write(measured(true), {});
  table.end({.rows = 2, .finished_at = ""});
  int notes = 0;
  for (const std::string& line : captured.lines()) {
    notes += line.starts_with("# NCCL's log names no algorithm for 1 of 2 measurements") ? 1 : 0;
  }
  EXPECT_EQ(notes, 1);
}

TEST(ConsoleTable, SaysHowOperationsBlock) {
  const CapturedStream captured;
  ConsoleTable table(captured.stream(), kBoth);
  RunContext context = test::context();
  context.blocking = "wait after each operation";
  table.begin(context);
  EXPECT_EQ(captured.lines().at(2), "# Blocking Enabled: wait after each operation");
}

TEST(ConsoleTable, WaitsForBothHalvesOfARow) {
  EXPECT_TRUE(lines_of({measured(false)}).empty());
  EXPECT_EQ(lines_of({measured(false), measured(true)}).size(), 1U);
}

TEST(ConsoleTable, HasThirteenWordsInEveryRow) {
  const CapturedStream captured;
  ConsoleTable table(captured.stream(), kBoth);
  Record large = measured(false);
  large.size = 1073741824;
  large.time_median_us = 3004567.25;
  large.wrong = 1048576;
  large.root = 15;
  Record unchecked = measured(true);
  unchecked.wrong.reset();
  unchecked.busbw_GBps.reset();
  table.write(large, {});
  table.write(unchecked, {});
  table.write(skipped(false, "does not fit"), {});
  table.write(measured(true), {});
  ASSERT_EQ(rows(captured).size(), 2U);
  for (const std::string& row : rows(captured)) EXPECT_EQ(words_in(row), 13U) << row;
}

TEST(ConsoleTable, PrintsManyWrongElementsAsNcclTestsDoes) {
  Record wrong = measured(false);
  wrong.wrong = 1048580;
  EXPECT_EQ(
      lines_of({wrong}, {.in_place = false}).at(0),
      "    33554432       8388608     float     sum      -1   276.88  121.19  227.23  1.04858e+06"
      "      N/A     N/A     N/A     N/A");
}

TEST(ConsoleTable, HasNoValueInTheHalfThatWasNotAskedFor) {
  EXPECT_EQ(lines_of({measured(true)}, {.out_of_place = false}).at(0),
            "    33554432       8388608     float     sum      -1      N/A     N/A     N/A     N/A"
            "   277.00  121.13  227.13       0");
}

TEST(ConsoleTable, HasNoWrongCountWhereNothingWasChecked) {
  Record unchecked = measured(false);
  unchecked.wrong.reset();
  EXPECT_EQ(lines_of({unchecked, measured(true)}).at(0),
            "    33554432       8388608     float     sum      -1   276.88  121.19  227.23     N/A"
            "   277.00  121.13  227.13       0");
}

TEST(ConsoleTable, ShowsTheRootOfARootedCollective) {
  Record rooted = measured(false);
  rooted.root = 3;
  rooted.op = "none";
  EXPECT_TRUE(lines_of({rooted}, {.in_place = false})
                  .at(0)
                  .starts_with("    33554432       8388608     float    none       3   276.88"));
}

TEST(ConsoleTable, TellsASkippedSizeOnOneLineWhereBothHalvesHaveTheSameReason) {
  EXPECT_EQ(
      lines_of({skipped(false, "MPI has no type half"), skipped(true, "MPI has no type half")}),
      (std::vector<std::string>{"# size 1024 type half redop sum skipped: MPI has no type half"}));
}

TEST(ConsoleTable, TellsTheHalfThatWasSkipped) {
  const auto lines = lines_of({skipped(false, "needs 3 GiB"), measured(true)});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(words_in(lines[0]), 13U);
  EXPECT_EQ(lines[1], "# size 1024 type half redop sum out of place skipped: needs 3 GiB");
}

TEST(ConsoleTable, TellsAReasonToSkipOnce) {
  Record later = skipped(true, "no room");
  later.size = 2048;
  const auto lines = lines_of({skipped(false, "no room"), skipped(true, "no room"), measured(false),
                               later, skipped(false, "no type"), measured(true)});
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0], "# size 1024 type half redop sum skipped: no room");
  EXPECT_EQ(words_in(lines[1]), 13U);
  EXPECT_EQ(words_in(lines[2]), 13U);
  EXPECT_EQ(lines[3], "# size 1024 type half redop sum out of place skipped: no type");
}

TEST(ConsoleTable, TellsEveryFirstWrongElement) {
  Record wrong = measured(false);
  wrong.status = RowStatus::Wrong;
  wrong.reason = "rank 0, element 0: expected 1, got 2";
  EXPECT_EQ(lines_of({wrong, measured(true), wrong, measured(true)}).size(), 4U);
}

TEST(ConsoleTable, TellsTheFirstWrongElement) {
  Record wrong = measured(false);
  wrong.status = RowStatus::Wrong;
  wrong.wrong = 1;
  wrong.reason = "rank 1, element 12345: expected 37, got 36";
  EXPECT_EQ(lines_of({wrong, measured(true)}).at(1),
            "# size 33554432 type float redop sum out of place wrong data: rank 1, element 12345: "
            "expected 37, got 36");
}

TEST(ConsoleTable, AppendsTheTimeOfDayWhereAsked) {
  const CapturedStream captured;
  ConsoleTable table(captured.stream(), kBoth);
  RunContext context = test::context();
  context.timestamps = true;
  table.begin(context);
  table.write(measured(false), {});
  table.write(measured(true), {});
  EXPECT_TRUE(rows(captured).at(0).ends_with("       0  2026-11-21 14:02:59"));
  EXPECT_EQ(words_in(rows(captured).at(0)), 15U);
  EXPECT_NE(captured.text().find("#wrong  timestamp\n"), std::string::npos);
}

TEST(ConsoleTable, HasItsReadersWordsInTheFootersOnly) {
  const CapturedStream captured;
  ConsoleTable table(captured.stream(), kBoth);
  table.begin(test::context());
  Record wrong = measured(false);
  wrong.status = RowStatus::Wrong;
  wrong.reason = "rank 0, element 0: expected 1, got 2";
  wrong.stop_reason = "time-budget";
  table.write(wrong, {});
  table.write(skipped(true, "no room"), {});
  table.end({.rows = 1, .wrong_rows = 1, .mean_busbw_GBps = 1, .finished_at = ""});
  const auto lines = captured.lines();
  const auto with = [&](const char* word) {
    return std::count_if(lines.begin(), lines.end(), [&](const std::string& line) {
      return line.find(word) != std::string::npos;
    });
  };
  EXPECT_EQ(with("bandwidth"), 1);
  EXPECT_EQ(with("FAILED"), 1);
  EXPECT_EQ(with("Out of bounds values : 1 FAILED"), 1);
  EXPECT_EQ(with("out-of-place"), 1);
}

TEST(ConsoleTable, SaysHowManyMeasurementsEndedWithTheirBudget) {
  const CapturedStream captured;
  ConsoleTable table(captured.stream(), kBoth);
  Record late = measured(false);
  late.stop_reason = "time-budget";
  table.write(late, {});
  table.write(measured(true), {});
  table.end({});
  EXPECT_NE(captured.text().find("# 1 of 2 measurements ended with their time budget"),
            std::string::npos);
  EXPECT_NE(captured.text().find("--time-budget"), std::string::npos);
}

TEST(ConsoleTable, FailsWhereItsStreamCannotBeWritten) {
  std::FILE* full = std::fopen("/dev/full", "w");
  if (full == nullptr) GTEST_SKIP() << "no /dev/full";
  ConsoleTable table(full, kBoth);
  const test::Failure failure = test::failure_of([&] { table.end({}); });
  EXPECT_EQ(failure.status, Status::Runtime);
  EXPECT_TRUE(failure.says("No space left on device")) << failure.message;
  std::fclose(full);
}

TEST(ConsoleTime, HasAsManyDecimalsAsFitInSevenCharacters) {
  EXPECT_EQ(console_time(0.35), "0.35");
  EXPECT_EQ(console_time(276.884), "276.88");
  EXPECT_EQ(console_time(9999.99), "9999.99");
  EXPECT_EQ(console_time(9999.996), "10000.0");
  EXPECT_EQ(console_time(12345.67), "12345.7");
  EXPECT_EQ(console_time(99999.96), "100000");
  EXPECT_EQ(console_time(3004567.25), "3004567");
}

Record rate(int sender, int receiver, double rate_GBps, Bytes size = kMiB) {
  Record record = test::measured(false);
  record.sender = sender;
  record.receiver = receiver;
  record.busbw_GBps = rate_GBps;
  record.size = size;
  return record;
}

TEST(PairMatrix, HasALineForEverySenderAndAColumnForEveryReceiver) {
  PairMatrix matrix;
  matrix.add(rate(0, 1, 1));
  matrix.add(rate(1, 0, 10.25));
  matrix.add(rate(2, 0, 1234.567));
  matrix.add(rate(0, 2, 0.004));
  EXPECT_EQ(matrix.text(),
            "#\n"
            "# GB/s one way at 1 MiB, from the line's rank to the column's\n"
            "#            0       1       2\n"
            "#    0       -    1.00    0.00\n"
            "#    1   10.25       -       -\n"
            "#    2 1234.57       -       -\n"
            "#\n");
}

TEST(PairMatrix, IsOfTheLargestSize) {
  PairMatrix matrix;
  matrix.add(rate(0, 1, 1, kKiB));
  matrix.add(rate(1, 0, 2, kMiB));
  matrix.add(rate(0, 1, 3, kMiB));
  matrix.add(rate(1, 0, 4, kKiB));
  const std::string text = matrix.text();
  EXPECT_NE(text.find(" at 1 MiB,"), std::string::npos) << text;
  EXPECT_NE(text.find("#    0       -    3.00\n#    1    2.00       -\n"), std::string::npos)
      << text;
}

TEST(PairMatrix, KeepsTheLastOfSeveralCycles) {
  PairMatrix matrix;
  matrix.add(rate(0, 1, 1));
  matrix.add(rate(0, 1, 2));
  EXPECT_NE(matrix.text().find("    2.00"), std::string::npos) << matrix.text();
}

TEST(PairMatrix, IsNothingWithoutAMeasuredPair) {
  PairMatrix matrix;
  matrix.add(test::measured(false));
  matrix.add(test::skipped(false, "no room"));
  Record unmeasured = rate(0, 1, 1);
  unmeasured.busbw_GBps.reset();
  matrix.add(unmeasured);
  EXPECT_EQ(matrix.text(), "");
}

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
// What options and several rows at a time change in the console's table: report/console_table.
#include <gtest/gtest.h>

#include "tests/unit/support/captured_stream.hpp"
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

/// A run of one row under these options: the row's samples are 2, 4, 4, 4, 5, 5, 7 and 9 us.
std::vector<std::string> lines_under(const RunContext& context) {
  const CapturedStream captured;
  ConsoleTable table(captured.stream(), kBoth);
  table.begin(context);
  Record out_of_place = measured(false);
  out_of_place.enqueue_time_us = 12.5;
  const std::vector<double> samples{9, 2, 4, 4, 4, 5, 5, 7};
  table.write(out_of_place, samples);
  table.write(measured(true), {});
  return captured.lines();
}

RunContext per_operation(std::uint64_t skipped) {
  RunContext context = test::context();
  context.skipped = skipped;
  return context;
}

TEST(ConsoleTable, HasTwentyOneWordsInEveryRowWithTimesOfOperations) {
  const auto lines = lines_under(per_operation(0));
  EXPECT_EQ(words_in(lines.back()), 21U);
  EXPECT_EQ(lines.back(),
            "    33554432       8388608     float     sum      -1   276.88  121.19  227.23       0"
            "     2.00     9.00     9.00   40.00"
            "   277.00  121.13  227.13       0"
            "      N/A      N/A      N/A     N/A");
}

TEST(ConsoleTable, LeavesOutTheFirstOperationsWhereAsked) {
  const auto lines = lines_under(per_operation(1));  // the 9: the mean is 31 over 7
  EXPECT_NE(lines.back().find("     2.00     7.00     7.00   31.61"), std::string::npos)
      << lines.back();
  const auto none = lines_under(per_operation(8));
  EXPECT_NE(none.back().find("       0      N/A      N/A      N/A     N/A   277.00"),
            std::string::npos)
      << none.back();
}

TEST(ConsoleTable, NamesTheTimesOfOperationsInItsHead) {
  const auto lines = lines_under(per_operation(0));
  const std::string& names = lines.at(lines.size() - 3);
  EXPECT_EQ(words_in(names), 22U) << names;  // and the '#'
  EXPECT_NE(names.find("#wrong    i_min    i_max    i_p99   i_cv%     time"), std::string::npos)
      << names;
  EXPECT_NE(lines.at(lines.size() - 4).find("out-of-place (+ per-iteration)"), std::string::npos);
  EXPECT_EQ(names.find_last_not_of(' '), lines.back().size() - 1);  // as wide as its rows
}

TEST(ConsoleTable, HasTwentyOneWordsWithAHalfThatIsMissing) {
  const CapturedStream captured;
  ConsoleTable table(captured.stream(), {.in_place = false});
  table.begin(per_operation(0));
  table.write(measured(false), std::vector<double>{1, 2});
  EXPECT_EQ(words_in(rows(captured).at(0)), 21U);
}

TEST(ConsoleTable, ShowsTheHostsTimeOfIssuingWhereAsked) {
  RunContext context = test::context();
  context.enqueue_times = true;
  EXPECT_TRUE(lines_under(context).back().starts_with(
      "    33554432       8388608     float     sum      -1    12.50  121.19  227.23       0"));
}

TEST(ConsoleTable, TellsWhatTheRunWasGivenInItsSecondLine) {
  RunContext context = test::context();
  context.graph = "4";
  context.unalign = "3";
  EXPECT_TRUE(lines_under(context).at(1).ends_with(" validation: 1 graph: 4 unalign: 3"));
}

TEST(ConsoleTable, TellsTheMemoryThatWasTakenWhereAsked) {
  const CapturedStream captured;
  ConsoleTable table(captured.stream(), kBoth);
  table.end({.memory_use = "Initialization 1 MiB | Total 2 MiB", .finished_at = ""});
  EXPECT_EQ(captured.lines().at(0), "# GPU memory usage : Initialization 1 MiB | Total 2 MiB");
  const CapturedStream without;
  ConsoleTable(without.stream(), kBoth).end({});
  EXPECT_EQ(without.text().find("memory"), std::string::npos);
}

Record of_group(int group, bool in_place) {
  Record record = measured(in_place);
  record.group = group;
  record.count = static_cast<std::uint64_t>(group);
  return record;
}

TEST(ConsoleTable, PutsTheHalvesOfGroupsTogetherHoweverTheyArrive) {
  const auto lines = lines_of({of_group(0, false), of_group(1, false), of_group(2, false),
                               of_group(1, true), of_group(0, true), of_group(2, true)});
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_EQ(lines[0], "# group 1");
  EXPECT_TRUE(lines[1].starts_with("    33554432             1     float")) << lines[1];
  EXPECT_EQ(lines[2], "# group 0");
  EXPECT_TRUE(lines[3].starts_with("    33554432             0     float")) << lines[3];
  EXPECT_EQ(lines[4], "# group 2");
  EXPECT_TRUE(lines[5].starts_with("    33554432             2     float")) << lines[5];
  for (const std::size_t row : {1U, 3U, 5U}) {
    EXPECT_EQ(words_in(lines[row]), 13U);
    EXPECT_EQ(lines[row].find("N/A"), std::string::npos) << lines[row];
  }
}

Record of_pair(int sender, int receiver, double rate) {
  Record record = measured(false);
  record.sender = sender;
  record.receiver = receiver;
  record.busbw_GBps = rate;
  return record;
}

TEST(ConsoleTable, HeadsTheRowOfAPairByItsRanks) {
  const auto lines = lines_of({of_pair(3, 0, 1), of_pair(0, 3, 1)}, {.in_place = false});
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0], "# pair 3 -> 0");
  EXPECT_EQ(words_in(lines[1]), 13U);
  EXPECT_EQ(lines[2], "# pair 0 -> 3");
}

TEST(ConsoleTable, EndsPairsWithTheirMatrixAboveTheFooters) {
  const CapturedStream captured;
  ConsoleTable table(captured.stream(), {.in_place = false});
  table.write(of_pair(0, 1, 12.5), {});
  table.write(of_pair(1, 0, 25), {});
  table.end({.mean_busbw_GBps = 18.75, .finished_at = ""});
  const auto lines = captured.lines();
  ASSERT_GE(lines.size(), 11U);
  EXPECT_EQ(lines[5], "# GB/s one way at 32 MiB, from the line's rank to the column's");
  EXPECT_EQ(lines[7], "#    0       -   12.50");
  EXPECT_EQ(lines[8], "#    1   25.00       -");
  EXPECT_EQ(lines[10], "# Out of bounds values : 0 OK");
}

TEST(ConsoleTable, HasNoMatrixWithoutPairs) {
  const CapturedStream captured;
  ConsoleTable table(captured.stream(), {.in_place = false});
  table.write(measured(false), {});
  table.end({});
  EXPECT_EQ(captured.text().find("one way"), std::string::npos);
}

TEST(ConsoleTable, TellsTheReasonOfAllPairsOnce) {
  std::vector<Record> records;
  for (const int receiver : {1, 2, 3}) {
    records.push_back(skipped(false, "no room"));
    records.back().sender = 0;
    records.back().receiver = receiver;
  }
  const auto lines = lines_of(records, {.in_place = false});
  EXPECT_EQ(std::count(lines.begin(), lines.end(),
                       "# size 1024 type half redop sum out of place skipped: no room"),
            1);
}

}  // namespace
}  // namespace busbar

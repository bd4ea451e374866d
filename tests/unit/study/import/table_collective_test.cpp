// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/log_reader.hpp"

namespace busbar::study {
namespace {

/// Rows of 8 GB/s by size and time whose bus bandwidths are these.
std::vector<LogRow> rows_of(const std::vector<double>& busbw) {
  std::vector<LogRow> rows;
  for (const double value : busbw) {
    rows.push_back({.size = 8000,
                    .halves = {{.time_us = Printed{.value = 1, .half_unit = 1e-4},
                                .busbw_GBps = Printed{.value = value, .half_unit = 0.005}}}});
  }
  return rows;
}

TEST(Contradicts, IsTrueForAGoodPartOfTheRowsAndNotForADamagedOne) {
  EXPECT_FALSE(contradicts(rows_of({14, 14, 14, 14}), 1.75));
  EXPECT_FALSE(contradicts(rows_of({14, 14, 14, 140}), 1.75));
  EXPECT_TRUE(contradicts(rows_of({14, 14, 140, 140}), 1.75));
  EXPECT_TRUE(contradicts(rows_of({14}), 1));
  EXPECT_TRUE(contradicts(rows_of({14, 14, 14, 14}), 1));
  EXPECT_FALSE(contradicts(rows_of({}), 1));
  EXPECT_FALSE(contradicts(rows_of({14, 14, 140}), 1.75)) << "one of three is a damaged one";
  EXPECT_TRUE(contradicts(rows_of({14, 14, 14, 14, 14, 140, 140}), 1.75)) << "two of seven";
  EXPECT_FALSE(contradicts(rows_of({14, 14, 14, 14, 14, 14, 14, 140, 140}), 1.75));
  // A byte in a microsecond is 0.001 GB/s: 0.00 as it must be, which shows nothing.
  std::vector<LogRow> rows = rows_of({0, 140});
  rows[0].size = 1;
  EXPECT_TRUE(contradicts(rows, 1.75)) << "the only row that shows it";
}

TEST(RateRange, IsOfAllTimesThatPrintAsTheLogHasIt) {
  const LogHalf timed{.time_us = Printed{.value = 1, .half_unit = 0.25}};
  const auto range = rate_range(8000, timed);
  ASSERT_TRUE(range);
  EXPECT_DOUBLE_EQ(range->low, 6.4);
  EXPECT_DOUBLE_EQ(range->high, 8 / 0.75);
  EXPECT_FALSE(rate_range(0, timed));
  EXPECT_FALSE(rate_range(8000, LogHalf{}));
  EXPECT_FALSE(rate_range(8000, {.time_us = Printed{.value = 0.5, .half_unit = 0.5}}));
  const auto rate = rate_range(8000, {.algbw_GBps = Printed{.value = 2, .half_unit = 0.5}});
  ASSERT_TRUE(rate);
  EXPECT_DOUBLE_EQ(rate->low, 1.5);
  EXPECT_DOUBLE_EQ(rate->high, 2.5);
  EXPECT_FALSE(rate_range(8000, {.algbw_GBps = Printed{.value = 0.5, .half_unit = 0.5}}));
}

TEST(RanksAllowed, AreTheFirstAndTheLastThatFitAllRows) {
  const Collective& allreduce = *find_collective("allreduce");
  EXPECT_EQ(ranks_allowed(rows_of({14}), allreduce).least, 8);
  EXPECT_EQ(ranks_allowed(rows_of({14}), allreduce).most, 8);
  // 8 GB/s times 2 - 2/n, rounded to hundredths, is 15.90 where 16 / n is 0.095 to 0.105: of 152.4
  // to 168.4 ranks; the time's digits, one in 10000, widen that to 150.1 .. 171.3.
  const RanksAllowed many = ranks_allowed(rows_of({15.9}), allreduce);
  EXPECT_EQ(many.least, 151);
  EXPECT_EQ(many.most, 171);
  EXPECT_EQ(ranks_allowed(rows_of({14, 15.9}), allreduce).least, 0);
  EXPECT_EQ(ranks_allowed(rows_of({}), allreduce).least, 0);
}

const std::string kBoth =
    "size count type redop root time algbw busbw #wrong time algbw busbw #wrong";
const std::string kOpOnly = "size count type redop time algbw busbw error time algbw busbw error";
const std::string kRootOnly = "size count type root time algbw busbw error time algbw busbw error";
const std::string kNeither = "size count type time algbw busbw error time algbw busbw error";
// 8000 bytes in 1 us are 8 GB/s.
const std::string kReduced = "8000 2000 float sum -1 1.00 8.00 14.00 0 1.00 8.00 14.00 0";
const std::string kGathered = "8000 250 float none -1 1.00 8.00 7.00 0 1.00 8.00 7.00 0";
const std::string kUnchecked = "8000 250 float none -1 1.00 8.00 7.00 N/A 1.00 8.00 7.00 N/A";
const std::string kAllToAll = "8000 250 float none -1 1.00 8.00 7.00 0 1.00 8.00 7.00 N/A";
const std::string kBroadcast = "8000 2000 float none 0 1.00 8.00 8.00 0 1.00 8.00 8.00 0";
const std::string kRootedReduce = "8000 2000 float sum 0 1.00 8.00 8.00 0 1.00 8.00 8.00 0";

LogTable table_of(const std::string& row, int ranks = 8, const std::string& columns = kBoth) {
  LogTable table{.columns = split_words(columns), .ranks = ranks};
  table.rows.push_back(read_row(table.columns, split_words(row)));
  return table;
}

const std::string kNone = "none that busbar knows";

/// A log's line, its columns, the ranks where they are known, and the collectives that remain.
struct Case {
  std::string columns;
  std::string row;
  int ranks = 0;
  std::string fitting;
};

TableCollective found(const LogTable& table, const std::string& given = {},
                      std::optional<int> ranks = {}) {
  return collective_of(table, "x.log:1", given, ranks);
}
std::string refusal(const LogTable& table, const std::string& given = {},
                    std::optional<int> ranks = {}) {
  return test::refusal_of([&] { (void)found(table, given, ranks); });
}

class Candidates : public testing::TestWithParam<Case> {};

TEST_P(Candidates, AreThoseThatCanHavePrintedTheRow) {
  const Case& one = GetParam();
  const LogTable table = table_of(one.row, 0, one.columns);
  const auto ranks = one.ranks > 0 ? std::optional(one.ranks) : std::nullopt;
  if (find_collective(one.fitting) != nullptr) {
    EXPECT_EQ(found(table, {}, ranks).collective->name, one.fitting);
  } else {
    EXPECT_THAT(refusal(table, {}, ranks), HasSubstr("fit " + one.fitting + "; give"));
  }
}

INSTANTIATE_TEST_SUITE_P(
    OfToday, Candidates,
    testing::Values(
        Case{kBoth, kReduced, 8, "allreduce"}, Case{kBoth, kReduced, 0, "allreduce"},
        Case{kBoth, "8000 2000 float sum -1 1.00 8.00 14.00 N/A 1.00 8.00 14.00 N/A", 8,
             "allreduce"},
        Case{kBoth, "8000 2000 float sum -1 1.00 8.00 8.00 0 1.00 8.00 8.00 0", 2, "allreduce"},
        Case{kBoth, "8000 2000 float sum -1 1.00 8.00 8.00 N/A 1.00 8.00 8.00 N/A", 2,
             "allreduce or sendrecv"},
        Case{kBoth, "8000 2000 float sum -1 1.00 8.00 8.00 0 1.00 8.00 8.00 N/A", 8, "sendrecv"},
        Case{kBoth, "8000 2000 float none -1 1.00 8.00 8.00 0 1.00 8.00 8.00 N/A", 8, "sendrecv"},
        Case{kBoth, "8000 250 float sum -1 1.00 8.00 7.00 0 1.00 8.00 7.00 0", 8, "reducescatter"},
        Case{kBoth, kRootedReduce, 8, "reduce"}, Case{kBoth, kBroadcast, 8, "broadcast"},
        Case{kBoth, "8000 250 float none 0 1.00 8.00 7.00 0 1.00 8.00 7.00 0", 8,
             "gather or scatter"},
        Case{kBoth, kGathered, 8, "allgather"}, Case{kBoth, kAllToAll, 8, "alltoall"},
        Case{kBoth, kUnchecked, 8, "allgather or alltoall"},
        Case{kBoth, kUnchecked, 0, "allgather or alltoall"},
        // Without ranks a bandwidth of 0 excludes none.
        Case{kBoth, "8000 2000 float sum -1 1.00 8.00 0.00 0 1.00 8.00 0.00 0", 0, "allreduce"},
        // Without bytes there are no parts.
        Case{kBoth, "0 0 float none -1 1.00 0.00 0.00 0 1.00 0.00 0.00 0", 8, "allgather"},
        // One rank: the whole is its part, so that the count shows nothing.
        Case{kBoth, "8000 2000 float none -1 1.00 8.00 0.00 0 1.00 8.00 0.00 0", 1, "allgather"}));

// Until August 2022 each test had its own columns, and in-place results were always verified.
INSTANTIATE_TEST_SUITE_P(
    OfOldVersions, Candidates,
    testing::Values(
        Case{kOpOnly, "8000 2000 float sum 1.00 8.00 14.00 1e-7 1.00 8.00 14.00 1e-7", 8,
             "allreduce"},
        Case{kOpOnly, "8000 2000 float sum 1.00 8.00 8.00 1e-7 1.00 8.00 8.00 1e-7", 2,
             "allreduce"},
        Case{kOpOnly, "8000 250 float 1.00 8.00 7.00 0e+00 1.00 8.00 7.00 0e+00", 8, "alltoall"},
        Case{kNeither, "8000 250 float 1.00 8.00 7.00 0e+00 1.00 8.00 7.00 0e+00", 8, "allgather"},
        // Before June 2020 both bandwidths had the bus factor.
        Case{kNeither, "8000 250 float 1.00 7.00 7.00 0e+00 1.00 7.00 7.00 0e+00", 8, "allgather"},
        Case{kNeither, "8000 2000 float 1.00 8.00 8.00 0e+00 1.00 8.00 8.00 0e+00", 8, "sendrecv"},
        Case{kRootOnly, "8000 2000 float 0 1.00 8.00 8.00 0e+00 1.00 8.00 8.00 0e+00", 8,
             "broadcast"},
        Case{kRootOnly, "8000 250 float 0 1.00 8.00 7.00 0e+00 1.00 8.00 7.00 0e+00", 8,
             "gather or scatter"}));

INSTANTIATE_TEST_SUITE_P(
    OfNone, Candidates,
    testing::Values(
        Case{kBoth, "8000 2000 float sum -1 1.00 8.00 3.00 0 1.00 8.00 3.00 0", 8, kNone},
        Case{kBoth, kReduced, 16, kNone},
        Case{kBoth, "8000 2000 float none -1 1.00 8.00 14.00 0 1.00 8.00 14.00 0", 8, kNone},
        // A count that is neither the size nor a part of it: NCCL's alltoallv.
        Case{kBoth, "8000 300 float none -1 1.00 8.00 7.00 N/A 1.00 8.00 7.00 N/A", 8,
             "allgather, alltoall or alltoallv"}));

TEST(TableCollective, IsByTheReductionOfARowWithoutColumnsToo) {
  LogTable table = table_of("8000 250 float sum -1 1.00 8.00 7.00 0 1.00 8.00 7.00 0");
  table.columns.clear();
  EXPECT_EQ(found(table).collective->name, "reducescatter");
}

TEST(TableCollective, NamesWhatTheRowsShow) {
  const auto text = [](const std::string& row) { return found(table_of(row)).source; };
  EXPECT_EQ(text(kAllToAll),
            "redop none, no root, a count of 1/8 of the size, not verified in place, bus bandwidth "
            "0.875 times size over time, 8 ranks");
  EXPECT_EQ(text(kBroadcast),
            "redop none, a root, verified in place, bus bandwidth 1 times size over time, 8 ranks");
  EXPECT_EQ(text(kRootedReduce),
            "redop sum, a root, bus bandwidth 1 times size over time, 8 ranks");
  LogTable mixed = table_of("8000 300 float none -1 1.00 8.00 7.00 0 1.00 8.00 7.00 0");
  mixed.rows.push_back(table_of(kGathered).rows[0]);
  EXPECT_THAT(found(mixed).source, Not(HasSubstr("a count of")));
  mixed.rows.push_back(table_of(kBroadcast).rows[0]);
  EXPECT_THAT(refusal(mixed), HasSubstr("a root")) << "of one row";
}

TEST(TableCollective, IsTheLogsOwn) {
  LogTable table = table_of(kGathered);
  table.collective = "all_reduce_perf";  // whatever its rows are
  EXPECT_EQ(found(table).collective->name, "allreduce");
  EXPECT_TRUE(found(table).source.empty());
  EXPECT_THAT(refusal(table, "broadcast"), HasSubstr("allreduce"));
}

TEST(TableCollective, OfTheUserIsRefusedWhereTheRowsAreOfAnotherOrOfNone) {
  EXPECT_THAT(refusal(table_of(kGathered), "all_reduce"),
              AllOf(HasSubstr("--collective allreduce"), HasSubstr("that is allgather")));
  EXPECT_THAT(refusal(table_of(kReduced), "reduce"), HasSubstr("that is allreduce"));
  EXPECT_THAT(refusal(table_of(kReduced), "reduce", 8), HasSubstr("that is allreduce"));
  EXPECT_THAT(
      refusal(table_of("8000 2000 float sum -1 1.00 8.00 3.00 0 1.00 8.00 3.00 0"), "all_reduce"),
      HasSubstr("0.375 times size over time"));
  // An all-reduce of two ranks has no factor, and a count of neither kind leaves the rest open.
  EXPECT_THAT(refusal(table_of("8000 999 float none -1 1.00 8.00 8.00 0 1.00 8.00 8.00 0", 2),
                      "all_reduce"),
              HasSubstr("redop none"));
}

TEST(TableCollective, WithoutAReductionIsTakenForRowsThatFitNone) {
  const std::string row = "8000 999 float none 0 1.00 8.00 8.00 0 1.00 8.00 8.00 N/A";
  EXPECT_EQ(found(table_of(row, 2), "sendrecv").collective->name, "sendrecv");
}

}  // namespace
}  // namespace busbar::study

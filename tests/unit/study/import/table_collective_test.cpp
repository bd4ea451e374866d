// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/table_collective.hpp"

#include <gtest/gtest.h>

#include "study/import/log_lines.hpp"
#include "study/import/nccl_row.hpp"
#include "tests/unit/support/failure.hpp"

namespace busbar::study {
namespace {

using test::Failure;

const std::string kReduced = "8000 2000 float sum -1 1.00 8.00 14.00 0 1.00 8.00 14.00 0";
const std::string kGathered = "8000 250 float none -1 1.00 8.00 7.00 0 1.00 8.00 7.00 0";
const std::string kUnchecked = "8000 250 float none -1 1.00 8.00 7.00 N/A 1.00 8.00 7.00 N/A";

LogTable table_of(const std::string& row, int ranks = 8) {
  LogTable table{.columns = words_of(
                     "size count type redop root time algbw busbw #wrong time algbw busbw #wrong"),
                 .ranks = ranks};
  table.rows.push_back(read_row(table.columns, words_of(row)));
  return table;
}
TableCollective found(const LogTable& table, const std::string& given = {},
                      std::optional<int> ranks = {}) {
  return collective_of(table, "x.log:1", given, ranks);
}
Failure refusal(const LogTable& table, const std::string& given = {},
                std::optional<int> ranks = {}) {
  return test::failure_of([&] { (void)found(table, given, ranks); });
}

TEST(TableCollective, IsTheLogsOwn) {
  LogTable table = table_of(kGathered);
  table.collective = "all_reduce_perf";  // whatever its rows are
  EXPECT_EQ(found(table).collective->name, "allreduce");
  EXPECT_TRUE(found(table).source.empty());
  EXPECT_TRUE(refusal(table, "broadcast").says("allreduce"));
}

TEST(TableCollective, IsInferredWhereOneIsLeft) {
  const TableCollective one = found(table_of(kReduced));
  EXPECT_EQ(one.collective->name, "allreduce");
  EXPECT_TRUE(one.inferred);
  EXPECT_NE(one.source.find("redop sum"), std::string::npos) << one.source;
}

TEST(TableCollective, IsAskedForWhereTwoAreLeftAndThoseAreNamed) {
  const Failure failure = refusal(table_of(kUnchecked));
  EXPECT_EQ(failure.status, Status::Usage);
  EXPECT_TRUE(failure.says("allgather or alltoall; give --collective")) << failure.message;
}

TEST(TableCollective, OfTheUserIsRefusedWhereTheRowsAreOfAnother) {
  const Failure failure = refusal(table_of(kGathered), "all_reduce");
  EXPECT_EQ(failure.status, Status::Usage);
  EXPECT_TRUE(failure.says("--collective allreduce")) << failure.message;
  EXPECT_TRUE(failure.says("that is allgather")) << failure.message;
  EXPECT_TRUE(refusal(table_of(kReduced), "reduce").says("that is allreduce"));
  EXPECT_TRUE(refusal(table_of(kReduced), "reduce", 8).says("that is allreduce"));
}

TEST(TableCollective, OfTheUserDecidesBetweenTwo) {
  EXPECT_EQ(found(table_of(kUnchecked), "alltoall").collective->name, "alltoall");
  EXPECT_EQ(found(table_of(kUnchecked), "all_gather").source, "--collective");
}

TEST(TableCollective, ThatReducesIsRefusedForRowsWithoutAReduction) {
  // An all-reduce of two ranks has no factor, and a count of neither kind leaves the rest open.
  const std::string row = "8000 999 float none -1 1.00 8.00 8.00 0 1.00 8.00 8.00 0";
  EXPECT_TRUE(refusal(table_of(row, 2), "all_reduce").says("redop none"));
}

TEST(TableCollective, WithoutAReductionIsTakenForRowsThatFitNone) {
  const std::string row = "8000 999 float none 0 1.00 8.00 8.00 0 1.00 8.00 8.00 N/A";
  EXPECT_EQ(found(table_of(row, 2), "sendrecv").collective->name, "sendrecv");
}

TEST(TableCollective, OfTheUserIsRefusedWhereNoneFits) {
  const std::string row = "8000 2000 float sum -1 1.00 8.00 3.00 0 1.00 8.00 3.00 0";
  const Failure failure = refusal(table_of(row), "all_reduce");
  EXPECT_TRUE(failure.says("0.375 times size over time")) << failure.message;
}

}  // namespace
}  // namespace busbar::study

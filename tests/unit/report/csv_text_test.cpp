// SPDX-License-Identifier: BSD-3-Clause
#include "report/csv_text.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "model/record.hpp"
#include "tests/unit/support/sample_records.hpp"

namespace busbar {
namespace {

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

}  // namespace
}  // namespace busbar

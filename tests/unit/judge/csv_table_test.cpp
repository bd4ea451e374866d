// SPDX-License-Identifier: BSD-3-Clause
#include "judge/csv_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"
#include "tests/unit/support/temporary_folder.hpp"

namespace busbar::judge {
namespace {

using ::testing::ElementsAre;

TEST(CsvTable, HasFactsColumnsAndCells) {
  const test::TemporaryFolder folder;
  folder.write("a.csv", "# made on: monday: noon\na,b\n" + csv_line({"x, \"y\"", "1\n2"}) + "c,d");
  const CsvTable table = read_csv_table(folder.path("a.csv"));
  EXPECT_EQ(table.facts.at("made on"), "monday: noon");
  EXPECT_EQ(table.columns, "a,b");
  ASSERT_EQ(table.rows.size(), 1U) << "the last line has no end";
  EXPECT_THAT(table.rows[0].cells, ElementsAre("x, \"y\"", "1 2"));
  EXPECT_EQ(table.rows[0].place, folder.path("a.csv") + ":3");
  EXPECT_EQ(table.cut, folder.path("a.csv") + ":4");
}

TEST(CsvTable, RefusesAnOpenQuoteWithItsLine) {
  const test::TemporaryFolder folder;
  folder.write("a.csv", "a\n\"b\n");
  const auto failure = test::failure_of([&] { (void)read_csv_table(folder.path("a.csv")); });
  EXPECT_TRUE(failure.says("a.csv:2: a quote is not closed")) << failure.message;
  EXPECT_EQ(test::failure_of([&] { (void)read_csv_table(folder.path("b.csv")); }).status,
            Status::Usage);
}

}  // namespace
}  // namespace busbar::judge

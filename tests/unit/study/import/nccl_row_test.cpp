// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/nccl_row.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"

namespace busbar::study {
namespace {

TEST(NcclRow, LeavesAnOpOutWhereTheLogDoes) {
  const std::vector<std::string> words{"1024", "256", "float", "35.0", "0.03", "0.03", "N/A"};
  const LogRow middle =
      read_row({"size", "count", "type", "redop", "time", "algbw", "busbw", "error"}, words);
  EXPECT_EQ(middle.op, "");
  ASSERT_EQ(middle.halves.size(), 1U);
  EXPECT_EQ(middle.halves.front().time_us->value, 35.0);
  // Found by make fuzz: the column that is left out is the last.
  const LogRow last =
      read_row({"size", "count", "type", "time", "algbw", "busbw", "error", "redop"}, words);
  EXPECT_EQ(last.op, "");
  EXPECT_EQ(last.halves.size(), 1U);
}

TEST(NcclRow, RefusesAnotherNumberOfWords) {
  const auto failure = test::failure_of([] {
    static_cast<void>(read_row({"size", "count", "type", "time"}, std::vector<std::string>{"8"}));
  });
  EXPECT_EQ(failure.message, "1 word where the columns' names want 4");
}

}  // namespace
}  // namespace busbar::study

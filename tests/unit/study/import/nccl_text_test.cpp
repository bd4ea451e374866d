// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/nccl_text.hpp"

#include <map>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "study/import/log.hpp"
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

/// A row without names of columns above: size, count, type, then redop and root where it has them.
TEST(NcclRow, HasColumnsByItsShapeWhereNoneAreNamed) {
  const auto columns = [](const std::string& middle) {
    const auto named =
        columns_by_shape(split_words("8 2 float " + middle + "1.0 2.0 3.0 0 4.0 5.0 6.0 0"));
    return named ? join({named->begin() + 3, named->end() - 8}, " ") : "none";
  };
  EXPECT_EQ(columns(""), "");
  EXPECT_EQ(columns("sum "), "redop");
  EXPECT_EQ(columns("0 "), "root");
  EXPECT_EQ(columns("sum -1 "), "redop root");
  EXPECT_EQ(columns("0 sum "), "none");
  EXPECT_EQ(columns("sum -1 9 "), "none");
  EXPECT_EQ(columns_by_shape(std::vector<std::string>(10, "8")), std::nullopt);
}

TEST(NcclRow, KnowsTheSizesOfTypesByOlderNamesToo) {
  for (const auto& [name, size] : std::map<std::string, Bytes>{{"int8", 1},
                                                               {"char", 1},
                                                               {"int", 4},
                                                               {"float", 4},
                                                               {"double", 8},
                                                               {"half", 2},
                                                               {"float16", 2},
                                                               {"bf16", 2},
                                                               {"bfloat16", 2},
                                                               {"fp8_e4m3", 1},
                                                               {"fp8_e5m2", 1},
                                                               {"size", 0}}) {
    EXPECT_EQ(size_of_type(name), size) << name;
  }
}

TEST(NcclRow, RefusesAnotherNumberOfWords) {
  const auto failure = test::failure_of([] {
    static_cast<void>(read_row({"size", "count", "type", "time"}, std::vector<std::string>{"8"}));
  });
  EXPECT_EQ(failure.message, "1 word where the columns' names want 4");
}

}  // namespace
}  // namespace busbar::study

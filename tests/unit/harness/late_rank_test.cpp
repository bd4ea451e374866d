// SPDX-License-Identifier: BSD-3-Clause
#include "harness/late_rank.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/support/sample_records.hpp"

namespace busbar {
namespace {

constexpr const char* kColumns = "last_rank last_host last_share late_by_us";

/// A row of 100 us per operation whose last ranks are these, in turn, in 60 samples.
Row row_of(const std::vector<int>& last, double late_us) {
  Row row{.record = {.time_median_us = 100}};
  for (std::size_t i = 0; i < 60; ++i) {
    row.arrivals.push_back({.last = last[i % last.size()], .late_us = late_us});
  }
  return row;
}

/// Of four ranks.
std::string named(Row row, const std::vector<std::string>& hosts = {"h1", "h1", "h2", "h2"}) {
  RunContext context = test::context();
  context.hosts = hosts;
  context.groups = {{{0, 0}, {0, 2}}, {{0, 1}, {1, 3}}};
  name_last(row, context);
  return test::cells(row.record, kColumns);
}

TEST(NameLast, NamesARankWithItsHostShareAndTime) {
  EXPECT_EQ(named(row_of({2}, 30)), "2|h2|1|30");
  EXPECT_EQ(named(row_of({3, 3, 3, 3, 0, 3, 3, 1, 3, 2}, 30)), "3|h2|0.7|30");
}

TEST(NameLast, NamesAHostOfWhichSeveralRanksAreLast) {
  EXPECT_EQ(named(row_of({2, 3, 3, 2, 2, 3}, 30)), "|h2|1|30");
}

TEST(NameLast, NamesNobodyWhoIsLastByChanceOrByLessThanAHundredth) {
  EXPECT_EQ(named(row_of({0, 1, 2, 3}, 30)), "|||");
  EXPECT_EQ(named(row_of({2}, 0.99)), "|||");
  EXPECT_EQ(named(row_of({2}, 1)), "2|h2|1|1");
  Row loaded = row_of({2}, 1);
  loaded.record.load_us = 10;  // the rank is late at its work, too
  EXPECT_EQ(named(loaded), "|||");
}

TEST(NameLast, NamesNobodyWhereOperationsHaveNoCommonEnd) {
  EXPECT_EQ(named({.record = {.time_median_us = 100}}), "|||");
}

TEST(NameLast, NamesTheRankOfTheJobWhereRanksAreSplit) {
  Row row = row_of({1}, 30);
  row.record.group = 0;  // of ranks 0 and 2
  EXPECT_EQ(named(row), "2|h2|1|30");
  EXPECT_EQ(named(row, std::vector<std::string>(4, "h1")), "2|h1|1|30");
}

}  // namespace
}  // namespace busbar

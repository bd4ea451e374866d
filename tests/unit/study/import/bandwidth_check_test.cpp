// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/bandwidth_check.hpp"

#include <gtest/gtest.h>

#include "model/collective.hpp"

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

TEST(MeasuredFactor, IsOfTheRowWhoseDigitsTellMost) {
  EXPECT_NEAR(measured_factor(rows_of({14.01, 14})).value_or(0), 1.75, 0.002);
  EXPECT_FALSE(measured_factor(rows_of({0})).has_value());
  // 0.02 / 8 is 0.0025, by one digit alone
  EXPECT_NEAR(measured_factor(rows_of({0.02, 14})).value_or(0), 1.75, 0.002);
  EXPECT_NEAR(measured_factor(rows_of({14, 0.02})).value_or(0), 1.75, 0.002);
  // between 0.75 and 1.25 us 8000 bytes have 6.4 to 10.667 GB/s, in the middle 8.5333
  std::vector<LogRow> rows = rows_of({14});
  rows[0].halves[0].time_us->half_unit = 0.25;
  EXPECT_NEAR(measured_factor(rows).value_or(0), 14 / 8.53333333, 1e-6);
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

TEST(CanBe, IsTrueWhereTheRangesOfBothMeet) {
  const Range rate{.low = 8, .high = 8.02};  // times 1.75: 14 to 14.035
  EXPECT_FALSE(can_be({.value = 13.99, .half_unit = 0.005}, rate, 1.75));
  EXPECT_TRUE(can_be({.value = 14, .half_unit = 0.005}, rate, 1.75));
  EXPECT_TRUE(can_be({.value = 14.03, .half_unit = 0.005}, rate, 1.75));
  EXPECT_TRUE(can_be({.value = 14.038, .half_unit = 0.005}, rate, 1.75));
  EXPECT_FALSE(can_be({.value = 14.05, .half_unit = 0.005}, rate, 1.75));
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

/// Rows of 8 GB/s of an all-gather on 8 ranks, whose bus bandwidth is 7.
std::vector<LogRow> gathered(const std::vector<double>& algbw) {
  std::vector<LogRow> rows = rows_of(std::vector<double>(algbw.size(), 7));
  for (std::size_t i = 0; i < algbw.size(); ++i) {
    rows[i].halves[0].algbw_GBps = Printed{.value = algbw[i], .half_unit = 0.005};
  }
  return rows;
}

TEST(HasOldAlgbw, WhereSomeAreTimesTheFactorAndNoneIsAnything) {
  const Collective& allgather = *find_collective("allgather");
  EXPECT_TRUE(has_old_algbw(gathered({7}), allgather, 8));
  EXPECT_FALSE(has_old_algbw(gathered({8}), allgather, 8));
  EXPECT_TRUE(has_old_algbw(gathered({7, 8}), allgather, 8));
  EXPECT_FALSE(has_old_algbw(gathered({7, 6}), allgather, 8));
}

}  // namespace
}  // namespace busbar::study

// SPDX-License-Identifier: BSD-3-Clause
#include "judge/row_value.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace busbar::judge {
namespace {

using ::testing::HasSubstr;

/// Every time another one; 7 GB/s of bus bandwidth and 4 of algorithm bandwidth are by the median.
Record row() {
  return {.time_median_us = 100,
          .time_mean_us = 160,
          .time_min_us = 50,
          .time_p90_us = 200,
          .time_p99_us = 400,
          .time_max_us = 1000,
          .algbw_GBps = 4,
          .busbw_GBps = 7};
}

struct ValueCase {
  Statistic statistic = Statistic::Median;
  double time = 0;
  double bus = 0;  ///< 7 * 100 / time
  double algorithm = 0;
};
class RowValueOf : public testing::TestWithParam<ValueCase> {};

TEST_P(RowValueOf, AMetricIsByTheTimeOfItsStatistic) {
  const ValueCase& one = GetParam();
  EXPECT_EQ(value_of(row(), Metric::Time, one.statistic).value, one.time);
  EXPECT_DOUBLE_EQ(*value_of(row(), Metric::BusBandwidth, one.statistic).value, one.bus);
  EXPECT_DOUBLE_EQ(*value_of(row(), Metric::AlgorithmBandwidth, one.statistic).value,
                   one.algorithm);
}
INSTANTIATE_TEST_SUITE_P(Statistics, RowValueOf,
                         testing::Values(ValueCase{Statistic::Median, 100, 7, 4},
                                         ValueCase{Statistic::Mean, 160, 4.375, 2.5},
                                         ValueCase{Statistic::Min, 50, 14, 8},
                                         ValueCase{Statistic::P90, 200, 3.5, 2},
                                         ValueCase{Statistic::P99, 400, 1.75, 1},
                                         ValueCase{Statistic::Max, 1000, 0.7, 0.4}));

TEST(RowValue, NamesTheColumnThatItLacks) {
  Record none = row();
  none.time_p99_us.reset();
  EXPECT_THAT(value_of(none, Metric::BusBandwidth, Statistic::P99).error, HasSubstr("time_p99_us"));
  EXPECT_EQ(value_of(none, Metric::BusBandwidth, Statistic::Median).value, 7);
  none.time_median_us.reset();
  EXPECT_THAT(value_of(none, Metric::BusBandwidth, Statistic::P90).error,
              HasSubstr("time_median_us"));
  none.algbw_GBps.reset();
  EXPECT_THAT(value_of(none, Metric::AlgorithmBandwidth, Statistic::Median).error,
              HasSubstr("algbw_GBps"));
}

TEST(RowValue, IsNoneOfWhatCannotBeJudged) {
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::infinity()}) {
    Record record = row();
    record.time_p90_us = bad;
    EXPECT_FALSE(value_of(record, Metric::Time, Statistic::P90).value) << bad;
    EXPECT_FALSE(value_of(record, Metric::BusBandwidth, Statistic::P90).value) << bad;
  }
}

TEST(RowFlag, IsAWholeWord) {
  Record record = row();
  record.flags = "few-samples fake-not";
  EXPECT_TRUE(has_row_flag(record, "few-samples"));
  EXPECT_FALSE(has_row_flag(record, "fake"));
  EXPECT_FALSE(has_row_flag(record, "samples"));
}

}  // namespace
}  // namespace busbar::judge

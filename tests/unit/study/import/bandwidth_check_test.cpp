// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/bandwidth_check.hpp"

#include <gtest/gtest.h>

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
}

TEST(MeasuredFactor, IsOfTheRowWhoseDigitsTellMost) {
  EXPECT_NEAR(measured_factor(rows_of({14.01, 14})).value_or(0), 1.75, 0.002);
  EXPECT_FALSE(measured_factor(rows_of({0})).has_value());
}

}  // namespace
}  // namespace busbar::study

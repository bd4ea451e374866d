// SPDX-License-Identifier: BSD-3-Clause
#include "format/row_notes.hpp"

#include <gtest/gtest.h>

namespace busbar {
namespace {

TEST(RowNotes, HasTheTailThePeriodAndThePredictionOfARow) {
  RowNotes notes;
  notes.add({.size = 1024, .time_median_us = 10});
  EXPECT_EQ(notes.text(), "");
  notes.add({.size = 2048,
             .time_median_us = 10,
             .time_p99_us = 12.5,
             .time_p999_us = 20.25,
             .period_us = 8,
             .predicted_us = 9});
  notes.add({.in_place = true, .size = 4096, .time_median_us = 11, .period_us = 8});
  const std::string text = notes.text();
  EXPECT_NE(text.find("  2048    out      10.00      12.50      20.25       8.00       9.00\n"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("  4096     in      11.00          -          -       8.00          -\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("bandwidth"), std::string::npos);
}

TEST(RowNotes, HasWhatALoadAndARowDoToEachOther) {
  RowNotes notes;
  notes.add({.size = 2048, .loaded_time_us = 15, .operation_slowdown = 1.5, .load_slowdown = 1.25});
  EXPECT_NE(notes.text().find("  2048    out      15.00       1.50       1.25\n"),
            std::string::npos)
      << notes.text();
}

}  // namespace
}  // namespace busbar

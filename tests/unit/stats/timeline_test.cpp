// SPDX-License-Identifier: BSD-3-Clause
#include "stats/timeline.hpp"

#include <array>

#include <gtest/gtest.h>

namespace busbar::stats {
namespace {

TEST(Timeline, MergesNeighboursWhereARunIsLong) {
  Timeline timeline;
  for (int i = 1; i <= 4096; ++i) {
    const std::array rates{1.0 * i, 3.0 * i};
    timeline.add({.at_s = 1.0 * i, .median_us = 10.0 * i, .p99_us = 20.0 * i}, rates);
  }
  EXPECT_EQ(timeline.points().size(), 2048U);
  EXPECT_EQ(timeline.points()[0].at_s, 2);
  EXPECT_EQ(timeline.points()[0].median_us, 15);
  EXPECT_EQ(timeline.points()[0].p99_us, 40);
  timeline.add({.at_s = 4097, .median_us = 1, .p99_us = 1}, {});
  EXPECT_EQ(timeline.points().size(), 2048U);
  timeline.add({.at_s = 4098, .median_us = 3, .p99_us = 1}, {});
  EXPECT_EQ(timeline.points().back().median_us, 2);
  EXPECT_EQ(timeline.rates().size(), 8192U);
  EXPECT_EQ(timeline.part_s(), 0.1);
}

TEST(Timeline, HasABoundedNumberOfRates) {
  Timeline timeline;
  const std::vector<double> rates(Timeline::kMostRates, 5);
  timeline.add({}, rates);
  EXPECT_EQ(timeline.rates().size(), Timeline::kMostRates / 2);
  EXPECT_EQ(timeline.part_s(), 0.2);
}

TEST(TimelineEvents, AreOfEachKindByItsOwnMethod) {
  Timeline timeline;
  for (int i = 0; i < 200; ++i) {
    std::vector<double> rates(10, i < 100 ? 100.0 : 90.0);
    if (i % 30 == 10) rates[3] = 40;
    const double median_us = i < 100 ? 10 : 11.1;
    timeline.add({.at_s = i + 1.0, .median_us = median_us, .p99_us = 20}, rates);
  }
  const TimelineEvents events = find_events(timeline);
  ASSERT_EQ(events.level.changes.size(), 1U);
  EXPECT_EQ(events.level.changes[0].at, 100U);
  EXPECT_FALSE(events.drift.found);
  EXPECT_EQ(events.slowdowns.slowdowns.size(), 7U);
  ASSERT_TRUE(events.period);
  EXPECT_EQ(events.period->length, 300);
}

TEST(ErrorRates, AreBelowThreeByTheNumberThatWasChecked) {
  EXPECT_DOUBLE_EQ(highest_error_rate(1), 0.95);
  EXPECT_NEAR(highest_error_rate(2), 0.7763932, 1e-7);
  EXPECT_NEAR(highest_error_rate(2.1e12), 1.426539e-12, 1e-18);
  EXPECT_EQ(highest_error_rate(0), 1);
}

}  // namespace
}  // namespace busbar::stats

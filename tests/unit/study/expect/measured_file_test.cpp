// SPDX-License-Identifier: BSD-3-Clause
#include "study/expect/measured_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace busbar::study {
namespace {

TEST(ErrorRow, HasTheMedianTheWorstAndThoseAboveTwoFifths) {
  topo::MeasuredCurve curve = curve_of("ours", "allreduce", 8, topo::load_machine("dgx-h100"), 1);
  double bytes = 16e6;
  for (const double error : {0.5, 0.1, 0.39, 0.21}) {
    const auto predicted = curve.predictor.predict(*curve.collective, bytes);
    curve.times.push_back({.bytes = bytes, .time_us = predicted->time_us * (1 + error)});
    bytes *= 2;
  }
  EXPECT_THAT(error_row("all", {&curve, 1}),
              testing::ElementsAre("all", "4", "30 %", "50 %", "1", "", "", "", ""));
  EXPECT_EQ(error_columns("log").size(), 9U);
}

}  // namespace
}  // namespace busbar::study

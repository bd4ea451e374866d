// SPDX-License-Identifier: BSD-3-Clause
#include "stats/autocorrelation.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/stats/series.hpp"

namespace busbar::stats {
namespace {

using Samples = std::vector<double>;

double mean_estimate(std::size_t count, double iact, int repetitions) {
  std::mt19937_64 random = test::fixed_random(1);
  double sum = 0;
  for (int i = 0; i < repetitions; ++i) {
    sum += integrated_autocorrelation_time(test::series(random, count, iact, 0.05));
  }
  return sum / repetitions;
}

TEST(AutocorrelationTime, SeesCorrelationThatSkipsANeighbour) {
  std::mt19937_64 random = test::fixed_random(5);
  const Samples odd = test::series(random, 10000, 19, 0.05);
  const Samples even = test::series(random, 10000, 19, 0.05);
  Samples interleaved;
  for (std::size_t i = 0; i < odd.size(); ++i) {
    interleaved.push_back(odd[i]);
    interleaved.push_back(even[i]);
  }
  EXPECT_NEAR(integrated_autocorrelation_time(interleaved), 19, 4);
}

TEST(AutocorrelationTime, IsTheTrueTimeOfALongSeriesAndNotUnderestimatedByAShortOne) {
  EXPECT_NEAR(mean_estimate(20000, 1, 20), 1.0, 0.1);
  EXPECT_NEAR(mean_estimate(20000, 3, 20), 3.0, 0.3);
  EXPECT_NEAR(mean_estimate(20000, 19, 20), 19.0, 2.0);
  EXPECT_NEAR(mean_estimate(20000, 66, 20), 66.0, 7.0);
  EXPECT_GE(mean_estimate(500, 19, 400), 19);
  EXPECT_GE(mean_estimate(500, 66, 400), 66);
  EXPECT_LE(mean_estimate(50, 1, 2000), 1.3);
  EXPECT_LE(mean_estimate(500, 1, 400), 1.15);
}

}  // namespace
}  // namespace busbar::stats

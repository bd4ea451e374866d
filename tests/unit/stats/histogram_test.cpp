// SPDX-License-Identifier: BSD-3-Clause
#include "stats/histogram.hpp"

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace busbar {
namespace {

/// n values about a centre, as evenly as quantiles of a triangle of this half width.
void add_mode(std::vector<double>& values, int n, double centre, double half_width) {
  for (int i = 0; i < n; ++i) {
    const double u = (i + 0.5) / n;
    const double x = u < 0.5 ? std::sqrt(2 * u) - 1 : 1 - std::sqrt(2 - 2 * u);
    values.push_back(centre + half_width * x);
  }
}

double total(const Histogram& histogram) {
  return std::accumulate(histogram.share.begin(), histogram.share.end(), 0.0);
}

TEST(Histogram, CountsTheSlowestHundredthWhereItWouldTakeHalfOfTheAxis) {
  std::vector<double> values;
  add_mode(values, 198, 100, 2);
  values.push_back(400);
  values.push_back(500);
  const Histogram histogram = log_histogram(values);
  EXPECT_EQ(histogram.beyond, 2U);
  EXPECT_LT(histogram.edges.back(), 103);
  EXPECT_NEAR(total(histogram), 0.99, 1e-12);
  values.back() = 102.5;
  values[values.size() - 2] = 103;
  EXPECT_EQ(log_histogram(values).beyond, 0U);
}

// log 4 is exactly twice log 2: the slowest of 101 values takes half of the axis, and no more. At
// 3.9 it takes less than half, though more than half of what is above 1.1.
TEST(Histogram, ShowsTheSlowestHundredthThatTakesJustHalfOfTheAxis) {
  std::vector<double> values(50, 1.0);
  values.insert(values.end(), 49, 1.1);
  values.insert(values.end(), {2, 4});
  EXPECT_EQ(log_histogram(values).beyond, 0U);
  values.back() = 3.9;
  EXPECT_EQ(log_histogram(values).beyond, 0U);
  values.back() = 4.1;
  EXPECT_EQ(log_histogram(values).beyond, 1U);
}

TEST(Histogram, HasABoundedNumberOfBins) {
  std::vector<double> values(60, 5.0);
  for (int i = 1; i <= 40; ++i) values.push_back(5.0 + i);
  EXPECT_EQ(log_histogram(values).share.size(), 100U);  // the shortest half is 0 wide
}

TEST(Histogram, IsOneBinOfEqualValuesAndNothingOfImpossibleOnes) {
  const Histogram equal = log_histogram(std::vector<double>(40, 7.0));
  EXPECT_EQ(equal.share, std::vector<double>{1});
  EXPECT_LT(equal.edges.front(), 7);
  EXPECT_GT(equal.edges.back(), 7);
  EXPECT_NEAR(equal.edges.front() + equal.edges.back(), 14, 1e-12);  // 7 is in the middle
  EXPECT_TRUE(log_histogram({}).edges.empty());
  EXPECT_TRUE(log_histogram(std::vector<double>{1, 0}).edges.empty());
  EXPECT_TRUE(
      log_histogram(std::vector<double>{1, std::numeric_limits<double>::infinity()}).edges.empty());
}

}  // namespace
}  // namespace busbar

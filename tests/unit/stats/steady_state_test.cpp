// SPDX-License-Identifier: BSD-3-Clause
#include "stats/steady_state.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/stats/series.hpp"

namespace busbar::stats {
namespace {

using Window = std::vector<double>;

/// Share of `repetitions` series flagged; they rise by `drift` in total, at a spread of 5 %.
double flagged(std::size_t count, double iact, double drift, int repetitions = 400) {
  std::mt19937_64 random = test::fixed_random(1);
  int hits = 0;
  for (int i = 0; i < repetitions; ++i) {
    Window samples = test::series(random, count, iact, 0.05);
    for (std::size_t k = 0; k < count; ++k) {
      samples[k] += drift * static_cast<double>(k) / static_cast<double>(count);
    }
    if (is_drifting(samples)) ++hits;
  }
  return static_cast<double>(hits) / repetitions;
}

TEST(SteadyState, IsReachedWhenTheMediansOfTwoWindowsDifferByLessThanFivePercent) {
  EXPECT_TRUE(is_steady(Window{100, 100, 100}, Window{104, 104, 104}));
  EXPECT_TRUE(is_steady(Window{104, 104, 104}, Window{100, 100, 100}));
  EXPECT_FALSE(is_steady(Window{100, 100, 100}, Window{106, 106, 106}));
  EXPECT_FALSE(is_steady(Window{106, 106, 106}, Window{100, 100, 100}));
  EXPECT_FALSE(is_steady(Window{100}, Window{150}, 0.5));
  EXPECT_TRUE(is_steady(Window{100}, Window{149}, 0.5));
  EXPECT_TRUE(is_steady(Window{100, 100, 9000}, Window{100, 101, 100}));
  EXPECT_FALSE(is_steady(Window{}, Window{}));
  EXPECT_FALSE(is_steady(Window{1}, Window{}));
  EXPECT_FALSE(is_steady(Window{}, Window{1}));
  EXPECT_TRUE(is_steady(Window{0}, Window{0}));
}

TEST(Drift, IsSeenInASeriesOfTenSamplesThatOnlyRisesOrOnlyFalls) {
  for (const std::size_t count : {50U, 10U, 9U}) {
    Window samples(count);
    std::iota(samples.begin(), samples.end(), 1.0);
    EXPECT_EQ(is_drifting(samples), count >= 10) << count;
    std::reverse(samples.begin(), samples.end());
    EXPECT_EQ(is_drifting(samples), count >= 10) << count;
  }
  EXPECT_FALSE(is_drifting(Window(50, 1.0)));
}

TEST(Drift, OfTwiceTheSpreadIsSeenButRarelyWhereThereIsOnlyCorrelation) {
  EXPECT_GT(flagged(500, 1, 0.1), 0.99);
  EXPECT_GT(flagged(500, 1, -0.1), 0.99);
  EXPECT_GT(flagged(500, 3, 0.1), 0.98);
  EXPECT_LT(flagged(50, 1, 0), 0.005);
  EXPECT_LT(flagged(500, 1, 0), 0.005);
  EXPECT_LT(flagged(500, 19, 0), 0.01);
  EXPECT_LT(flagged(500, 66, 0), 0.02);
  EXPECT_LT(flagged(50, 66, 0), 0.1);
}

}  // namespace
}  // namespace busbar::stats

// SPDX-License-Identifier: BSD-3-Clause
#include "stats/summary.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace busbar::stats {
namespace {

// Of samples, references_test.cpp compares every statistic.
TEST(Summary, IsNoneOfNoSamples) { EXPECT_FALSE(summarize(std::vector<double>{}).has_value()); }

}  // namespace
}  // namespace busbar::stats

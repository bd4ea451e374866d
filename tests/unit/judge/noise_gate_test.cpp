// SPDX-License-Identifier: BSD-3-Clause
#include "judge/noise_gate.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace busbar::judge {
namespace {

TEST(NoiseGate, VariationIsOfASample) {
  EXPECT_DOUBLE_EQ(*variation_of(std::vector<double>{8, 10, 12}), 0.2);
  // of 8 and 12: sqrt(4 + 4) / 10
  EXPECT_DOUBLE_EQ(*variation_of(std::vector<double>{8, 12}), 0.28284271247461903);
  EXPECT_EQ(variation_of(std::vector<double>{8}), std::nullopt);
}

TEST(NoiseGate, TwoGroupsAreFurtherApartThanEitherIsWide) {
  const auto groups = two_groups_of(std::vector<double>{44, 39, 44.2, 40, 39.5});
  ASSERT_TRUE(groups.has_value());
  EXPECT_EQ(groups->low, 3U);
  EXPECT_EQ(groups->high, 2U);
  EXPECT_DOUBLE_EQ(groups->low_middle, 39.5);
}

TEST(NoiseGate, TwoGroupsAreFurtherApartThanTheWiderOneIsWide) {
  EXPECT_FALSE(two_groups_of(std::vector<double>{40, 40.1, 44, 50}));
  EXPECT_FALSE(two_groups_of(std::vector<double>{34, 40, 44, 44.1}));
  EXPECT_FALSE(two_groups_of(std::vector<double>{40, 44, 48, 52})) << "as far as they are wide";
  EXPECT_TRUE(two_groups_of(std::vector<double>{40, 44, 48.1, 52}));
}

TEST(NoiseGate, TwoGroupsDifferByMoreThanAHundredthOfTheMedian) {
  EXPECT_FALSE(two_groups_of(std::vector<double>{99.5, 99.5, 100.5, 100.5}));
  EXPECT_TRUE(two_groups_of(std::vector<double>{99.4, 99.4, 100.5, 100.5}));
}

TEST(NoiseGate, TwoGroupsDivideAtTheWidestGap) {
  const auto groups = two_groups_of(std::vector<double>{10, 10, 12, 12, 30, 30});
  ASSERT_TRUE(groups.has_value());
  EXPECT_EQ(groups->low, 4U);
  EXPECT_DOUBLE_EQ(groups->low_middle, 11);
  EXPECT_DOUBLE_EQ(groups->high_middle, 30);
  const auto last = two_groups_of(std::vector<double>{10, 10, 10, 30, 90});
  EXPECT_FALSE(last) << "90 alone is no group: of 10 and 30 to 90 the upper is wider than the gap";
}

TEST(NoiseGate, OneOddValueEvenSpreadAndTinyGapsAreOneGroup) {
  EXPECT_FALSE(two_groups_of(std::vector<double>{40, 40, 40, 44}));
  EXPECT_FALSE(two_groups_of(std::vector<double>{40, 41, 42, 43, 44}));
  EXPECT_FALSE(two_groups_of(std::vector<double>{400, 400, 401, 401}));
  EXPECT_FALSE(two_groups_of(std::vector<double>{39, 44, 44}));
}

}  // namespace
}  // namespace busbar::judge

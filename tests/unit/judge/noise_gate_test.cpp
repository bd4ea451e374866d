// SPDX-License-Identifier: BSD-3-Clause
#include "judge/noise_gate.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace busbar::judge {
namespace {

TEST(NoiseGate, VariationIsOfASample) {
  EXPECT_DOUBLE_EQ(*variation_of(std::vector<double>{8, 10, 12}), 0.2);
  EXPECT_EQ(variation_of(std::vector<double>{8}), std::nullopt);
}

TEST(NoiseGate, TwoGroupsAreFurtherApartThanEitherIsWide) {
  const auto groups = two_groups_of(std::vector<double>{44, 39, 44.2, 40, 39.5});
  ASSERT_TRUE(groups.has_value());
  EXPECT_EQ(groups->low, 3U);
  EXPECT_EQ(groups->high, 2U);
  EXPECT_DOUBLE_EQ(groups->low_middle, 39.5);
}

TEST(NoiseGate, OneOddValueEvenSpreadAndTinyGapsAreOneGroup) {
  EXPECT_FALSE(two_groups_of(std::vector<double>{40, 40, 40, 44}));
  EXPECT_FALSE(two_groups_of(std::vector<double>{40, 41, 42, 43, 44}));
  EXPECT_FALSE(two_groups_of(std::vector<double>{400, 400, 401, 401}));
  EXPECT_FALSE(two_groups_of(std::vector<double>{39, 44, 44}));
}

}  // namespace
}  // namespace busbar::judge

// SPDX-License-Identifier: BSD-3-Clause
#include "model/sweep.hpp"

namespace busbar {
namespace {

using Sizes = std::vector<Bytes>;

TEST(Sweep, GoesFromOneMebibyteToOneGibibyteByDefault) {
  const Sizes sizes = Sweep{}.sizes();
  ASSERT_EQ(sizes.size(), 11U);
  EXPECT_EQ(sizes.front(), 1048576U);
  EXPECT_EQ(sizes.at(1), 2097152U);
  EXPECT_EQ(sizes.back(), 1073741824U);
}

TEST(Sweep, MultipliesByItsFactorOrAddsItsStepUpToTheLastSize) {
  constexpr Bytes kHuge = std::numeric_limits<Bytes>::max();
  EXPECT_EQ((Sweep{.first = 8, .last = 100, .factor = 3}.sizes()), (Sizes{8, 24, 72}));
  EXPECT_EQ((Sweep{.first = 8, .last = 30, .step = 10, .factor = 1}.sizes()), (Sizes{8, 18, 28}));
  EXPECT_EQ((Sweep{.first = 64, .last = 64}.sizes()), (Sizes{64}));
  EXPECT_EQ((Sweep{.first = 1, .last = 4}.sizes()), (Sizes{1, 2, 4}));
  EXPECT_EQ((Sweep{.first = kHuge / 2 + 1, .last = kHuge}.sizes()), (Sizes{kHuge / 2 + 1}));
}

TEST(Sweep, IsReadBackFromItsText) {
  for (const char* text : {"8-1024x2", "8-1024+64"}) {
    const auto sweep = parse_sweep(text);
    ASSERT_TRUE(sweep.has_value()) << text;
    EXPECT_EQ(sweep->first, 8U);
    EXPECT_EQ(sweep->last, 1024U);
    EXPECT_EQ(sweep_text(*sweep), text);
  }
  for (const char* text : {"", "8", "8-1024", "8-1024x1", "8-1024+0", "8-x2", "a-1024x2"}) {
    EXPECT_FALSE(parse_sweep(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace busbar

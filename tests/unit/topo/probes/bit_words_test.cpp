// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/bit_words.hpp"

#include <string>

#include <gtest/gtest.h>

namespace busbar::topo {
namespace {

TEST(BitWords, ReadsTheHighestWordFirst) {
  EXPECT_EQ(BitWords::parse("1,80000001")->numbers(), (std::vector<int>{0, 31, 32}));
  EXPECT_EQ(BitWords::parse("0x00000003")->numbers(), (std::vector<int>{0, 1}));
  EXPECT_EQ(BitWords::parse("0x1,,0x0")->numbers(), (std::vector<int>{64}));
  EXPECT_TRUE(BitWords::parse("0x0")->numbers().empty());
}

TEST(BitWords, RefusesWhatIsNoMask) {
  for (const char* mask : {"", "x", "0x", "0xg", "1 2", "-1", "123456789", "0xf...f", "1;2"}) {
    EXPECT_FALSE(BitWords::parse(mask)) << mask;
  }
  EXPECT_FALSE(BitWords::parse(std::string(5000, ',')));
}

TEST(BitWords, AreEqualWithLeadingZeros) {
  EXPECT_EQ(BitWords::parse("0,0,5"), BitWords::parse("5"));
  EXPECT_EQ(BitWords::parse("1,0"), BitWords::one(32));
  EXPECT_NE(BitWords::parse("1"), BitWords::one(32));
}

TEST(BitWords, AreWrittenAsHwlocDoes) {
  EXPECT_EQ(BitWords::parse(",1,,f0")->text(), "0x00000001,0x00000000,0x000000f0");
  EXPECT_EQ(BitWords::parse("0,0")->text(), "0x0");
}

TEST(BitWords, CompareAsSets) {
  const BitWords low = *BitWords::parse("f");
  const BitWords high = *BitWords::parse("1,0");
  BitWords both = low;
  both.add(high);
  EXPECT_TRUE(low.within(both));
  EXPECT_TRUE(high.within(both));
  EXPECT_FALSE(both.within(low));
  EXPECT_FALSE(low.meets(high));
  EXPECT_TRUE(both.meets(high));
  EXPECT_TRUE(both.within(BitWords::all()));
}

}  // namespace
}  // namespace busbar::topo

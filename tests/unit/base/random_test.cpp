// SPDX-License-Identifier: BSD-3-Clause
#include "base/random.hpp"

namespace busbar {
namespace {

TEST(SplitMix64, IsThatOfSteeleLeaAndFlood) {
  // The first two numbers of a generator seeded with 0, as java.util.SplittableRandom has them.
  EXPECT_EQ(splitmix64(0), 0xe220a8397b1dcdafU);
  EXPECT_EQ(splitmix64(0x9e3779b97f4a7c15U), 0x6e789e6aa1b965f4U);
}

}  // namespace
}  // namespace busbar

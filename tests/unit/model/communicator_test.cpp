// SPDX-License-Identifier: BSD-3-Clause
#include "model/communicator.hpp"

#include <gtest/gtest.h>

namespace busbar {
namespace {

TEST(Comparison, CountsWrongElementsOfAllRunsAndKeepsTheFirst) {
  Comparison total;
  total.add({}, 0);
  total.add({.wrong = 2, .first_wrong = 5, .expected = "1", .got = "2"}, 100);
  total.add({.wrong = 3, .first_wrong = 0, .expected = "8", .got = "9"}, 200);
  EXPECT_EQ(total.wrong, 5U);
  EXPECT_EQ(total.first_wrong, 105U);
  EXPECT_EQ(total.expected, "1");
  EXPECT_EQ(total.got, "2");
}

TEST(DeviceMemoryUse, IsInTotalAllThatWasTaken) {
  EXPECT_EQ((DeviceMemoryUse{.initialization = 100, .user = 20, .collective = 3}.total()), 123U);
  EXPECT_EQ(DeviceMemoryUse{}.total(), 0U);
}

}  // namespace
}  // namespace busbar

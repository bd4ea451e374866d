// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/log.hpp"

#include <gtest/gtest.h>

namespace busbar::study {
namespace {

TEST(LogTable, HasTheRanksOfItsHeadOrOfItsDevices) {
  EXPECT_FALSE(stated_ranks({}).has_value());
  const LogTable whole{.devices = {{.rank = 0}, {.rank = 1}}};
  EXPECT_EQ(listed_ranks(whole), 2);
  EXPECT_EQ(listed_ranks({.ranks = 4, .devices = {{.rank = 0}}}), 4);
}

TEST(LogTable, HasNoListOfRanksWhereOnlyItsEndIsLeft) {
  const LogTable end{.devices = {{.rank = 70}, {.rank = 71}}};
  EXPECT_EQ(stated_ranks(end), 72);
  EXPECT_FALSE(listed_ranks(end).has_value());
}

}  // namespace
}  // namespace busbar::study

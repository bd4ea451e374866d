// SPDX-License-Identifier: BSD-3-Clause
#include "model/flag.hpp"

#include <gtest/gtest.h>

namespace busbar {
namespace {

TEST(Flag, StandsBehindTheOthers) {
  Record record;
  add_flag(record, Flag::FewSamples);
  EXPECT_EQ(record.flags, "few-samples");
  add_flag(record, Flag::Fake);
  EXPECT_EQ(record.flags, "few-samples fake");
  EXPECT_TRUE(has_flag(record, Flag::FewSamples));
  EXPECT_TRUE(has_flag(record, Flag::Fake));
}

TEST(Flag, IsAWholeWord) {
  EXPECT_FALSE(has_flag({.flags = "few-samples fake-not"}, Flag::Fake));
  EXPECT_FALSE(has_flag({.flags = "not-registered"}, Flag::Registered));
  EXPECT_FALSE(has_flag({}, Flag::Fake));
}

}  // namespace
}  // namespace busbar

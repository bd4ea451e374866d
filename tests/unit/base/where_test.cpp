// SPDX-License-Identifier: BSD-3-Clause
#include "base/where.hpp"

#include <string>

#include <gtest/gtest.h>

namespace busbar {
namespace {

Where place_of_caller(Where where = Where::here()) { return where; }

TEST(Where, IsTheCallersPlaceAsADefaultArgument) {
  const int line = __LINE__ + 1;
  const Where where = place_of_caller();
  EXPECT_EQ(where.line, line);
  EXPECT_TRUE(std::string(where.file).ends_with("where_test.cpp")) << where.file;
}

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "base/enum_names.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"

namespace busbar {
namespace {

enum class Side { Both, In, Out };
constexpr auto enum_names(Side) {
  return std::array{Named{Side::Both, "both"}, Named{Side::In, "in"}, Named{Side::Out, "out"}};
}

TEST(EnumNames, LeadFromValueToTextAndBack) {
  EXPECT_EQ(name(Side::In), "in");
  EXPECT_EQ(find_value<Side>("out"), Side::Out);
  EXPECT_EQ(find_value<Side>("Out"), std::nullopt);
  EXPECT_EQ(all_values<Side>(), (std::array{Side::Both, Side::In, Side::Out}));
}

TEST(EnumNames, AreWhatAnUnknownTextIsAnsweredWith) {
  const test::Failure failure =
      test::failure_of([] { (void)parse_value<Side>("--placement", "foo"); });
  EXPECT_EQ(failure.status, Status::Usage);
  EXPECT_EQ(failure.message, "invalid value 'foo' for --placement; expected both, in or out");
}

}  // namespace
}  // namespace busbar

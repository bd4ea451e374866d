// SPDX-License-Identifier: BSD-3-Clause
#include "model/variant.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"

namespace busbar {
namespace {

TEST(ParseVary, RefusesWhatIsNoSetting) {
  for (const char* text :
       {"NCCL_ALGO", "=a,b", "A B=a,b", "A=", "A=a,,b", "A=a,b,a", "A=a", "A=a,#b"}) {
    EXPECT_THAT(test::refusal_of([&] { static_cast<void>(parse_vary("--vary", text)); }),
                testing::HasSubstr("--vary"))
        << text;
  }
}

TEST(ParseVary, TakesAllBehindTheFirstEqualsSignForValues) {
  EXPECT_THAT(parse_vary("--vary", "A_1=x=y,z").values, testing::ElementsAre("x=y", "z"));
  const Vary vary = parse_vary("--vary", "inject-delay=default,0:50");
  EXPECT_EQ(to_text(vary), "inject-delay=default,0:50");
  EXPECT_EQ(variant_text(vary, 1), "inject-delay=0:50");
}

}  // namespace
}  // namespace busbar

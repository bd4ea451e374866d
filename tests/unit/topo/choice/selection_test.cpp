// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/selection.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"

namespace busbar::topo {
namespace {

using testing::HasSubstr;

TEST(ParseSelection, ReadsPoliciesAndLists) {
  EXPECT_EQ(parse_selection("--devices", "best").policy, Policy::Best);
  EXPECT_EQ(parse_selection("--devices", "median").policy, Policy::Median);
  EXPECT_EQ(parse_selection("--devices", "0,3,5-7"), (Selection{Policy::List, {0, 3, 5, 6, 7}}));
  EXPECT_EQ(parse_selection("--devices", "4"), (Selection{Policy::List, {4}}));
}

TEST(ParseSelection, IsWrittenBackAsItIsRead) {
  for (const char* text : {"best", "worst", "prefix", "0,3,5"}) {
    EXPECT_EQ(words_of(parse_selection("--devices", text)), text);
  }
}

TEST(ParseSelection, RefusesWhatIsNeither) {
  const auto refusal = [](const char* text) {
    return test::failure_of([&] { (void)parse_selection("--devices", text); }).message;
  };
  EXPECT_THAT(refusal("bets"), HasSubstr("none of best, worst, median, prefix"));
  EXPECT_THAT(refusal(""), HasSubstr("none of"));
  EXPECT_THAT(refusal("0,,1"), HasSubstr("--devices"));
  EXPECT_THAT(refusal("3-1"), HasSubstr("write 1-3"));
  EXPECT_THAT(refusal("1,0-2"), HasSubstr("device 1 is twice"));
  EXPECT_THAT(refusal("-1"), HasSubstr("--devices"));
  EXPECT_THAT(refusal("0-99999999999"), HasSubstr("--devices"));
}

}  // namespace
}  // namespace busbar::topo

// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/judge/judge_case.hpp"

namespace busbar::judge {
namespace {

using ::testing::HasSubstr;

TEST(FleetRule, TwoValuesAreNoFleet) {
  JudgeCase one;
  one.rule().compare = RuleKind::Fleet;
  one.steady({"h1"}, 100);
  one.steady({"h2"}, 10);
  EXPECT_EQ(one.overall(), Outcome::Inconclusive);
  const Acceptance acceptance = one.judged();
  EXPECT_EQ(acceptance.count(Outcome::Inconclusive), 3U);
  for (const CheckResult& row : acceptance.verdicts) {
    EXPECT_THAT(row.reason, HasSubstr("a fleet comparison needs 3")) << row.instance;
  }
}

}  // namespace
}  // namespace busbar::judge

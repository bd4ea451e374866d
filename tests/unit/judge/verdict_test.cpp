// SPDX-License-Identifier: BSD-3-Clause
#include "judge/verdict.hpp"

#include <tuple>

namespace busbar::judge {
namespace {

Acceptance with(std::initializer_list<Outcome> words) {
  Acceptance acceptance;
  for (const Outcome outcome : words) acceptance.verdicts.push_back({.outcome = outcome});
  return acceptance;
}

TEST(Verdict, TheWorstOutcomeDecides) {
  EXPECT_EQ(with({Outcome::Pass, Outcome::Skip}).overall(), Outcome::Pass);
  EXPECT_EQ(with({Outcome::Error, Outcome::Fail, Outcome::Pass}).overall(), Outcome::Fail);
  EXPECT_EQ(with({}).overall(), Outcome::Error);
  EXPECT_EQ(with({Outcome::Pass, Outcome::Fail, Outcome::Pass}).count(Outcome::Pass), 2U);
}

TEST(Verdict, ExitCodesAreZeroOnlyForWhatWasMeasured) {
  for (const auto& [outcome, code, strict] : {std::tuple{Outcome::Pass, 0, 0},
                                              {Outcome::Known, 0, 0},
                                              {Outcome::Warn, 0, 1},
                                              {Outcome::Fail, 1, 1},
                                              {Outcome::Inconclusive, 3, 3},
                                              {Outcome::Error, 4, 4},
                                              {Outcome::Skip, 77, 77}}) {
    EXPECT_EQ(exit_code_of(with({outcome}), false), code);
    EXPECT_EQ(exit_code_of(with({outcome}), true), strict);
  }
  EXPECT_EQ(exit_code_of(with({}), false), 4);
}

}  // namespace
}  // namespace busbar::judge

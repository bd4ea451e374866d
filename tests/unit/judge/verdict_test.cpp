// SPDX-License-Identifier: BSD-3-Clause
#include "judge/verdict.hpp"

#include <gtest/gtest.h>

namespace busbar::judge {
namespace {

Acceptance with(std::initializer_list<Outcome> words) {
  Acceptance acceptance;
  for (const Outcome outcome : words) acceptance.verdicts.push_back({.outcome = outcome});
  return acceptance;
}

TEST(Verdict, TheWorstWordDecides) {
  EXPECT_EQ(with({Outcome::Pass, Outcome::Skip}).overall(), Outcome::Pass);
  EXPECT_EQ(with({Outcome::Error, Outcome::Fail, Outcome::Pass}).overall(), Outcome::Fail);
  EXPECT_EQ(with({}).overall(), Outcome::Error);
  EXPECT_EQ(with({Outcome::Pass, Outcome::Fail, Outcome::Pass}).count(Outcome::Pass), 2U);
}

TEST(Verdict, ExitCodesAreZeroOnlyForWhatWasMeasured) {
  EXPECT_EQ(exit_code_of(with({Outcome::Pass}), false), 0);
  EXPECT_EQ(exit_code_of(with({Outcome::Known}), true), 0);
  EXPECT_EQ(exit_code_of(with({Outcome::Warn}), false), 0);
  EXPECT_EQ(exit_code_of(with({Outcome::Warn}), true), 1);
  EXPECT_EQ(exit_code_of(with({Outcome::Fail}), false), 1);
  EXPECT_EQ(exit_code_of(with({Outcome::Inconclusive}), false), 3);
  EXPECT_EQ(exit_code_of(with({Outcome::Error}), false), 4);
  EXPECT_EQ(exit_code_of(with({}), false), 4);
  EXPECT_EQ(exit_code_of(with({Outcome::Skip}), false), 77);
}

TEST(Verdict, WordsAreNamed) {
  EXPECT_EQ(name(Outcome::Inconclusive), "INCONCLUSIVE");
  EXPECT_EQ(name(NodeState::NoData), "no data");
}

}  // namespace
}  // namespace busbar::judge

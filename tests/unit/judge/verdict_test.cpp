// SPDX-License-Identifier: BSD-3-Clause
#include "judge/verdict.hpp"

#include <gtest/gtest.h>

namespace busbar::judge {
namespace {

Judgement with(std::initializer_list<Word> words) {
  Judgement judgement;
  for (const Word word : words) judgement.verdicts.push_back({.word = word});
  return judgement;
}

TEST(Verdict, TheWorstWordDecides) {
  EXPECT_EQ(with({Word::Pass, Word::Skip}).overall(), Word::Pass);
  EXPECT_EQ(with({Word::Error, Word::Fail, Word::Pass}).overall(), Word::Fail);
  EXPECT_EQ(with({}).overall(), Word::Error);
  EXPECT_EQ(with({Word::Pass, Word::Fail, Word::Pass}).count(Word::Pass), 2U);
}

TEST(Verdict, ExitCodesAreZeroOnlyForWhatWasMeasured) {
  EXPECT_EQ(exit_code_of(with({Word::Pass}), false), 0);
  EXPECT_EQ(exit_code_of(with({Word::Known}), true), 0);
  EXPECT_EQ(exit_code_of(with({Word::Warn}), false), 0);
  EXPECT_EQ(exit_code_of(with({Word::Warn}), true), 1);
  EXPECT_EQ(exit_code_of(with({Word::Fail}), false), 1);
  EXPECT_EQ(exit_code_of(with({Word::Inconclusive}), false), 3);
  EXPECT_EQ(exit_code_of(with({Word::Error}), false), 4);
  EXPECT_EQ(exit_code_of(with({}), false), 4);
  EXPECT_EQ(exit_code_of(with({Word::Skip}), false), 77);
}

TEST(Verdict, WordsAreNamed) {
  EXPECT_EQ(name(Word::Inconclusive), "INCONCLUSIVE");
  EXPECT_EQ(name(NodeState::NoData), "no data");
}

}  // namespace
}  // namespace busbar::judge

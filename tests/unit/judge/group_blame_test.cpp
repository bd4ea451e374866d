// SPDX-License-Identifier: BSD-3-Clause
#include "judge/group_blame.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judge/suspects.hpp"

namespace busbar::judge {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Names = std::vector<std::string>;

struct Group {
  Names nodes{};
  Word word = Word::Pass;
};

std::vector<Suspect> suspects_of(const std::vector<Group>& groups) {
  std::vector<JudgedRow> rows;
  for (const Group& group : groups) {
    rows.push_back({.verdict = {.rule = "one", .nodes = group.nodes, .word = group.word}});
  }
  std::vector<const JudgedRow*> given;
  for (const JudgedRow& row : rows) given.push_back(&row);
  return group_suspects(given);
}

std::vector<Names> blamed(const std::vector<Group>& groups) {
  std::vector<Names> nodes;
  for (const Suspect& suspect : suspects_of(groups)) nodes.push_back(suspect.nodes);
  return nodes;
}

TEST(GroupSuspects, AreTheOneNodeThatNoGoodGroupHas) {
  for (const Word good : {Word::Pass, Word::Warn, Word::Known}) {
    EXPECT_THAT(blamed({{{"h1", "h2"}, Word::Fail}, {{"h2", "h3"}, good}}),
                ElementsAre(Names{"h1"}));
  }
  for (const Word other : {Word::Skip, Word::Inconclusive, Word::Error}) {
    EXPECT_THAT(blamed({{{"h1", "h2"}, Word::Fail}, {{"h2", "h3"}, other}}),
                ElementsAre(Names{"h1", "h2"}));
  }
}

TEST(GroupSuspects, ExplainGroupsThatWereJudgedBefore) {
  const std::vector<Suspect> suspects = suspects_of(
      {{{"h1", "h2"}, Word::Fail}, {{"h2", "h3"}, Word::Fail}, {{"h3", "h4"}, Word::Pass}});
  ASSERT_EQ(suspects.size(), 1U);
  EXPECT_THAT(suspects[0].nodes, ElementsAre("h2"));
  EXPECT_THAT(suspects[0].evidence, HasSubstr("not known to be good"));
}

TEST(GroupSuspects, AreTheSmallestGroupOfThoseThatHaveOneAnother) {
  const std::vector<Suspect> suspects =
      suspects_of({{{"h1", "h2", "h3", "h4"}, Word::Fail}, {{"h1", "h2"}, Word::Fail}});
  ASSERT_EQ(suspects.size(), 1U);
  EXPECT_THAT(suspects[0].nodes, ElementsAre("h1", "h2"));
  EXPECT_THAT(suspects[0].evidence, HasSubstr("could not be divided"));
}

TEST(GroupSuspects, AreAWholeGroupWhoseNodesAreGoodElsewhere) {
  EXPECT_THAT(
      blamed({{{"h1", "h2"}, Word::Fail}, {{"h1", "h3"}, Word::Pass}, {{"h2", "h4"}, Word::Pass}}),
      ElementsAre(Names{"h1", "h2"}));
}

}  // namespace
}  // namespace busbar::judge

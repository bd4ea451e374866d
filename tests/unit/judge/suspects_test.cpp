// SPDX-License-Identifier: BSD-3-Clause
#include "judge/suspects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/judge/judge_case.hpp"

namespace busbar::judge {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Names = std::vector<std::string>;

TEST(DropExplained, DropsLinksOfABlamedNodeWhicheverEndItIs) {
  std::vector<Suspect> suspects{{.nodes = {"h1", "h2"}},
                                {.nodes = {"h1"}},
                                {.nodes = {"h3", "h1"}},
                                {.nodes = {"h2", "h3"}},
                                {.nodes = {"h1", "h2", "h3"}}};
  drop_explained(suspects);
  EXPECT_THAT(nodes_of(suspects),
              ElementsAre(Names{"h1"}, Names{"h2", "h3"}, Names{"h1", "h2", "h3"}));
}

/// All pairs of these nodes, 100 GB/s but for those with `slow`, which have 20.
JudgeCase pairs_of(const Names& nodes, const std::string& slow, Comparison compare) {
  JudgeCase one(SetKind::Pairwise);
  one.nodes = nodes;
  one.against_fleet();
  one.rule().compare = compare;
  one.rule().value = 100;
  one.all_pairs([&](std::size_t i, std::size_t j) {
    return nodes[i] == slow || nodes[j] == slow ? 20 : 100;
  });
  return one;
}

TEST(Suspects, OfOneRuleExplainTheLinkOfAnother) {
  // h1 is slow alone, and so is the one pair of h1 and h2.
  JudgeCase one = pairs_of(names(3), "", Comparison::Absolute);
  for (Observation& o : one.observations) {
    if (o.instance == "h1+h2") o.records[0].busbw_GBps = 20;
  }
  EXPECT_THAT(nodes_of(one.judged().suspects), ElementsAre(Names{"h1", "h2"}));
  one.specification.device_sets.push_back(
      {.id = "alone", .kind = SetKind::PerNode, .ranks_per_node = 8});
  one.specification.expectations.push_back(one.rule());
  one.specification.expectations[1].id = "alone";
  one.specification.expectations[1].device_set = "alone";
  for (const std::string& node : one.nodes) {
    for (int i = 0; i < 3; ++i) {
      one.launch({node}, node == "h1" ? 20 : 100, i).device_set = "alone";
    }
  }
  const Acceptance acceptance = one.judged();
  EXPECT_THAT(nodes_of(acceptance.suspects), ElementsAre(Names{"h1"}));
  EXPECT_EQ(acceptance.nodes.at(1).state, NodeState::Good) << "h2: its low pair is explained";
}

TEST(Suspects, OfThreeNodesWithAllPairsLowAreAllThree) {
  JudgeCase one = pairs_of(names(3), "", Comparison::Absolute);
  one.each([](Record& r) { r.busbw_GBps = 20; });
  const std::vector<Suspect> suspects = one.judged().suspects;
  EXPECT_THAT(nodes_of(suspects), ElementsAre(Names{"h1", "h2", "h3"}));
  EXPECT_THAT(suspects.at(0).evidence, HasSubstr("all 3 pairs low"));
}

TEST(Suspects, OfTheOnlyPairAreItsLink) {
  const std::vector<Suspect> suspects =
      pairs_of({"h1", "h2"}, "h1", Comparison::Absolute).judged().suspects;
  EXPECT_THAT(nodes_of(suspects), ElementsAre(Names{"h1", "h2"}));
  EXPECT_THAT(suspects.at(0).evidence, HasSubstr("only this pair: "));
}

TEST(Suspects, BlamedNodesAreMeasuredWithoutThoseBlamedBefore) {
  JudgeCase one = pairs_of(names(4), "", Comparison::Absolute);
  const std::vector<double> values{2, 20, 20, 20, 30, 100};  // h1 is slow with all, then h2
  for (Observation& o : one.observations) {
    const auto pair = static_cast<std::size_t>(&o - one.observations.data()) / 3;
    o.records[0].busbw_GBps = values[pair];
  }
  const std::vector<Suspect> suspects = one.judged().suspects;
  ASSERT_THAT(nodes_of(suspects), ElementsAre(Names{"h1"}, Names{"h2"}));
  EXPECT_THAT(suspects[0].evidence, HasSubstr("3 of 3 pairs low, median 20 GB/s"));
  EXPECT_THAT(suspects[1].evidence, HasSubstr("2 of 2 pairs low, median 25 GB/s"));
}

TEST(Suspects, OfWrongDataAreNamedWithAndWithoutValues) {
  for (const Comparison compare : {Comparison::Absolute, Comparison::Fleet}) {
    for (const bool valued : {true, false}) {
      JudgeCase one = pairs_of(names(5), "", compare);
      for (Observation& o : one.observations) {
        if (o.nodes[1] != "h5") continue;
        o.records[0].wrong = 1;
        if (!valued) o.records[0].busbw_GBps.reset();
      }
      EXPECT_THAT(nodes_of(one.judged().suspects), ElementsAre(Names{"h5"})) << valued;
    }
  }
}

TEST(Suspects, HaveTheEvidenceOfTheirSize) {
  JudgeCase one = pairs_of(names(6), "", Comparison::Fleet);
  one.rule().sizes = {kMiB, 2 * kMiB};
  for (Observation& o : one.observations) {
    o.records.push_back(o.records[0]);
    o.records[1].size = 2 * kMiB;
    if (o.nodes[0] == "h1") o.records[0].busbw_GBps = 20;
    if (o.nodes[1] == "h6") o.records[1].busbw_GBps = 20;
  }
  const std::vector<Suspect> suspects = one.judged().suspects;
  ASSERT_THAT(nodes_of(suspects), ElementsAre(Names{"h1"}, Names{"h6"}));
  EXPECT_THAT(suspects[0].evidence, HasSubstr("allreduce 1 MiB: 5 of 5 pairs low"));
  EXPECT_THAT(suspects[1].evidence, HasSubstr("allreduce 2 MiB: 5 of 5 pairs low"));
}

struct Group {
  Names nodes{};
  Outcome outcome = Outcome::Pass;
};

std::vector<Suspect> suspects_of(const std::vector<Group>& groups) {
  std::vector<CheckedRow> rows;
  for (const Group& group : groups) {
    rows.push_back({{.rule = "one", .nodes = group.nodes, .outcome = group.outcome}});
  }
  return group_suspects(rows);
}

std::vector<Names> blamed(const std::vector<Group>& groups) {
  return nodes_of(suspects_of(groups));
}

TEST(GroupSuspects, AreTheOneNodeThatNoGoodGroupHas) {
  for (const Outcome good : {Outcome::Pass, Outcome::Warn, Outcome::Known}) {
    EXPECT_THAT(blamed({{{"h1", "h2"}, Outcome::Fail}, {{"h2", "h3"}, good}}),
                ElementsAre(Names{"h1"}));
  }
  for (const Outcome other : {Outcome::Skip, Outcome::Inconclusive, Outcome::Error}) {
    EXPECT_THAT(blamed({{{"h1", "h2"}, Outcome::Fail}, {{"h2", "h3"}, other}}),
                ElementsAre(Names{"h1", "h2"}));
  }
}

TEST(GroupSuspects, ExplainGroupsThatWereJudgedBefore) {
  const std::vector<Suspect> suspects = suspects_of({{{"h1", "h2"}, Outcome::Fail},
                                                     {{"h2", "h3"}, Outcome::Fail},
                                                     {{"h3", "h4"}, Outcome::Pass}});
  ASSERT_THAT(nodes_of(suspects), ElementsAre(Names{"h2"}));
  EXPECT_THAT(suspects[0].evidence, HasSubstr("not known to be good"));
}

TEST(GroupSuspects, AreTheSmallestGroupOfThoseThatHaveOneAnother) {
  const std::vector<Suspect> suspects =
      suspects_of({{{"h1", "h2", "h3", "h4"}, Outcome::Fail}, {{"h1", "h2"}, Outcome::Fail}});
  ASSERT_THAT(nodes_of(suspects), ElementsAre(Names{"h1", "h2"}));
  EXPECT_THAT(suspects[0].evidence, HasSubstr("could not be divided"));
}

TEST(GroupSuspects, AreAWholeGroupWhoseNodesAreGoodElsewhere) {
  EXPECT_THAT(blamed({{{"h1", "h2"}, Outcome::Fail},
                      {{"h1", "h3"}, Outcome::Pass},
                      {{"h2", "h4"}, Outcome::Pass}}),
              ElementsAre(Names{"h1", "h2"}));
}

}  // namespace
}  // namespace busbar::judge

// SPDX-License-Identifier: BSD-3-Clause
#include "judge/suspects.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/judge/judge_case.hpp"

namespace busbar::judge {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

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

/// All pairs of h1 to h`count` at 100 GB/s.
JudgeCase equal_pairs(std::size_t count, RuleKind compare = RuleKind::Absolute) {
  return pairs_case(count, compare, [](std::size_t, std::size_t) { return 100; });
}

TEST(Suspects, OfOneRuleExplainTheLinkOfAnother) {
  // h1 is slow alone, and so is the one pair of h1 and h2.
  JudgeCase one = equal_pairs(3);
  one.set_rate(20, "h1+h2");
  EXPECT_THAT(nodes_of(one.judged().suspects), ElementsAre(Names{"h1", "h2"}));
  one.add_set("alone", SetKind::PerNode);
  for (const std::string& node : one.nodes) {
    for (int i = 0; i < 3; ++i) {
      one.launch({node}, node == "h1" ? 20 : 100, i).device_set = "alone";
    }
  }
  const Acceptance acceptance = one.judged();
  EXPECT_THAT(nodes_of(acceptance.suspects), ElementsAre(Names{"h1"}));
  EXPECT_EQ(acceptance.nodes.at(1).state, NodeState::Good) << "h2: its low pair is explained";
}

TEST(Suspects, OfAllPairsLowAreAllNodesAndOfTheOnlyPairItsLink) {
  for (const auto& [count, evidence] :
       {std::pair{3, "all 3 pairs low"}, {2, "allreduce 1 MiB: only this pair: "}}) {
    JudgeCase one = equal_pairs(static_cast<std::size_t>(count));
    one.set_rate(20);
    const std::vector<Suspect> suspects = one.judged().suspects;
    ASSERT_THAT(nodes_of(suspects), ElementsAre(one.nodes));
    EXPECT_THAT(suspects.at(0).evidence, HasSubstr(evidence));
  }
}

TEST(Suspects, BlamedNodesAreMeasuredWithoutThoseBlamedBefore) {
  JudgeCase one = equal_pairs(4);
  one.set_rate(2, "h1+h2");
  for (const char* pair : {"h1+h3", "h1+h4", "h2+h3"}) one.set_rate(20, pair);
  one.set_rate(30, "h2+h4");
  const std::vector<Suspect> suspects = one.judged().suspects;
  ASSERT_THAT(nodes_of(suspects), ElementsAre(Names{"h1"}, Names{"h2"}));
  EXPECT_THAT(suspects[0].evidence, HasSubstr("3 of 3 pairs low, median 20 GB/s"));
  EXPECT_THAT(suspects[1].evidence, HasSubstr("2 of 2 pairs low, median 25 GB/s"));
}

TEST(Suspects, OfWrongDataAreNamedWithAndWithoutValues) {
  for (const RuleKind compare : {RuleKind::Absolute, RuleKind::Fleet}) {
    for (const bool valued : {true, false}) {
      JudgeCase one = equal_pairs(5, compare);
      for (Observation& o : one.observations) {
        if (o.nodes[1] != "h5" || o.nodes[0] == "h1") continue;
        o.records[0].wrong = 1;
        if (!valued) o.records[0].busbw_GBps.reset();
      }
      const Acceptance acceptance = one.judged();
      ASSERT_THAT(nodes_of(acceptance.suspects), ElementsAre(Names{"h5"})) << valued;
      EXPECT_THAT(acceptance.suspects[0].evidence,
                  EndsWith("wrong data in 3 of 4 pairs (h2+h5: 1 wrong element)"));
      EXPECT_THAT(acceptance.nodes.at(4).evidence, HasSubstr("wrong data in 3 of 4 pairs"));
    }
  }
}

TEST(Suspects, OfWrongDataComeFirstAndAreNotCountedAsLow) {
  // h1 is slow, and its pair with h4 has wrong data at a good rate.
  JudgeCase one = equal_pairs(4);
  for (const char* pair : {"h1+h2", "h1+h3"}) one.set_rate(20, pair);
  one.each([](Record& r) { r.wrong = 3; }, "h1+h4");
  const Acceptance acceptance = one.judged();
  ASSERT_THAT(nodes_of(acceptance.suspects), ElementsAre(Names{"h1", "h4"}, Names{"h1"}));
  EXPECT_THAT(acceptance.suspects[0].evidence, HasSubstr("only this pair: wrong data: 3 wrong"));
  EXPECT_THAT(acceptance.suspects[1].evidence, HasSubstr("2 of 2 pairs low, median 20 GB/s"));
  EXPECT_THAT(acceptance.nodes.at(0).evidence, HasSubstr("wrong data: 3 wrong"));
  EXPECT_EQ(states(acceptance), "failed good good suspect");
}

TEST(Suspects, OfWrongDataAreConfirmedByWrongDataAlone) {
  JudgeCase one = equal_pairs(4);
  one.rule().confirm_repeats = 1;
  for (const char* pair : {"h1+h2", "h2+h3", "h2+h4"})
    one.each([](Record& r) { r.wrong = 1; }, pair);
  one.launch({"h1", "h2"}, 20).purpose = Purpose::Confirm;
  EXPECT_FALSE(one.judged().suspects.at(0).confirmed) << "slow, and right";
  one.observations.back().records[0].wrong = 2;
  EXPECT_TRUE(one.judged().suspects.at(0).confirmed);
}

TEST(Suspects, OfNoisyPairsAreTheNodeThatAllOfThemHave) {
  for (const RuleKind compare : {RuleKind::Absolute, RuleKind::Fleet}) {
    JudgeCase one = equal_pairs(4, compare);
    one.set_rate(11, "h2+h4");
    for (const char* pair : {"h1+h2", "h2+h3"}) {
      one.set_rate(8, pair);
      const auto launch = std::find_if(one.observations.begin(), one.observations.end(),
                                       [&](const Observation& o) { return o.instance == pair; });
      launch->records[0].busbw_GBps = 60;
    }
    const Acceptance acceptance = one.judged();
    ASSERT_THAT(nodes_of(acceptance.suspects), ElementsAre(Names{"h2"}));
    EXPECT_THAT(acceptance.suspects[0].evidence,
                HasSubstr("3 of 3 pairs low (2 of them too noisy for a verdict), median 8 GB/s"));
    EXPECT_EQ(states(acceptance), "good failed good good");
    EXPECT_EQ(acceptance.count(Outcome::Inconclusive), 2U);
  }
}

TEST(Suspects, AreOnlyThisPairWhereTheOtherPairsOfItsNodesAreJudged) {
  JudgeCase one = equal_pairs(4);
  one.set_rate(20, "h1+h2");
  EXPECT_THAT(one.judged().suspects.at(0).evidence, HasSubstr("only this pair"));
  one.observations.at(3).records[0].busbw_GBps = 300;  // h1+h3 is noisy, and not low
  const std::string evidence = one.judged().suspects.at(0).evidence;
  EXPECT_THAT(evidence, Not(HasSubstr("only this pair")));
  EXPECT_THAT(evidence, HasSubstr("1 other pair of its nodes not judged"));
}

TEST(Suspects, HaveTheEvidenceOfTheirSize) {
  JudgeCase one = equal_pairs(6, RuleKind::Fleet);
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

/// `count` launches of these nodes crash: the first of each of their instances.
void crash(JudgeCase& one, const Names& nodes, int count = 3, int exit_code = 4) {
  for (Observation& o : one.observations) {
    if (!has_all(o.nodes, nodes) || o.launch >= count) continue;
    o.failure = "exit 4: allreduce_perf: rank 8 on h2 does not answer";
    o.exit_code = exit_code;
    o.records.clear();
  }
}

TEST(SuspectsOfFailedLaunches, AreTheNodeThatAllOfThemHave) {
  for (const RuleKind compare : {RuleKind::Absolute, RuleKind::Fleet}) {
    JudgeCase one = equal_pairs(4, compare);
    crash(one, {"h2"});
    const Acceptance acceptance = one.judged();
    ASSERT_THAT(nodes_of(acceptance.suspects), ElementsAre(Names{"h2"}));
    EXPECT_EQ(acceptance.suspects[0].defect, Defect::FailedLaunches);
    EXPECT_EQ(acceptance.suspects[0].evidence,
              "allreduce: 9 of 9 launches with it hung or crashed; no other did "
              "(h1+h2: exit 4: allreduce_perf: rank 8 on h2 does not answer)");
    EXPECT_EQ(states(acceptance), "good failed good good");
    EXPECT_EQ(acceptance.overall(), Outcome::Fail);
    EXPECT_EQ(acceptance.count(Outcome::Fail), 3U);
    expect_result(acceptance.verdicts.at(0), "FAIL 3 of 3 launches hung or crashed: exit 4");
  }
}

TEST(SuspectsOfFailedLaunches, AreTheLinkWhereBothOfItsNodesAreGoodWithOthers) {
  JudgeCase one = equal_pairs(4);
  crash(one, {"h1", "h2"}, 3, kTimedOut);
  const Acceptance acceptance = one.judged();
  ASSERT_THAT(nodes_of(acceptance.suspects), ElementsAre(Names{"h1", "h2"}));
  EXPECT_THAT(acceptance.suspects[0].evidence,
              HasSubstr("only this pair: 3 of 3 launches hung or crashed"));
  EXPECT_EQ(states(acceptance), "suspect suspect good good");
}

TEST(SuspectsOfFailedLaunches, AreNoneOfFewLaunches) {
  JudgeCase one = equal_pairs(4);
  crash(one, {"h1", "h2"}, 2);
  EXPECT_THAT(one.judged().suspects, ElementsAre());
  expect_result(
      one.first(),
      "INCONCLUSIVE 1 launch where 3 are needed; 2 of 3 launches hung or crashed: exit 4");
  one.rule().bounds.fail_below = 0.9;
  one.specification.run.min_launches = 1;
  crash(one, {"h1", "h2"}, 1);
  expect_result(one.first(), "FAIL 2 of 3 launches hung or crashed");
  JudgeCase once = equal_pairs(4);
  crash(once, {"h1", "h2"}, 1);
  once.specification.run.min_launches = 2;
  expect_result(once.first(), "WARN 1 of 3 launches hung or crashed: exit 4");
  EXPECT_EQ(states(once.judged()), "good good good good");
}

TEST(SuspectsOfFailedLaunches, AreMoreThanOneNode) {
  JudgeCase one = equal_pairs(5);
  crash(one, {"h2"});
  crash(one, {"h5"});
  const std::vector<Suspect> suspects = one.judged().suspects;
  ASSERT_THAT(nodes_of(suspects), ElementsAre(Names{"h2"}, Names{"h5"}));
  EXPECT_THAT(suspects[0].evidence,
              HasSubstr("12 of 12 launches with it hung or crashed; 9 of 18"));
  EXPECT_THAT(suspects[1].evidence, HasSubstr("9 of 9 launches with it hung or crashed; no other"));
}

TEST(SuspectsOfFailedLaunches, AreNoneWhereEveryPairOrTheOnlyOneFails) {
  for (const std::size_t count : {2U, 4U}) {
    JudgeCase one = equal_pairs(count);
    crash(one, {});
    const Acceptance acceptance = one.judged();
    EXPECT_TRUE(acceptance.suspects.empty());
    EXPECT_EQ(acceptance.overall(), Outcome::Error) << "the software may be at fault";
  }
}

TEST(SuspectsOfFailedLaunches, AreNotThoseOfProgramsThatRefuseOrOfInterruptedRuns) {
  for (const int code : {kNotMade, 2, 3, 77}) {
    JudgeCase one = equal_pairs(4);
    crash(one, {"h2"}, 3, code);
    EXPECT_TRUE(one.judged().suspects.empty()) << code;
    EXPECT_EQ(one.overall(), Outcome::Error) << code;
  }
}

TEST(SuspectsOfFailedLaunches, AreANodeThatDoesNotAnswerAfterOneOfThem) {
  JudgeCase one = equal_pairs(4);
  crash(one, {"h2", "h3"}, 1);
  for (Observation& o : one.observations) {
    if (!contains(o.nodes, "h2") || o.launch == 0) continue;
    o.failure = "h2 does not answer";
    o.unreachable = "h2";
    o.exit_code = kNotMade;
    o.records.clear();
  }
  const Acceptance acceptance = one.judged();
  ASSERT_THAT(nodes_of(acceptance.suspects), ElementsAre(Names{"h2"}));
  EXPECT_THAT(acceptance.suspects[0].evidence,
              HasSubstr("1 of 3 launches with it hung or crashed, and then it did not answer; no "
                        "other did (h2+h3: exit 4"));
  EXPECT_EQ(states(acceptance), "good failed good good");
}

TEST(SuspectsOfFailedLaunches, ExplainSlowLinksAndAreNotExplainedByThem) {
  JudgeCase one = equal_pairs(4);
  for (const char* pair : {"h1+h2", "h1+h3"}) one.set_rate(20, pair);
  crash(one, {"h1", "h4"});
  EXPECT_THAT(nodes_of(one.judged().suspects), ElementsAre(Names{"h1", "h4"}, Names{"h1"}));
  std::vector<Suspect> suspects{{.nodes = {"h1", "h2"}},
                                {.nodes = {"h1"}, .defect = Defect::FailedLaunches},
                                {.nodes = {"h1", "h3"}, .defect = Defect::WrongData}};
  drop_explained(suspects);
  EXPECT_THAT(nodes_of(suspects), ElementsAre(Names{"h1", "h3"}, Names{"h1"}));
}

TEST(SuspectsOfFailedLaunches, AreSingleNodesWhereAnotherIsGood) {
  JudgeCase one;
  one.nodes = names(3);
  for (const std::string& node : one.nodes) one.steady({node}, 450);
  crash(one, {"h2"});
  const Acceptance acceptance = one.judged();
  ASSERT_THAT(nodes_of(acceptance.suspects), ElementsAre(Names{"h2"}));
  EXPECT_THAT(acceptance.suspects[0].evidence,
              HasSubstr("allreduce: 3 of 3 launches hung or crashed: exit 4"));
  EXPECT_EQ(states(acceptance), "good failed good");
}

TEST(SuspectsOfFailedLaunches, AreFoundByHalving) {
  JudgeCase one(SetKind::Pairwise);
  one.nodes = names(4);
  one.set().all_pairs_up_to = 2;
  for (const Names& group : {Names{"h1", "h2"}, {"h3", "h4"}, {"h1", "h3"}, {"h1", "h4"}}) {
    one.steady(group, 450);
  }
  crash(one, {"h4"});
  EXPECT_THAT(nodes_of(one.judged().suspects), ElementsAre(Names{"h4"}));
}

TEST(SuspectsOfFailedLaunches, AreNotWaived) {
  JudgeCase one = equal_pairs(4);
  one.rule().known_issue = {.reason = "ticket 1", .until = "2027-01-01"};
  one.rule().allow_misses = 1;
  crash(one, {"h2"});
  EXPECT_EQ(one.overall(), Outcome::Fail);
}

TEST(SuspectsOfFailedLaunches, AreClearedOrConfirmedByLaunchesWithAGoodNode) {
  JudgeCase one = equal_pairs(4);
  one.rule().confirm_repeats = 1;
  crash(one, {"h2"});
  one.launch({"h1", "h2"}, 20).purpose = Purpose::Confirm;
  const Acceptance cleared = one.judged();
  EXPECT_TRUE(cleared.suspects.empty()) << "slow, and no crash";
  expect_result(cleared.verdicts.at(0), "INCONCLUSIVE hung or crashed once, good with h1 again");
  Observation& again = one.observations.back();
  again.records.clear();
  again.failure = "timeout after 120 s";
  again.exit_code = kTimedOut;
  EXPECT_TRUE(one.judged().suspects.at(0).confirmed);
  again.exit_code = kNotMade;
  again.unreachable = "h2";
  EXPECT_TRUE(one.judged().suspects.at(0).confirmed);
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

TEST(GroupSuspects, ExplainOtherGroupsWhicheverComesFirst) {
  const auto before = suspects_of({{{"h1", "h2"}, Outcome::Fail},
                                   {{"h2", "h3"}, Outcome::Fail},
                                   {{"h3", "h4"}, Outcome::Pass}});
  ASSERT_THAT(nodes_of(before), ElementsAre(Names{"h2"}));
  EXPECT_THAT(before[0].evidence, HasSubstr("not known to be good"));
  const auto smallest =
      suspects_of({{{"h1", "h2", "h3", "h4"}, Outcome::Fail}, {{"h1", "h2"}, Outcome::Fail}});
  ASSERT_THAT(nodes_of(smallest), ElementsAre(Names{"h1", "h2"}));
  EXPECT_THAT(smallest[0].evidence, HasSubstr("could not be divided"));
}

TEST(GroupSuspects, AreAWholeGroupWhoseNodesAreGoodElsewhere) {
  EXPECT_THAT(blamed({{{"h1", "h2"}, Outcome::Fail},
                      {{"h1", "h3"}, Outcome::Pass},
                      {{"h2", "h4"}, Outcome::Pass}}),
              ElementsAre(Names{"h1", "h2"}));
}

}  // namespace
}  // namespace busbar::judge

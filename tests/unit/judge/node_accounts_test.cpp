// SPDX-License-Identifier: BSD-3-Clause
#include "judge/suspects.hpp"
#include "tests/unit/judge/judge_case.hpp"

namespace busbar::judge {
namespace {

/// All pairs of h1 to h4 at 100 GB/s, but for those with these nodes.
JudgeCase pairs(const Names& slow = {}, double value = 100) {
  JudgeCase one = pairs_case(4, RuleKind::Absolute, [](std::size_t, std::size_t) { return 100; });
  one.rule().bounds.fail_above = 1.05;
  for (Observation& o : one.observations) {
    if (!slow.empty() && has_all(o.nodes, slow)) o.records[0].busbw_GBps = value;
  }
  return one;
}

/// The states, with a check of what holds for all.
std::string checked(const Acceptance& acceptance) {
  const std::string text = states(acceptance);
  EXPECT_FALSE(text == "good good good good" && acceptance.overall() >= Outcome::Inconclusive);
  return text;
}

TEST(NodeAccounts, NoNodeIsGoodWhoseOnePairOrEveryPairFailsAsTooGood) {
  EXPECT_EQ(checked(pairs({"h2", "h4"}, 200).judged()), "good suspect good suspect");
  JudgeCase one = pairs();
  one.set_rate(900);
  const Acceptance acceptance = one.judged();
  EXPECT_TRUE(acceptance.suspects.empty());
  EXPECT_EQ(checked(acceptance), "suspect suspect suspect suspect");
  EXPECT_THAT(acceptance.nodes[0].evidence, HasSubstr("floor on h1: too good"));
}

TEST(NodeAccounts, NoNodeIsGoodWhereAllTogetherFailUnlessABlamedOneExplainsIt) {
  JudgeCase one;
  one.steady_nodes(4).add_set("all", SetKind::Whole);
  for (int launch = 0; launch < 3; ++launch) {
    one.launch(one.nodes, 100, launch).device_set = "all";
    one.observations.back().instance = "all";
  }
  EXPECT_EQ(checked(one.judged()), "suspect suspect suspect suspect");
  EXPECT_TRUE(one.judged().suspects.empty());
  one.set_rate(200, "h2");
  EXPECT_EQ(checked(one.judged()), "good failed good good");
}

TEST(NodeAccounts, NodesOfWhatWasNotMeasuredAreNotGood) {
  JudgeCase interrupted = pairs();
  std::erase_if(interrupted.observations,
                [](const Observation& o) { return o.launch == 2 || contains(o.nodes, "h4"); });
  EXPECT_EQ(checked(interrupted.judged()), "inconclusive inconclusive inconclusive no data");
  EXPECT_EQ(interrupted.judged().count(Outcome::Pass), 0U);
}

TEST(NodeAccounts, ANodeThatDoesNotAnswerIsTheOnlyOneWithoutData) {
  JudgeCase one = pairs();
  for (Observation& o : one.observations) {
    if (o.nodes[1] != "h4") continue;
    o.failure = "h4 does not answer";
    o.unreachable = "h4";
  }
  const Acceptance acceptance = one.judged();
  EXPECT_EQ(checked(acceptance), "good good good no data");
  EXPECT_EQ(acceptance.nodes[3].evidence, "floor on h4: h4 does not answer");
}

TEST(NodeAccounts, NoNodeIsGoodInAFleetThatIsNotHomogeneous) {
  JudgeCase one;
  one.steady_nodes(4).against_fleet(0.5);
  double value = 400;
  for (const std::string& node : one.nodes) one.set_rate(value += 100, node);
  const Acceptance acceptance = one.judged();
  EXPECT_EQ(acceptance.overall(), Outcome::Fail);
  EXPECT_TRUE(acceptance.suspects.empty());
  EXPECT_EQ(checked(acceptance), "suspect suspect suspect suspect");
  EXPECT_THAT(acceptance.nodes[0].evidence, HasSubstr("floor on fleet: fleet not homogeneous"));
}

/// A verdict of rule "pair" on these nodes, with a value but for ERROR and SKIP.
CheckResult verdict(const std::vector<std::string>& nodes, Outcome outcome) {
  CheckResult one{
      .rule = "pair", .instance = "x", .nodes = nodes, .outcome = outcome, .reason = "why"};
  if (outcome != Outcome::Error && outcome != Outcome::Skip) one.value = 1;
  return one;
}

/// Of a node of h1 to h3.
NodeAccount account_of(const std::string& node, const std::vector<CheckResult>& verdicts,
                       const std::vector<Suspect>& suspects = {}) {
  return accounts_of(Names{node, "h2", "h3"}, verdicts, suspects).front();
}

TEST(NodeAccounts, AreOfTheWorstOutcome) {
  using enum Outcome;
  const std::string why = "pair on x: why";
  struct Case {
    std::vector<Outcome> outcomes{};  ///< of what h1 took part in
    NodeState state = NodeState::Good;
    std::string evidence{};
  };
  for (const Case& one : {Case{{Known}, NodeState::Good, "1 of 1 verdicts good"},
                          Case{{Known, Warn, Skip}, NodeState::Good, "2 of 3 verdicts good"},
                          Case{{Skip}, NodeState::Inconclusive, "all was skipped"},
                          Case{{Skip, Error}, NodeState::NoData, why},
                          Case{{}, NodeState::NoData, "no rule measured it"},
                          Case{{Pass, Inconclusive}, NodeState::Inconclusive, why},
                          Case{{Pass, Error}, NodeState::Inconclusive, why},
                          Case{{Inconclusive, Inconclusive, Fail}, NodeState::Suspect, why},
                          Case{{Fail, Fail}, NodeState::Suspect, why + " (and 1 more FAIL)"},
                          Case{{Error, Inconclusive, Error, Pass},
                               NodeState::Inconclusive,
                               why + " (and 1 more ERROR)"}}) {
    std::vector<CheckResult> verdicts;
    for (const Outcome outcome : one.outcomes) verdicts.push_back(verdict({"h1", "h2"}, outcome));
    const NodeAccount account = account_of("h1", verdicts);
    EXPECT_EQ(name(account.state), name(one.state));
    EXPECT_EQ(account.evidence, one.evidence);
  }
}

TEST(NodeAccounts, APathOfTheFabricExplainsNoNode) {
  const Suspect path{.path = "uplink leaf1", .rule = "pair", .evidence = "low"};
  EXPECT_EQ(account_of("h1", {verdict({"h1"}, Outcome::Fail)}, {path}).state, NodeState::Suspect);
  EXPECT_EQ(account_of("h1", {verdict({"h1"}, Outcome::Pass)}, {path}).state, NodeState::Good);
}

TEST(NodeAccounts, WhatIsSaidOfAllIsNoMeasurementOfOne) {
  CheckResult fleet = verdict({"h1", "h2", "h3"}, Outcome::Pass);
  fleet.instance = kFleet;
  const std::vector<CheckResult> verdicts{verdict({"h1", "h2"}, Outcome::Pass),
                                          verdict({"h1", "h3"}, Outcome::Error), fleet};
  // h3 has no value of its own: it explains the ERROR of h1.
  EXPECT_EQ(account_of("h1", verdicts).evidence,
            "1 of 2 verdicts good, the others are explained by h3");
  EXPECT_EQ(account_of("h3", verdicts).state, NodeState::NoData);
}

TEST(NodeAccounts, TheFirstThatSaysSoIsTheEvidenceOfANodeThatDoesNotAnswer) {
  std::vector<CheckResult> verdicts(4, verdict({"h1", "h2"}, Outcome::Error));
  const char* rules[] = {"a", "b", "c", "d"};
  for (std::size_t i = 0; i < 4; ++i) verdicts[i].rule = rules[i];
  verdicts[1].reason = verdicts[2].reason = "h1 does not answer";
  verdicts[1].unreachable = verdicts[2].unreachable = "h1";
  EXPECT_EQ(account_of("h1", verdicts).evidence, "b on x: h1 does not answer");
  EXPECT_EQ(account_of("h2", verdicts).evidence, "a on x: why");
}

}  // namespace
}  // namespace busbar::judge

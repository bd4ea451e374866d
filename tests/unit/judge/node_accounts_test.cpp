// SPDX-License-Identifier: BSD-3-Clause
#include "judge/node_accounts.hpp"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/judge/judge_case.hpp"

namespace busbar::judge {
namespace {

using ::testing::HasSubstr;

/// All pairs of h1 to h4 at 450 GB/s, but for those that `value` changes.
template <class Value>
JudgeCase pairs(Value value) {
  JudgeCase one(SetKind::Pairwise);
  one.nodes = {"h1", "h2", "h3", "h4"};
  for (std::size_t i = 0; i < one.nodes.size(); ++i) {
    for (std::size_t j = i + 1; j < one.nodes.size(); ++j) {
      one.steady({one.nodes[i], one.nodes[j]}, value(one.nodes[i], one.nodes[j]));
    }
  }
  return one;
}

/// The states in the order of the nodes: "good failed good good".
std::string states(const Acceptance& acceptance) {
  std::string words;
  for (const NodeAccount& account : acceptance.nodes) {
    words += (words.empty() ? "" : " ") + std::string(name(account.state));
  }
  const bool all_good =
      std::all_of(acceptance.nodes.begin(), acceptance.nodes.end(),
                  [](const NodeAccount& account) { return account.state == NodeState::Good; });
  EXPECT_FALSE(all_good && acceptance.overall() >= Outcome::Inconclusive);
  return words;
}

TEST(NodeAccounts, NoNodeIsGoodWhereEveryPairFailsAsTooGood) {
  const Acceptance acceptance = pairs([](auto&, auto&) { return 900.0; }).judged();
  EXPECT_TRUE(acceptance.suspects.empty());
  EXPECT_EQ(states(acceptance), "suspect suspect suspect suspect");
  EXPECT_THAT(acceptance.nodes[0].evidence, HasSubstr("floor on h1+h2: too good"));
  EXPECT_THAT(acceptance.nodes[0].evidence, HasSubstr("(and 2 more FAIL)"));
}

TEST(NodeAccounts, TwoNodesOfOnePairThatIsTooGoodAreSuspect) {
  const auto value = [](const std::string& a, const std::string& b) {
    return a == "h2" && b == "h4" ? 900.0 : 450.0;
  };
  EXPECT_EQ(states(pairs(value).judged()), "good suspect good suspect");
}

TEST(NodeAccounts, PartnersOfABlamedNodeAreGood) {
  const auto value = [](const std::string& a, const std::string& b) {
    return a == "h3" || b == "h3" ? 100.0 : 450.0;
  };
  const Acceptance acceptance = pairs(value).judged();
  EXPECT_EQ(states(acceptance), "good good failed good");
  EXPECT_EQ(acceptance.nodes[0].evidence, "2 of 3 verdicts good, the others are explained by h3");
}

TEST(NodeAccounts, BothNodesOfABlamedLinkAreSuspectAndNoOther) {
  const auto value = [](const std::string& a, const std::string& b) {
    return a == "h1" && b == "h4" ? 100.0 : 450.0;
  };
  EXPECT_EQ(states(pairs(value).judged()), "suspect good good suspect");
}

/// Every node passes alone; all together, 32 ranks, have 100 GB/s.
JudgeCase with_slow_whole() {
  JudgeCase one;
  one.nodes = {"h1", "h2", "h3", "h4"};
  for (const std::string& node : one.nodes) one.steady({node}, 450);
  one.specification.device_sets.push_back(
      {.id = "all", .kind = SetKind::Whole, .ranks_per_node = 8});
  one.specification.expectations.push_back(one.specification.expectations[0]);
  one.specification.expectations[1].id = "whole";
  one.specification.expectations[1].device_set = "all";
  for (int launch = 0; launch < 3; ++launch) {
    one.launch(one.nodes, 100, launch).device_set = "all";
    one.observations.back().instance = "all";
  }
  return one;
}

TEST(NodeAccounts, NoNodeIsGoodWhereAllTogetherFail) {
  EXPECT_EQ(states(with_slow_whole().judged()), "suspect suspect suspect suspect");
}

TEST(NodeAccounts, ABlamedNodeExplainsThatAllTogetherFail) {
  JudgeCase one = with_slow_whole();
  for (Observation& o : one.observations) {
    if (o.instance == "h2") o.records[0].busbw_GBps = 200;
  }
  EXPECT_EQ(states(one.judged()), "good failed good good");
}

TEST(NodeAccounts, NoNodeIsGoodAfterARunThatWasInterrupted) {
  JudgeCase one = pairs([](auto&, auto&) { return 450.0; });
  one.observations.resize(5);  // h1+h2 is whole, h1+h3 has two launches
  const Acceptance acceptance = one.judged();
  EXPECT_EQ(acceptance.count(Outcome::Pass), 1U);
  EXPECT_EQ(states(acceptance), "inconclusive inconclusive inconclusive no data");
}

TEST(NodeAccounts, ANodeThatGivesNoDataExplainsTheErrorsOfItsPartners) {
  JudgeCase one = pairs([](auto&, auto&) { return 450.0; });
  for (Observation& o : one.observations) {
    if (o.nodes[1] != "h4") continue;
    o.failure = "h4 does not answer";
    o.unreachable = "h4";
    o.records.clear();
  }
  const Acceptance acceptance = one.judged();
  EXPECT_EQ(states(acceptance), "good good good no data");
  EXPECT_EQ(acceptance.nodes[0].evidence, "2 of 3 verdicts good, the others are explained by h4");
}

TEST(NodeAccounts, APairWithoutDataLeavesBothInconclusive) {
  JudgeCase one = pairs([](auto&, auto&) { return 450.0; });
  for (Observation& o : one.observations) {
    if (o.instance == "h1+h2") o.failure = "timeout after 120 s";
  }
  EXPECT_EQ(states(one.judged()), "inconclusive inconclusive good good");
}

TEST(NodeAccounts, NoNodeIsGoodInAFleetThatIsNotHomogeneous) {
  JudgeCase one;
  one.rule().compare = Comparison::Fleet;
  one.rule().bounds = {.fail_below = 0.5};
  one.rule().min_robust_z = 6;
  one.rule().max_fleet_mad = 0.05;
  one.nodes = {"h1", "h2", "h3", "h4"};
  double value = 400;
  for (const std::string& node : one.nodes) one.steady({node}, value += 100);
  const Acceptance acceptance = one.judged();
  EXPECT_EQ(acceptance.overall(), Outcome::Fail);
  EXPECT_TRUE(acceptance.suspects.empty());
  EXPECT_EQ(states(acceptance), "suspect suspect suspect suspect");
  EXPECT_THAT(acceptance.nodes[0].evidence, HasSubstr("floor on fleet: fleet not homogeneous"));
}

/// A verdict of rule "pair" on these nodes, with a value but for ERROR and SKIP.
CheckResult verdict(const std::vector<std::string>& nodes, Outcome outcome) {
  CheckResult one{
      .rule = "pair", .instance = "x", .nodes = nodes, .outcome = outcome, .reason = "why"};
  if (outcome != Outcome::Error && outcome != Outcome::Skip) one.value = 1;
  return one;
}

NodeAccount account_of(const std::string& node, const std::vector<CheckResult>& verdicts,
                       const std::vector<Suspect>& suspects = {},
                       const std::vector<Cleared>& cleared = {}) {
  const std::vector<std::string> nodes{"h1", "h2", "h3"};
  for (const NodeAccount& account : accounts_of(nodes, verdicts, suspects, cleared)) {
    if (account.node == node) return account;
  }
  ADD_FAILURE() << node;
  return {};
}

struct WordCase {
  std::vector<Outcome> words{};  ///< of what h1 took part in
  NodeState state = NodeState::Good;
  std::string evidence{};
};

class AccountOfWords : public testing::TestWithParam<WordCase> {};

TEST_P(AccountOfWords, IsOfTheWorst) {
  std::vector<CheckResult> verdicts;
  for (const Outcome outcome : GetParam().words) verdicts.push_back(verdict({"h1", "h2"}, outcome));
  const NodeAccount account = account_of("h1", verdicts);
  EXPECT_EQ(name(account.state), name(GetParam().state));
  EXPECT_EQ(account.evidence, GetParam().evidence);
}

INSTANTIATE_TEST_SUITE_P(
    NodeAccounts, AccountOfWords,
    testing::Values(
        WordCase{{Outcome::Pass}, NodeState::Good, "1 of 1 verdicts good"},
        WordCase{{Outcome::Known}, NodeState::Good, "1 of 1 verdicts good"},
        WordCase{{Outcome::Known, Outcome::Warn, Outcome::Skip},
                 NodeState::Good,
                 "2 of 3 verdicts good"},
        WordCase{{Outcome::Skip}, NodeState::Inconclusive, "all was skipped"},
        WordCase{{Outcome::Skip, Outcome::Error}, NodeState::NoData, "pair on x: why"},
        WordCase{{}, NodeState::NoData, "no rule measured it"},
        WordCase{{Outcome::Pass, Outcome::Inconclusive}, NodeState::Inconclusive, "pair on x: why"},
        WordCase{{Outcome::Pass, Outcome::Error}, NodeState::Inconclusive, "pair on x: why"},
        WordCase{{Outcome::Fail, Outcome::Inconclusive}, NodeState::Suspect, "pair on x: why"},
        WordCase{{Outcome::Inconclusive, Outcome::Inconclusive, Outcome::Fail},
                 NodeState::Suspect,
                 "pair on x: why"},
        WordCase{
            {Outcome::Fail, Outcome::Fail}, NodeState::Suspect, "pair on x: why (and 1 more FAIL)"},
        WordCase{{Outcome::Error, Outcome::Inconclusive, Outcome::Error, Outcome::Pass},
                 NodeState::Inconclusive,
                 "pair on x: why (and 1 more ERROR)"}));

TEST(NodeAccounts, OnlyABlamedNodeExplainsAFail) {
  const std::vector<CheckResult> verdicts{verdict({"h1", "h2"}, Outcome::Fail),
                                          verdict({"h1"}, Outcome::Pass)};
  const Suspect bad{.nodes = {"h2"}, .rule = "pair", .evidence = "low"};
  EXPECT_EQ(account_of("h1", verdicts, {bad}).state, NodeState::Good);
  EXPECT_EQ(account_of("h1", verdicts, {}, {{.suspect = bad}}).state, NodeState::Suspect);
  std::vector<CheckResult> inconclusive = verdicts;
  inconclusive[0].outcome = Outcome::Inconclusive;
  EXPECT_EQ(account_of("h1", inconclusive, {}, {{.suspect = bad}}).state, NodeState::Good);
}

TEST(NodeAccounts, ANodeWithNothingGoodIsNotGoodThoughAnotherExplainsIt) {
  const Suspect bad{.nodes = {"h2"}, .rule = "pair", .evidence = "low"};
  EXPECT_EQ(account_of("h1", {verdict({"h1", "h2"}, Outcome::Fail)}, {bad}).state,
            NodeState::Inconclusive);
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

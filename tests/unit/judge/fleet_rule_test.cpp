// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judge/rule_check.hpp"
#include "tests/unit/judge/judge_case.hpp"

namespace busbar::judge {
namespace {

using ::testing::HasSubstr;

/// Healthy pairs, of 99 to 101 GB/s.
double healthy(std::size_t i, std::size_t j) {
  return 99 + static_cast<double>((i * 7 + j * 3) % 5) / 2;
}

/// Healthy but for the pairs of these nodes.
PairFunction slow_with(std::vector<std::size_t> bad, double value) {
  return [bad = std::move(bad), value](std::size_t i, std::size_t j) {
    const auto is = [&](std::size_t node) { return std::ranges::count(bad, node) > 0; };
    return is(i) || is(j) ? value : healthy(i, j);
  };
}

TEST(FleetRule, BadNodesAndLinksAreNamedAndTheOthersAreGood) {
  const PairFunction quarter = [](std::size_t i, std::size_t j) {
    return i < 2 || j < 2 ? 70.0 + static_cast<double>(j) : healthy(i, j);
  };
  const PairFunction link = [](std::size_t i, std::size_t j) {
    return i == 0 && j == 4 ? 50.0 : healthy(i, j);
  };
  constexpr auto kFleetRule = RuleKind::Fleet;
  constexpr auto kAbsolute = RuleKind::Absolute;
  struct Case {
    std::size_t count = 0;
    PairFunction value{};
    RuleKind compare = kFleetRule;
    std::vector<Names> suspects{};
    std::string states{};
  };
  const std::string third = "good good failed good good good good";
  for (const Case& one :
       {Case{6, healthy, kFleetRule, {}, "good good good good good good"},
        Case{7, slow_with({2}, 17), kFleetRule, {{"h3"}}, third},
        Case{7, slow_with({2}, 17), kAbsolute, {{"h3"}}, third},
        Case{4, slow_with({0, 3}, 20), kFleetRule, {{"h1"}, {"h4"}}, "failed good good failed"},
        Case{4, slow_with({0, 3}, 20), kAbsolute, {{"h1"}, {"h4"}}, "failed good good failed"},
        Case{8,
             quarter,
             kFleetRule,
             {{"h1"}, {"h2"}},
             "failed failed good good good good good good"},
        Case{6, link, kFleetRule, {{"h1", "h5"}}, "suspect good good good suspect good"}}) {
    const Acceptance acceptance = pairs_case(one.count, one.compare, one.value).judged();
    EXPECT_EQ(acceptance.overall(), one.suspects.empty() ? Outcome::Pass : Outcome::Fail);
    EXPECT_EQ(nodes_of(acceptance.suspects), one.suspects);
    EXPECT_EQ(states(acceptance), one.states);
    const bool fleet = one.compare == kFleetRule;
    EXPECT_EQ(acceptance.verdicts.size(), one.count * (one.count - 1) / 2 + (fleet ? 1 : 0));
  }
}

TEST(FleetRule, RowsAndFleetHaveOneReference) {
  const Acceptance acceptance = pairs_case(7, RuleKind::Fleet, slow_with({2}, 17)).judged();
  const CheckResult& fleet = acceptance.verdicts.back();
  ASSERT_EQ(fleet.instance, "fleet");
  EXPECT_EQ(fleet.reference_kind, "fleet median without h3");
  for (const CheckResult& verdict : acceptance.verdicts) {
    if (verdict.of_fleet()) continue;
    EXPECT_EQ(verdict.reference, fleet.value) << verdict.instance;
    EXPECT_EQ(verdict.reference_kind, fleet.reference_kind);
  }
}

TEST(FleetRule, ARowWithoutItsLaunchesHasTheFleetsReferenceToo) {
  JudgeCase one = pairs_case(6, RuleKind::Fleet, healthy);
  one.observations.pop_back();
  const Acceptance acceptance = one.judged();
  const CheckResult& few = acceptance.verdicts[14];
  EXPECT_EQ(few.outcome, Outcome::Inconclusive);
  EXPECT_EQ(few.reference, acceptance.verdicts.back().value);
  EXPECT_THAT(few.reason, HasSubstr("2 launches where 3 are needed; "));
  EXPECT_THAT(few.reason, HasSubstr("within the bounds"));
}

TEST(FleetRule, ANoisyPairOfTwoBadNodesAcquitsNeither) {
  // The bad nodes are the last ones, so that the order of the names does not decide.
  JudgeCase one = pairs_case(4, RuleKind::Absolute, slow_with({1, 3}, 20));
  one.row(3 * 4 + 1).busbw_GBps = 60;  // a launch of h2+h4
  EXPECT_EQ(one.judged().count(Outcome::Inconclusive), 1U);
  EXPECT_EQ(states(one.judged()), "good failed good failed");
}

TEST(FleetRule, AnAllBadFleetPassesTheFleetRuleButNotTheFloor) {
  const PairFunction bad = [](std::size_t i, std::size_t j) { return healthy(i, j) / 5; };
  EXPECT_EQ(pairs_case(5, RuleKind::Fleet, bad).overall(), Outcome::Pass);
  const Acceptance acceptance = pairs_case(5, RuleKind::Absolute, bad).judged();
  EXPECT_EQ(acceptance.count(Outcome::Fail), 10U);
  ASSERT_EQ(acceptance.suspects.size(), 1U);
  EXPECT_THAT(acceptance.suspects[0].evidence, HasSubstr("no node stands out"));
  EXPECT_EQ(states(acceptance), "suspect suspect suspect suspect suspect");
}

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

TEST(FleetRule, AMissingPairIsAnErrorAndNotLow) {
  JudgeCase one = pairs_case(5, RuleKind::Fleet, healthy);
  std::erase_if(one.observations, [](const Observation& o) { return o.instance == "h1+h2"; });
  const Acceptance acceptance = one.judged();
  EXPECT_EQ(acceptance.verdicts.at(0).outcome, Outcome::Error);
  EXPECT_TRUE(acceptance.suspects.empty());
  EXPECT_EQ(states(acceptance), "inconclusive inconclusive good good good");
}

/// A bad h1, and its confirmations with h3 at these values, changed.
JudgeCase confirmed_case(const std::vector<double>& values,
                         const std::function<void(Observation&)>& change = {}) {
  JudgeCase one = pairs_case(4, RuleKind::Absolute, slow_with({0}, 20));
  one.rule().confirm_repeats = 2;
  int number = 0;
  for (const double value : values) {
    Observation& o = one.launch({"h1", "h3"}, value, number++);
    o.purpose = Purpose::Confirm;
    if (change) change(o);
  }
  return one;
}

TEST(FleetRule, ASuspectThatIsLowAgainAtLeastOnceIsConfirmed) {
  for (const auto& values : {std::vector<double>{21, 21}, {100, 21}, {21, 100}}) {
    const Acceptance acceptance = confirmed_case(values).judged();
    EXPECT_EQ(states(acceptance), "failed good good good");
    EXPECT_TRUE(acceptance.suspects.at(0).confirmed);
  }
}

TEST(FleetRule, ASuspectThatIsGoodAgainIsInconclusive) {
  const Acceptance acceptance = confirmed_case({100, 100}).judged();
  EXPECT_TRUE(acceptance.suspects.empty());
  EXPECT_EQ(acceptance.overall(), Outcome::Inconclusive);
  EXPECT_THAT(acceptance.verdicts.at(0).reason, HasSubstr("low once, good with h3 again"));
  EXPECT_EQ(states(acceptance), "inconclusive good good good");
}

TEST(FleetRule, AConfirmationIsLowBeyondTheBoundsOnly) {
  // 90 % of 100 GB/s is not below the bound of 90 %, nor 105 % above that of 105 %.
  for (const auto& [value, outcome] : {std::pair{89.9, Outcome::Fail},
                                       {90, Outcome::Inconclusive},
                                       {105, Outcome::Inconclusive},
                                       {105.1, Outcome::Fail}}) {
    JudgeCase one = confirmed_case({value, value});
    one.rule().bounds.fail_above = 1.05;
    EXPECT_EQ(one.overall(), outcome) << value;
  }
}

TEST(FleetRule, AConfirmationOfAnotherSetOrNodeOrThatDidNotGoWellProvesNothing) {
  const auto status = [](RowStatus to) {
    return [to](Observation& o) { o.records[0].status = to; };
  };
  for (const std::function<void(Observation&)>& change :
       {std::function<void(Observation&)>([](auto& o) { o.device_set = "other"; }),
        {[](auto& o) {
          o.nodes = Names{"h2", "h3"};
        }},
        {status(RowStatus::Failed)},
        {status(RowStatus::Skipped)},
        {status(RowStatus::Wrong)}}) {
    const Acceptance acceptance = confirmed_case({100, 100}, change).judged();
    EXPECT_EQ(acceptance.overall(), Outcome::Fail);
    ASSERT_EQ(acceptance.suspects.size(), 1U);
    EXPECT_FALSE(acceptance.suspects[0].confirmed);
  }
}

TEST(FleetRule, AConfirmationIsOfTheSizesThatWereLow) {
  // h1 is low at 1 MiB; measured again it is good there, and low at 2 MiB.
  JudgeCase one = confirmed_case({});
  one.rule().sizes = {kMiB, 2 * kMiB};
  Observation& again = one.launch({"h1", "h3"}, 100);
  again.purpose = Purpose::Confirm;
  again.records[1].busbw_GBps = 20;
  for (Observation& o : one.observations) {
    if (o.records.size() > 1) continue;
    o.records.push_back(o.records[0]);
    o.records[1].size = 2 * kMiB;
    o.records[1].busbw_GBps = 100;
  }
  EXPECT_EQ(one.overall(), Outcome::Inconclusive);
}

TEST(FleetRule, AClearedNodeLeavesItsGoodPairsAndThoseOfAnotherBadNode) {
  // h1 is low with h2 to h5, and good with h6; h2 is low with all. h1 alone is good again.
  JudgeCase one = pairs_case(6, RuleKind::Absolute, [](std::size_t i, std::size_t j) {
    return i == 1 || (i == 0 && j < 5) ? 20.0 : healthy(i, j);
  });
  one.launch({"h1", "h3"}, 100).purpose = Purpose::Confirm;
  one.launch({"h2", "h3"}, 20).purpose = Purpose::Confirm;
  const Acceptance acceptance = one.judged();
  const auto outcome_of = [&](const std::string& instance) {
    for (const CheckResult& verdict : acceptance.verdicts) {
      if (verdict.instance == instance) return verdict.outcome;
    }
    return Outcome::Error;
  };
  EXPECT_EQ(outcome_of("h1+h3"), Outcome::Inconclusive);
  EXPECT_EQ(outcome_of("h1+h6"), Outcome::Pass);
  EXPECT_EQ(outcome_of("h1+h2"), Outcome::Fail) << "h2 explains it";
  EXPECT_EQ(outcome_of("h2+h3"), Outcome::Fail);
  EXPECT_TRUE(states(acceptance).starts_with("inconclusive failed "));
}

TEST(FleetRule, WrongDataOfAPairAreNeverCleared) {
  JudgeCase one = confirmed_case({100, 100});
  one.observations[0].records[0].wrong = 1;
  EXPECT_EQ(one.overall(), Outcome::Fail);
}

/// Groups of nodes that are divided, as no pairs are measured of so many.
JudgeCase divided_case(std::size_t count, int all_pairs_up_to) {
  JudgeCase one(SetKind::Pairwise);
  one.set().all_pairs_up_to = all_pairs_up_to;
  one.nodes = names(count);
  one.rule().value = 100;
  one.rule().bounds = {.fail_below = 0.9};
  one.steady({"h1", "h2", "h3"}, 50);
  return one;
}

TEST(FleetRule, GroupsOfABisectedSetNameTheBadNode) {
  JudgeCase one = divided_case(6, 4);
  one.steady({"h4", "h5"}, 100);
  one.steady({"h1", "h2"}, 100);
  one.steady({"h3", "h4"}, 50);
  EXPECT_EQ(states(one.judged()), "good good failed good good no data");
  EXPECT_EQ(one.judged().count(Outcome::Error), 1U) << "no group had h6";
}

TEST(FleetRule, AGroupThatCannotBeDividedIsSuspectAsAWhole) {
  JudgeCase one = divided_case(4, 2);
  one.steady({"h3", "h4"}, 100);
  EXPECT_EQ(nodes_of(one.judged().suspects), std::vector<Names>({{"h1", "h2"}}));
  EXPECT_EQ(states(one.judged()), "suspect suspect good good");
}

}  // namespace
}  // namespace busbar::judge

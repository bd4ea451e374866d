// SPDX-License-Identifier: BSD-3-Clause
#include "judge/fleet_rule.hpp"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/judge/judge_case.hpp"

namespace busbar::judge {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> names(std::size_t count) {
  std::vector<std::string> nodes;
  for (std::size_t i = 1; i <= count; ++i) nodes.push_back("h" + std::to_string(i));
  return nodes;
}

using PairFunction = std::function<double(std::size_t, std::size_t)>;

/// All pairs of `count` nodes, three equal launches each.
JudgeCase pairs_case(std::size_t count, Comparison compare, const PairFunction& value) {
  JudgeCase one(SetKind::Pairwise);
  one.nodes = names(count);
  one.rule().id = "pairs";
  one.rule().compare = compare;
  one.rule().value = 100;
  one.rule().bounds = {.fail_below = 0.9};
  one.rule().min_robust_z = 6;
  one.rule().max_fleet_mad = 0.05;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = i + 1; j < count; ++j) {
      one.steady({one.nodes[i], one.nodes[j]}, value(i, j));
    }
  }
  return one;
}

/// Healthy pairs, of 99 to 101 GB/s.
double healthy(std::size_t i, std::size_t j) {
  return 99 + static_cast<double>((i * 7 + j * 3) % 5) / 2;
}

NodeState state_of(const Acceptance& acceptance, const std::string& node) {
  for (const NodeAccount& account : acceptance.nodes) {
    if (account.node == node) return account.state;
  }
  ADD_FAILURE() << node << " is not accounted for";
  return NodeState::NoData;
}

TEST(FleetRule, AHealthyFleetPassesAndEveryNodeIsGood) {
  const JudgeCase one = pairs_case(6, Comparison::Fleet, healthy);
  const Acceptance acceptance = one.judged();
  EXPECT_EQ(acceptance.overall(), Outcome::Pass);
  EXPECT_EQ(acceptance.verdicts.size(), 16U) << "15 pairs and the fleet";
  EXPECT_EQ(acceptance.verdicts.back().instance, "fleet");
  for (const std::string& node : names(6)) EXPECT_EQ(state_of(acceptance, node), NodeState::Good);
}

TEST(FleetRule, OneBadNodeIsNamedAndTheOthersAreGood) {
  for (const Comparison compare : {Comparison::Fleet, Comparison::Absolute}) {
    const JudgeCase one = pairs_case(7, compare, [](std::size_t i, std::size_t j) {
      return i == 2 || j == 2 ? 17.0 : healthy(i, j);
    });
    const Acceptance acceptance = one.judged();
    EXPECT_EQ(acceptance.overall(), Outcome::Fail);
    ASSERT_EQ(acceptance.suspects.size(), 1U);
    EXPECT_EQ(acceptance.suspects[0].nodes, std::vector<std::string>{"h3"});
    EXPECT_THAT(acceptance.suspects[0].evidence, HasSubstr("6 of 6 pairs low, median 17 GB/s"));
    EXPECT_EQ(state_of(acceptance, "h3"), NodeState::Failed);
    EXPECT_EQ(state_of(acceptance, "h1"), NodeState::Good);
  }
}

TEST(FleetRule, RowsAndFleetHaveOneReference) {
  const JudgeCase one = pairs_case(7, Comparison::Fleet, [](std::size_t i, std::size_t j) {
    return i == 2 || j == 2 ? 17.0 : healthy(i, j);
  });
  const Acceptance acceptance = one.judged();
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
  JudgeCase one = pairs_case(6, Comparison::Fleet, healthy);
  one.observations.pop_back();
  const Acceptance acceptance = one.judged();
  const CheckResult& few = acceptance.verdicts[14];
  EXPECT_EQ(few.outcome, Outcome::Inconclusive);
  EXPECT_EQ(few.reference, acceptance.verdicts.back().value);
  EXPECT_THAT(few.reason, HasSubstr("2 launches where 3 are needed; "));
  EXPECT_THAT(few.reason, HasSubstr("within the bounds"));
}

TEST(FleetRule, OneBadLinkIsALinkAndItsNodesAreSuspects) {
  const JudgeCase one = pairs_case(6, Comparison::Fleet, [](std::size_t i, std::size_t j) {
    return i == 0 && j == 4 ? 50.0 : healthy(i, j);
  });
  const Acceptance acceptance = one.judged();
  ASSERT_EQ(acceptance.suspects.size(), 1U);
  EXPECT_EQ(acceptance.suspects[0].nodes, (std::vector<std::string>{"h1", "h5"}));
  EXPECT_EQ(state_of(acceptance, "h1"), NodeState::Suspect);
  EXPECT_EQ(state_of(acceptance, "h5"), NodeState::Suspect);
  EXPECT_EQ(state_of(acceptance, "h2"), NodeState::Good);
}

TEST(FleetRule, TwoBadNodesOfFourAreBothNamed) {
  for (const Comparison compare : {Comparison::Fleet, Comparison::Absolute}) {
    const JudgeCase one = pairs_case(4, compare, [](std::size_t i, std::size_t j) {
      return i == 0 || j == 0 || i == 3 || j == 3 ? 20.0 : 100.0;
    });
    const Acceptance acceptance = one.judged();
    EXPECT_EQ(state_of(acceptance, "h1"), NodeState::Failed);
    EXPECT_EQ(state_of(acceptance, "h4"), NodeState::Failed);
    EXPECT_EQ(state_of(acceptance, "h2"), NodeState::Good);
  }
}

TEST(FleetRule, ANoisyPairOfTwoBadNodesAcquitsNeither) {
  // The bad nodes are the last ones, so that the order of the names does not decide.
  JudgeCase one = pairs_case(4, Comparison::Absolute, [](std::size_t i, std::size_t j) {
    return i == 1 || j == 1 || i == 3 || j == 3 ? 20.0 : 100.0;
  });
  for (Observation& launch : one.observations) {
    if (launch.instance == "h2+h4" && launch.launch == 1) launch.records[0].busbw_GBps = 60;
  }
  const Acceptance acceptance = one.judged();
  EXPECT_EQ(acceptance.count(Outcome::Inconclusive), 1U);
  EXPECT_EQ(state_of(acceptance, "h1"), NodeState::Good);
  EXPECT_EQ(state_of(acceptance, "h2"), NodeState::Failed);
  EXPECT_EQ(state_of(acceptance, "h3"), NodeState::Good);
  EXPECT_EQ(state_of(acceptance, "h4"), NodeState::Failed);
}

TEST(FleetRule, AnAllBadFleetPassesTheFleetRuleButNotTheFloor) {
  const PairFunction bad = [](std::size_t i, std::size_t j) { return healthy(i, j) / 5; };
  EXPECT_EQ(pairs_case(5, Comparison::Fleet, bad).judged().overall(), Outcome::Pass);
  const Acceptance acceptance = pairs_case(5, Comparison::Absolute, bad).judged();
  EXPECT_EQ(acceptance.count(Outcome::Fail), 10U);
  ASSERT_EQ(acceptance.suspects.size(), 1U);
  EXPECT_THAT(acceptance.suspects[0].evidence, HasSubstr("no node stands out"));
  EXPECT_EQ(state_of(acceptance, "h1"), NodeState::Suspect);
}

TEST(FleetRule, AQuarterOfBadNodesDoesNotHideThem) {
  const JudgeCase one = pairs_case(8, Comparison::Fleet, [](std::size_t i, std::size_t j) {
    return i < 2 || j < 2 ? 70.0 + static_cast<double>(j) : healthy(i, j);
  });
  const Acceptance acceptance = one.judged();
  EXPECT_EQ(acceptance.overall(), Outcome::Fail);
  EXPECT_EQ(state_of(acceptance, "h1"), NodeState::Failed);
  EXPECT_EQ(state_of(acceptance, "h2"), NodeState::Failed);
  EXPECT_EQ(state_of(acceptance, "h8"), NodeState::Good);
}

TEST(FleetRule, AScatteredFleetIsNotHomogeneous) {
  const JudgeCase one = pairs_case(6, Comparison::Fleet, [](std::size_t i, std::size_t j) {
    return 60.0 + static_cast<double>((i * 11 + j * 17) % 7) * 10;
  });
  const CheckResult fleet = one.judged().verdicts.back();
  EXPECT_EQ(fleet.instance, "fleet");
  EXPECT_EQ(fleet.outcome, Outcome::Fail);
  EXPECT_THAT(fleet.reason, HasSubstr("fleet not homogeneous: raw MAD/median"));
}

TEST(FleetRule, TwoValuesAreNoFleet) {
  JudgeCase one;
  one.rule().compare = Comparison::Fleet;
  one.steady({"h1"}, 100);
  one.steady({"h2"}, 10);
  EXPECT_EQ(one.judged().overall(), Outcome::Inconclusive);
  EXPECT_EQ(one.judged().count(Outcome::Inconclusive), 3U);
}

TEST(FleetRule, ASlowMemberOfAFleetOfNodesFails) {
  JudgeCase one;
  one.rule().compare = Comparison::Fleet;
  one.rule().bounds = {.fail_below = 0.9};
  one.rule().min_robust_z = 6;
  one.rule().max_fleet_mad = 0.05;
  int step = 0;
  for (const std::string& node : names(5)) one.steady({node}, node == "h4" ? 70 : 100 + step++);
  const Acceptance acceptance = one.judged();
  EXPECT_EQ(state_of(acceptance, "h4"), NodeState::Failed);
  EXPECT_EQ(state_of(acceptance, "h5"), NodeState::Good);
}

TEST(FleetRule, AMissingPairIsAnErrorAndNotLow) {
  JudgeCase one = pairs_case(5, Comparison::Fleet, healthy);
  std::erase_if(one.observations, [](const Observation& o) { return o.instance == "h1+h2"; });
  const Acceptance acceptance = one.judged();
  EXPECT_EQ(acceptance.verdicts.at(0).outcome, Outcome::Error);
  EXPECT_TRUE(acceptance.suspects.empty());
  EXPECT_EQ(state_of(acceptance, "h1"), NodeState::Inconclusive);
  EXPECT_EQ(state_of(acceptance, "h3"), NodeState::Good);
}

/// A bad h1, and its confirmations with h3 at these values.
JudgeCase confirmed_case(std::initializer_list<double> values) {
  JudgeCase one = pairs_case(4, Comparison::Absolute, [](std::size_t i, std::size_t j) {
    return i == 0 ? 20.0 : healthy(i, j);
  });
  one.rule().confirm_repeats = 2;
  int number = 0;
  for (const double value : values) {
    one.launch({"h1", "h3"}, value, number++).purpose = Purpose::Confirm;
  }
  return one;
}

JudgeCase confirmed_case(double value) { return confirmed_case({value, value}); }

TEST(FleetRule, ASuspectThatIsLowAgainIsConfirmed) {
  const Acceptance acceptance = confirmed_case(21).judged();
  ASSERT_EQ(acceptance.suspects.size(), 1U);
  EXPECT_TRUE(acceptance.suspects[0].confirmed);
  EXPECT_EQ(acceptance.overall(), Outcome::Fail);
}

TEST(FleetRule, ASuspectThatIsGoodAgainIsInconclusive) {
  const Acceptance acceptance = confirmed_case(100).judged();
  EXPECT_TRUE(acceptance.suspects.empty());
  EXPECT_EQ(acceptance.overall(), Outcome::Inconclusive);
  EXPECT_THAT(acceptance.verdicts.at(0).reason, HasSubstr("low once, good with h3 again"));
  EXPECT_EQ(state_of(acceptance, "h1"), NodeState::Inconclusive);
  EXPECT_EQ(state_of(acceptance, "h2"), NodeState::Good);
}

TEST(FleetRule, ASuspectThatIsLowAgainOnceIsConfirmed) {
  for (const auto& values : {std::initializer_list<double>{100, 21}, {21, 100}}) {
    const Acceptance acceptance = confirmed_case(values).judged();
    EXPECT_EQ(acceptance.overall(), Outcome::Fail);
    EXPECT_EQ(state_of(acceptance, "h1"), NodeState::Failed);
    ASSERT_EQ(acceptance.suspects.size(), 1U);
    EXPECT_TRUE(acceptance.suspects[0].confirmed);
  }
}

TEST(FleetRule, AConfirmationIsLowBeyondTheBoundsOnly) {
  // 90 % of 100 GB/s is not below the bound of 90 %, nor 105 % above that of 105 %.
  const auto outcome = [](double value) {
    JudgeCase one = confirmed_case(value);
    one.rule().bounds.fail_above = 1.05;
    return one.judged().overall();
  };
  EXPECT_EQ(outcome(89.9), Outcome::Fail);
  EXPECT_EQ(outcome(90), Outcome::Inconclusive);
  EXPECT_EQ(outcome(105), Outcome::Inconclusive);
  EXPECT_EQ(outcome(105.1), Outcome::Fail);
}

TEST(FleetRule, AConfirmationIsOfItsDeviceSetAndOfAllItsSuspects) {
  JudgeCase other_set = confirmed_case(100);
  for (Observation& o : other_set.observations) {
    if (o.purpose == Purpose::Confirm) o.device_set = "other";
  }
  EXPECT_EQ(other_set.judged().overall(), Outcome::Fail);
  JudgeCase other_nodes = confirmed_case(100);
  for (Observation& o : other_nodes.observations) {
    if (o.purpose == Purpose::Confirm) o.nodes = {"h2", "h3"};
  }
  EXPECT_EQ(other_nodes.judged().overall(), Outcome::Fail);
}

TEST(FleetRule, AConfirmationThatDidNotGoWellTellsNothing) {
  for (const RowStatus status : {RowStatus::Failed, RowStatus::Skipped, RowStatus::Wrong}) {
    JudgeCase one = confirmed_case(100);
    for (Observation& o : one.observations) {
      if (o.purpose == Purpose::Confirm) o.records[0].status = status;
    }
    EXPECT_EQ(one.judged().overall(), Outcome::Fail);
    ASSERT_EQ(one.judged().suspects.size(), 1U);
    EXPECT_FALSE(one.judged().suspects[0].confirmed);
  }
}

TEST(FleetRule, AConfirmationIsOfTheSizesThatWereLow) {
  JudgeCase one(SetKind::Pairwise);
  one.nodes = names(3);
  one.rule().sizes = {kMiB, 2 * kMiB};
  one.rule().value = 100;
  one.rule().bounds = {.fail_below = 0.9};
  one.steady({"h1", "h2"}, 100);
  one.steady({"h1", "h3"}, 100);
  one.steady({"h2", "h3"}, 100);
  // h1 is low at 1 MiB; measured again it is good there, and low at 2 MiB.
  for (Observation& o : one.observations) {
    if (o.nodes[0] == "h1") o.records[0].busbw_GBps = 20;
  }
  Observation& again = one.launch({"h1", "h3"}, 100);
  again.purpose = Purpose::Confirm;
  again.records[1].busbw_GBps = 20;
  EXPECT_EQ(one.judged().overall(), Outcome::Inconclusive);
}

TEST(FleetRule, AClearedNodeLeavesItsGoodPairsAndThoseOfAnotherBadNode) {
  // h1 is low with h2 to h5, and good with h6; h2 is low with all. h1 alone is good again.
  JudgeCase one = pairs_case(6, Comparison::Absolute, [](std::size_t i, std::size_t j) {
    return i == 1 || (i == 0 && j < 5) ? 20.0 : healthy(i, j);
  });
  one.launch({"h1", "h3"}, 100).purpose = Purpose::Confirm;
  one.launch({"h2", "h3"}, 20).purpose = Purpose::Confirm;
  const Acceptance acceptance = one.judged();
  const auto word_of = [&](const std::string& instance) {
    for (const CheckResult& verdict : acceptance.verdicts) {
      if (verdict.instance == instance) return verdict.outcome;
    }
    return Outcome::Error;
  };
  EXPECT_EQ(word_of("h1+h3"), Outcome::Inconclusive);
  EXPECT_EQ(word_of("h1+h6"), Outcome::Pass);
  EXPECT_EQ(word_of("h1+h2"), Outcome::Fail) << "h2 explains it";
  EXPECT_EQ(word_of("h2+h3"), Outcome::Fail);
  EXPECT_EQ(state_of(acceptance, "h1"), NodeState::Inconclusive);
  EXPECT_EQ(state_of(acceptance, "h2"), NodeState::Failed);
}

TEST(FleetRule, WrongDataOfAPairAreNeverCleared) {
  JudgeCase one = confirmed_case(100);
  one.observations[0].records[0].wrong = 1;
  EXPECT_EQ(one.judged().overall(), Outcome::Fail);
}

TEST(FleetRule, GroupsOfAHalvedSetTellTheBadNode) {
  JudgeCase one(SetKind::Pairwise);
  one.specification.device_sets[0].all_pairs_up_to = 4;
  one.nodes = names(6);
  one.rule().value = 100;
  one.rule().bounds = {.fail_below = 0.9};
  one.steady({"h1", "h2", "h3"}, 50);
  one.steady({"h4", "h5"}, 100);
  one.steady({"h1", "h2"}, 100);
  one.steady({"h3", "h4"}, 50);
  const Acceptance acceptance = one.judged();
  EXPECT_EQ(state_of(acceptance, "h3"), NodeState::Failed);
  EXPECT_EQ(state_of(acceptance, "h1"), NodeState::Good);
  EXPECT_EQ(state_of(acceptance, "h6"), NodeState::NoData);
  EXPECT_EQ(acceptance.count(Outcome::Error), 1U) << "no group had h6";
}

TEST(FleetRule, AGroupThatCannotBeDividedIsSuspectAsAWhole) {
  JudgeCase one(SetKind::Pairwise);
  one.specification.device_sets[0].all_pairs_up_to = 2;
  one.nodes = names(4);
  one.rule().value = 100;
  one.rule().bounds = {.fail_below = 0.9};
  one.steady({"h1", "h2", "h3"}, 50);
  one.steady({"h3", "h4"}, 100);
  const Acceptance acceptance = one.judged();
  ASSERT_EQ(acceptance.suspects.size(), 1U);
  EXPECT_EQ(acceptance.suspects[0].nodes, (std::vector<std::string>{"h1", "h2"}));
  EXPECT_EQ(state_of(acceptance, "h1"), NodeState::Suspect);
  EXPECT_EQ(state_of(acceptance, "h4"), NodeState::Good);
}

}  // namespace
}  // namespace busbar::judge

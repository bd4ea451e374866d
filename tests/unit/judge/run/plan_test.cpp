// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/plan.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "judge/rule_check.hpp"

namespace busbar::judge {
namespace {

using testing::ElementsAre;

const std::vector<std::string> kNodes{"h0", "h1", "h2", "h3"};
const std::vector<std::string> kThreeNodes{"h0", "h1", "h2"};

/// A rule for each of these sets; of several each has its kind as id.
Specification specification_of(std::vector<SetKind> kinds) {
  Specification specification;
  specification.run.launches = 2;
  specification.noise = {.on_noisy = OnNoisy::Rerun, .max_reruns = 2};
  for (const SetKind kind : kinds) {
    const std::string id = kinds.size() == 1 ? "set" : std::string(name(kind));
    specification.device_sets.push_back({.id = id, .kind = kind, .ranks_per_node = 2});
    specification.rules.push_back({.id = "rule",
                                   .collectives = {"alltoall"},
                                   .device_set = id,
                                   .sizes = {8},
                                   .confirm_repeats = 3});
  }
  return specification;
}

/// "h0+h1 0 attempt 1" of every job.
std::vector<std::string> names_of(const std::vector<Unit>& units) {
  std::vector<std::string> names;
  for (const Unit& unit : units) {
    for (const Job& job : unit) {
      names.push_back(job_name(job) + " " + std::to_string(job.launch) + " attempt " +
                      std::to_string(job.attempt));
    }
  }
  return names;
}

TEST(Shuffle, GivesTheSameOrderForASeedOnEveryMachine) {
  std::vector<int> numbers(8);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::mt19937_64 random(42);
  shuffle(numbers, random);
  EXPECT_THAT(numbers, ElementsAre(7, 0, 5, 1, 2, 4, 3, 6));
}

std::vector<Unit> planned(const std::vector<SetKind>& kinds, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  return plan_units(specification_of(kinds), kNodes, random);
}

TEST(PlanUnits, HasEveryPairInEveryLaunchAndNoNodeTwiceAtATime) {
  const std::vector<Unit> units = planned({SetKind::Pairwise});
  EXPECT_EQ(units.size(), 2U * 3U);
  std::map<std::string, std::set<int>> launches;
  for (const Unit& unit : units) {
    std::set<std::string> busy;
    for (const Job& job : unit) {
      launches[job_name(job)].insert(job.launch);
      for (const std::string& node : job.nodes()) EXPECT_TRUE(busy.insert(node).second);
    }
  }
  EXPECT_EQ(launches.size(), 6U);
  for (const auto& [name, all] : launches) EXPECT_EQ(all.size(), 2U) << name;
}

TEST(PlanUnits, IsTheSeedsOrder) {
  const auto plan = [](std::uint64_t seed) {
    return names_of(planned({SetKind::PerNode, SetKind::Pairwise, SetKind::Whole}, seed));
  };
  EXPECT_EQ(plan(5), plan(5));
  EXPECT_NE(plan(5), plan(6));
}

TEST(PlanUnits, MeasuresAllRailsInOneLaunchOfAllNodes) {
  const std::vector<Unit> units = planned({SetKind::Rails});
  ASSERT_EQ(units.size(), 2U);
  const Job& job = units.front().front();
  EXPECT_EQ(job.nodes(), kNodes);
  ASSERT_EQ(job.instances.size(), 2U);
  EXPECT_EQ(job.instances[1].name, "rail 1");
  EXPECT_EQ(job.instances[1].group, 1);
}

TEST(PlanUnits, LeavesLargeSetsOfPairsToTheSearch) {
  Specification specification = specification_of({SetKind::Pairwise});
  specification.device_sets[0].all_pairs_up_to = 3;
  std::mt19937_64 random(1);
  EXPECT_TRUE(plan_units(specification, kNodes, random).empty());
  EXPECT_FALSE(plan_units(specification, kThreeNodes, random).empty());
}

CheckResult noisy_verdict(const std::string& instance, std::size_t attempts) {
  return {.rule = "rule",
          .device_set = "set",
          .instance = instance,
          .collective = "alltoall",
          .outcome = Outcome::Inconclusive,
          .decided_by = DecidedBy::Noisy,
          .attempts = attempts};
}

std::vector<Unit> reruns(const Specification& specification, std::vector<CheckResult> verdicts) {
  Acceptance acceptance;
  acceptance.verdicts = std::move(verdicts);
  return rerun_units(specification, kThreeNodes, {}, acceptance);
}

TEST(RerunUnits, LaunchANoisyInstanceAsOftenAgain) {
  const std::vector<Unit> units =
      reruns(specification_of({SetKind::Pairwise}),
             {noisy_verdict("h0+h1", 1), noisy_verdict("h0+h1", 1), {.instance = "h0+h2"}});
  EXPECT_THAT(names_of(units), ElementsAre("h0+h1 0 attempt 1", "h0+h1 1 attempt 1"));
  EXPECT_EQ(units.front().front().purpose, Purpose::Rerun);
}

TEST(RerunUnits, EndWhenNoRerunIsLeftOrNoneIsWanted) {
  Specification specification = specification_of({SetKind::Pairwise});
  const auto units = [&](std::size_t attempts) {
    return reruns(specification, {noisy_verdict("h0+h1", attempts)}).size();
  };
  EXPECT_EQ(units(3), 0U);
  EXPECT_EQ(units(2), 2U);
  specification.noise.on_noisy = OnNoisy::Inconclusive;
  EXPECT_EQ(units(2), 0U);
}

TEST(RerunUnits, LaunchAllRailsOnceWhereSomeAreNoisy) {
  const std::vector<Unit> units = reruns(specification_of({SetKind::Rails}),
                                         {noisy_verdict("rail 0", 1), noisy_verdict("rail 1", 1)});
  ASSERT_EQ(units.size(), 2U);
  EXPECT_EQ(units.front().front().instances.size(), 2U);
}

Acceptance suspected(const std::vector<std::string>& nodes, NodeState others = NodeState::Good) {
  Acceptance acceptance;
  acceptance.suspects = {{.nodes = nodes, .rule = "rule"}};
  for (const std::string& node : kThreeNodes) {
    const bool blamed = std::find(nodes.begin(), nodes.end(), node) != nodes.end();
    acceptance.nodes.push_back({.node = node, .state = blamed ? NodeState::Failed : others});
  }
  return acceptance;
}

std::vector<Unit> confirmations(SetKind kind, const Acceptance& acceptance, int repeats = 3) {
  Specification specification = specification_of({kind});
  specification.rules.front().confirm_repeats = repeats;
  return confirm_units(specification, kThreeNodes, acceptance);
}

TEST(ConfirmUnits, MeasureANodeWithOneThatIsKnownToBeGood) {
  const std::vector<Unit> units = confirmations(SetKind::Pairwise, suspected({"h0"}));
  EXPECT_THAT(names_of(units),
              ElementsAre("h0+h1 0 attempt 0", "h0+h1 1 attempt 0", "h0+h1 2 attempt 0"));
  EXPECT_EQ(units.front().front().purpose, Purpose::Confirm);
}

TEST(ConfirmUnits, TakeAPartnerThatTheRuleFoundGoodWhereAnotherRuleIsUndecided) {
  Acceptance acceptance = suspected({"h0"}, NodeState::Inconclusive);
  EXPECT_TRUE(confirmations(SetKind::Pairwise, acceptance).empty());
  acceptance.verdicts = {{.rule = "rule", .nodes = {"h1", "h2"}, .outcome = Outcome::Pass}};
  EXPECT_EQ(names_of(confirmations(SetKind::Pairwise, acceptance)).size(), 3U);
}

TEST(ConfirmUnits, MeasureALinkOrANodeAloneOnceMore) {
  const Job link = confirmations(SetKind::Pairwise, suspected({"h2", "h1"})).front().front();
  EXPECT_EQ(link.instances.front().name, "h1+h2");
  const Job alone = confirmations(SetKind::PerNode, suspected({"h2"})).front().front();
  EXPECT_THAT(alone.nodes(), ElementsAre("h2"));
}

TEST(ConfirmUnits, AreNoneWithoutAGoodPartnerOrWhereNoneIsAskedFor) {
  EXPECT_TRUE(confirm_units(specification_of({SetKind::Pairwise}), {},
                            Acceptance{.suspects = {{.nodes = {"h0"}, .rule = "rule"}}})
                  .empty());
  EXPECT_TRUE(confirmations(SetKind::Pairwise, suspected({"h0"}), 0).empty());
}

const DeviceSetRule kSet{
    .id = "pairs", .kind = SetKind::Pairwise, .ranks_per_node = 1, .all_pairs_up_to = 2};
const std::vector<std::string> kEightNodes{"h0", "h1", "h2", "h3", "h4", "h5", "h6", "h7"};

/// The last groups of a search that goes on round by round, as a run does, with verdicts by
/// `outcome_of` the group's nodes.
std::string last_groups(const std::function<Outcome(const std::vector<std::string>&)>& outcome_of,
                        std::span<const Observation> observations = {}) {
  Acceptance acceptance;
  std::string last;
  constexpr int kMostRounds = 100;
  for (int round = 0; round < kMostRounds; ++round) {
    const auto groups = groups_to_search(kSet, kEightNodes, observations, acceptance);
    if (groups.empty()) return last;
    last.clear();
    for (const Instance& group : groups) {
      last += (last.empty() ? "" : " ") + group.name;
      acceptance.verdicts.push_back({.device_set = "pairs",
                                     .instance = group.name,
                                     .nodes = group.nodes,
                                     .outcome = outcome_of(group.nodes)});
    }
  }
  ADD_FAILURE() << "the search does not end";
  return last;
}

Outcome fails_with(const std::vector<std::string>& nodes, const std::string& bad) {
  return contains(nodes, bad) ? Outcome::Fail : Outcome::Pass;
}

TEST(GroupsToSearch, GoToTheBadNodeByVerdictsAlone) {
  const std::string first = "h0+h1+h2+h3 h4+h5+h6+h7";
  EXPECT_EQ(last_groups([](const auto&) { return Outcome::Pass; }), first);
  EXPECT_EQ(last_groups([](const auto&) { return Outcome::Inconclusive; }), first) << "no blame";
  EXPECT_EQ(last_groups([](const auto& nodes) { return fails_with(nodes, "h5"); }), "h0+h4 h1+h5");
}

TEST(GroupsToSearch, FindANodeThatGivesNoDataToo) {
  EXPECT_EQ(last_groups([](const auto& nodes) {
              return contains(nodes, "h2") ? Outcome::Error : Outcome::Pass;
            }),
            "h0+h2 h1+h3");
}

TEST(GroupsToSearch, LeaveOutNodesThatDidNotAnswer) {
  std::vector<Observation> dead;
  const auto fail = [&](const std::string& node) {
    dead.push_back({.device_set = "pairs", .instance = node, .nodes = {node}, .failure = "silent"});
  };
  fail("h0");
  EXPECT_EQ(last_groups([](const auto& nodes) { return fails_with(nodes, "h1"); }, dead),
            "h1+h4 h2+h3");
  for (const char* node : {"h1", "h2", "h3", "h4", "h5", "h6"}) fail(node);
  EXPECT_TRUE(groups_to_search(kSet, kEightNodes, dead, {}).empty()) << "one is left";
}

}  // namespace
}  // namespace busbar::judge

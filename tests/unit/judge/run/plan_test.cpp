// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace busbar::judge {
namespace {

using testing::ElementsAre;

const std::vector<std::string> kNodes{"h0", "h1", "h2", "h3"};

Specification specification_of(std::vector<DeviceSetRule> sets) {
  Specification specification;
  specification.run.launches = 3;
  for (DeviceSetRule& set : sets) {
    set.ranks_per_node = 2;
    specification.expectations.push_back(
        {.id = "r-" + set.id, .collectives = {"allreduce"}, .device_set = set.id, .sizes = {8}});
  }
  specification.device_sets = std::move(sets);
  return specification;
}

std::string text_of(const std::vector<Unit>& units) {
  std::string text;
  for (const Unit& unit : units) {
    for (const Job& job : unit) {
      text += job.device_set + " " + job_name(job) + " " + std::to_string(job.launch) + ",";
    }
    text += ";";
  }
  return text;
}

TEST(Shuffle, GivesTheSameOrderForASeedOnEveryMachine) {
  std::vector<int> numbers(8);
  std::iota(numbers.begin(), numbers.end(), 0);
  std::mt19937_64 random(42);
  shuffle(numbers, random);
  EXPECT_THAT(numbers, ElementsAre(7, 0, 5, 1, 2, 4, 3, 6));
}

TEST(PlanUnits, HasEveryPairInEveryLaunchAndNoNodeTwiceAtATime) {
  const Specification specification =
      specification_of({{.id = "pairs", .kind = SetKind::Pairwise}});
  std::mt19937_64 random(1);
  const std::vector<Unit> units = plan_units(specification, kNodes, true, random);
  EXPECT_EQ(units.size(), 3U * 3U);
  std::map<std::string, std::set<int>> launches;
  for (const Unit& unit : units) {
    std::set<std::string> busy;
    for (const Job& job : unit) {
      launches[job_name(job)].insert(job.launch);
      for (const std::string& node : job.nodes) EXPECT_TRUE(busy.insert(node).second);
    }
  }
  EXPECT_EQ(launches.size(), 6U);
  for (const auto& [name, all] : launches) EXPECT_EQ(all.size(), 3U) << name;
}

TEST(PlanUnits, RunsOneJobAtATimeWhereJobsMayNotRunTogether) {
  const Specification specification =
      specification_of({{.id = "pairs", .kind = SetKind::Pairwise}});
  std::mt19937_64 random(1);
  const std::vector<Unit> units = plan_units(specification, kNodes, false, random);
  EXPECT_EQ(units.size(), 18U);
  EXPECT_TRUE(std::all_of(units.begin(), units.end(), [](const Unit& u) { return u.size() == 1; }));
}

TEST(PlanUnits, IsTheSeedsOrder) {
  const Specification specification = specification_of({{.id = "each", .kind = SetKind::PerNode},
                                                        {.id = "pairs", .kind = SetKind::Pairwise},
                                                        {.id = "all", .kind = SetKind::Whole}});
  const auto plan = [&](std::uint64_t seed) {
    std::mt19937_64 random(seed);
    return text_of(plan_units(specification, kNodes, true, random));
  };
  EXPECT_EQ(plan(5), plan(5));
  EXPECT_NE(plan(5), plan(6));
}

TEST(PlanUnits, MeasuresAllRailsInOneLaunchOfAllNodes) {
  const Specification specification = specification_of({{.id = "rails", .kind = SetKind::Rails}});
  std::mt19937_64 random(1);
  const std::vector<Unit> units = plan_units(specification, kNodes, true, random);
  ASSERT_EQ(units.size(), 3U);
  const Job& job = units.front().front();
  EXPECT_EQ(job.nodes, kNodes);
  ASSERT_EQ(job.instances.size(), 2U);
  EXPECT_EQ(job.instances[1].name, "rail 1");
  EXPECT_EQ(job.instances[1].group, 1);
}

TEST(PlanUnits, LeavesLargeSetsOfPairsToTheSearch) {
  const Specification specification =
      specification_of({{.id = "pairs", .kind = SetKind::Pairwise, .all_pairs_up_to = 3}});
  std::mt19937_64 random(1);
  EXPECT_EQ(plan_units(specification, kNodes, true, random).size(), 0U);
}

TEST(InstancesOfRound, NameGroupsByTheirNodesHelpersToo) {
  const std::vector<Halving::Group> groups{{.members = {2}, .helpers = {0}},
                                           {.members = {1, 3}, .helpers = {}}};
  const std::vector<Instance> instances = instances_of_round(groups, kNodes);
  ASSERT_EQ(instances.size(), 2U);
  EXPECT_EQ(instances[0].name, "h0+h2");
  EXPECT_THAT(instances[1].nodes, ElementsAre("h1", "h3"));
}

}  // namespace
}  // namespace busbar::judge

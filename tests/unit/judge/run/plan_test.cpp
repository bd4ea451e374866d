// SPDX-License-Identifier: BSD-3-Clause
#include "judge/rule_check.hpp"
#include "judge/run/job.hpp"

namespace busbar::judge {
namespace {

const std::vector<std::string> kNodes{"h0", "h1", "h2", "h3"};
/// A rule for each of these sets; of several each has its kind as id.
Specification specification_of(std::vector<SetKind> kinds) {
  Specification specification;
  specification.run.launches = 2;
  specification.noise = {.on_noisy = OnNoisy::Rerun, .max_reruns = 2};
  for (const SetKind kind : kinds) {
    const std::string id = kinds.size() == 1 ? "set" : std::string(name(kind));
    specification.device_sets.push_back({.id = id, .kind = kind, .ranks_per_node = 2});
    specification.rules.push_back(
        {.id = "rule", .collectives = {"alltoall"}, .device_set = id, .sizes = {8}});
  }
  return specification;
}

/// "h0+h1 0 attempt 1" of every job.
std::vector<std::string> names_of(const std::vector<Unit>& units) {
  std::vector<std::string> names;
  for (const Unit& unit : units) {
    for (const LaunchJob& job : unit) {
      names.push_back(fmt::format("{} {} attempt {}", job_name(job), job.launch, job.attempt));
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

TEST(PlanUnits, OfASoakHasEveryPairAndNoNodeTwiceAtATime) {
  std::mt19937_64 random(1);
  const auto units = plan_units(specification_of({SetKind::Pairwise}), kNodes, random, true);
  EXPECT_EQ(units.size(), 2U * 3U);
  std::map<std::string, std::set<int>> launches;
  for (const Unit& unit : units) {
    std::set<std::string> busy;
    for (const LaunchJob& job : unit) {
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
  const LaunchJob& job = units.front().front();
  EXPECT_EQ(job.nodes(), kNodes);
  ASSERT_EQ(job.instances.size(), 2U);
  EXPECT_EQ(job.instances[1].name, "rail 1");
  EXPECT_EQ(job.instances[1].group, 1);
}

struct NoisyCase {
  SetKind kind;
  std::vector<const char*> instances;  ///< the noisy ones
  std::vector<std::string> launches;
  std::size_t attempts = 1;
  OnNoisy on_noisy = OnNoisy::Rerun;
};

TEST(RerunUnits, LaunchWhatIsNoisyAsOftenAgainAndAllPairsOrRailsOnce) {
  for (const auto& [kind, instances, launches, attempts, on_noisy] : std::vector<NoisyCase>{
           {SetKind::PerNode, {"h1", "h1"}, {"h1 0 attempt 1", "h1 1 attempt 1"}},
           {SetKind::PerNode, {"h0"}, {"h0 0 attempt 2", "h0 1 attempt 2"}, 2},
           {SetKind::PerNode, {"h0"}, {}, 3},  // no rerun is left
           {SetKind::PerNode, {"h0"}, {}, 2, OnNoisy::Inconclusive},
           {SetKind::Pairwise, {"h0", "h2"}, {"3 nodes 0 attempt 1", "3 nodes 1 attempt 1"}},
           {SetKind::Rails, {"rail 0", "rail 1"}, {"rails 0 attempt 1", "rails 1 attempt 1"}}}) {
    Specification specification = specification_of({kind});
    specification.noise.on_noisy = on_noisy;
    Acceptance acceptance{.verdicts = {{.instance = "h2"}}};
    for (const char* instance : instances) {
      acceptance.verdicts.push_back({.rule = "rule",
                                     .device_set = "set",
                                     .instance = instance,
                                     .collective = "alltoall",
                                     .outcome = Outcome::Inconclusive,
                                     .decided_by = DecidedBy::Noisy,
                                     .attempts = attempts});
    }
    const std::vector<Unit> units =
        rerun_units(specification, std::span(kNodes).first(3), acceptance);
    EXPECT_EQ(names_of(units), launches) << instances.front();
    for (const Unit& unit : units) {
      EXPECT_EQ(unit.front().purpose, Purpose::Rerun);
      EXPECT_EQ(unit.front().instances.size(), kind == SetKind::Rails ? 2U : 1U);
    }
  }
}

}  // namespace
}  // namespace busbar::judge

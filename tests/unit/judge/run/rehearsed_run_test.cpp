// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/rehearsed_run.hpp"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judge/judge.hpp"
#include "judge/rule_check.hpp"
#include "judge/run/campaign.hpp"
#include "model/flag.hpp"
#include "tests/unit/support/temporary_folder.hpp"

namespace busbar::judge {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Specification pairs_specification() {
  Specification specification;
  specification.run = {.launches = 3, .min_launches = 3, .timeout_s = 60};
  specification.device_sets = {{.id = "pairs", .kind = SetKind::Pairwise, .ranks_per_node = 8}};
  specification.rules = {{.id = "odd",
                          .collectives = {"allreduce"},
                          .device_set = "pairs",
                          .sizes = {kMiB},
                          .compare = RuleKind::Fleet,
                          .bounds = {.fail_below = 0.95}}};
  return specification;
}

class RehearseRun : public testing::Test {
 protected:
  [[nodiscard]] Rehearsal rehearsed(const std::string& faults, std::size_t nodes = 64) {
    FleetPlan plan = fleet_plan_of(specification_, nodes);
    plan.levels = {8};
    return rehearse_run(specification_, plan, {.deviation = 0.03},
                        faults.empty() ? std::vector<PlantedFault>{} : parse_faults("-", faults),
                        {.start = 100, .connect = 10, .row = 1}, 1, folder_.path("run"), "");
  }

  const Specification specification_ = pairs_specification();
  const test::TemporaryFolder folder_;
};

TEST_F(RehearseRun, FindsWhatIsPlantedByThePlanTheJournalAndTheJudgeOfARealRun) {
  const Rehearsal one = rehearsed("slow-node:2:0.8,uplink:1:0.5,link:1:0.5,dead:1,hang:1");
  EXPECT_EQ(one.found.size() + one.not_measured.size(), 6U);
  EXPECT_THAT(one.missed, IsEmpty());
  EXPECT_THAT(one.falsely_blamed, IsEmpty());
  EXPECT_EQ(one.launches, 1U + 3 + 1 + 3) << "each alone, three, one of them again, suspects";
  const Journal journal = load_journal(folder_.path("run") + "/launches.csv");
  std::vector<std::string> instances;
  for (const Observation& line : journal.lines) instances.push_back(line.instance);
  EXPECT_EQ(std::ranges::count(instances, "63 nodes"), 1) << "with the one that hangs";
  EXPECT_EQ(std::ranges::count(instances, "62 nodes"), 6);
  EXPECT_EQ(instances.size(), 8U) << "and a line of the dead one";
}

TEST_F(RehearseRun, OfAHealthyFleetBlamesNobodyAndIsNoPassOfAnythingReal) {
  const Rehearsal one = rehearsed("");
  EXPECT_THAT(one.falsely_blamed, IsEmpty());
  EXPECT_EQ(one.rounds, 19U);
  EXPECT_EQ(one.seconds, 4 * 100 + 1 * 10 + 18 * 11);
  const Journal journal = load_journal(folder_.path("run") + "/launches.csv");
  const HostLevels levels(journal.levels, "levels.csv");
  const Acceptance real = judge_all({.specification = specification_,
                                     .observations = journal.lines,
                                     .nodes = journal.nodes,
                                     .levels = &levels});
  EXPECT_EQ(real.overall(), Outcome::Inconclusive);
  EXPECT_THAT(real.verdicts.front().reason, HasSubstr("simulated: predicted, not measured"));
}

/// A campaign whose launches are these.
class PairsCampaign : public testing::Test {
 protected:
  /// Runs until it is to stop; how many launches it made.
  std::size_t run(bool resume, std::size_t most = 1000) {
    RunFolder folder(folder_.path("run"), {.nodes = nodes_}, "schema = 1\n", resume);
    std::size_t made = 0;
    const auto input = [&](std::span<const Observation> seen) {
      return JudgeInput{.specification = specification_, .observations = seen, .nodes = nodes_};
    };
    Campaign campaign(
        {.specification = specification_,
         .nodes = nodes_,
         .seed = 7,
         .stop = [&] { return made >= most; },
         .judge = [&](auto seen) { return judge_all(input(seen)); },
         .screen = [&](auto seen,
                       const DeviceSetRule& set) { return suspects_to_repeat(set, input(seen)); },
         .simulated = {.answers = [&](const std::string& node) { return !dead_.contains(node); },
                       .launch =
                           [&](const Job& job) {
                             ++made;
                             return launched(job);
                           }}},
        folder);
    const bool is_complete = campaign.run();
    EXPECT_EQ(is_complete, made < most);
    lines_ = folder.journal().lines;
    return made;
  }

  LaunchResult launched(const Job& job) {
    if (contains(job.nodes(), breaks_)) {
      return {.log = "x: rank 24 on h4 does not answer; 7 others wait",
              .failure = "exit 4: x",
              .exit_code = 4};
    }
    std::string csv =
        "collective,backend,ranks,nodes,type,op,in_place,size_bytes,status,busbw_GBps,wrong,round,"
        "group,"
        "group_ranks\n";
    for (const NumberedRound& round : job.rounds) {
      for (const auto& [first, second] : round.pairs) {
        csv += fmt::format("allreduce,mpi,16,2,float,sum,0,1048576,ok,100,0,{},0,{}-{} {}-{}\n",
                           round.number, 8 * first, 8 * first + 7, 8 * second, 8 * second + 7);
      }
    }
    return {.csv = csv};
  }

  [[nodiscard]] std::vector<std::string> made() const {
    std::vector<std::string> lines;
    for (const Observation& line : lines_) {
      lines.push_back(fmt::format("{} {} {}", line.launch, line.instance, line.unreachable));
    }
    return lines;
  }

  Specification specification_ = pairs_specification();
  std::vector<std::string> nodes_{"h1", "h2", "h3", "h4", "h5", "h6", "h7", "h8"};
  std::set<std::string> dead_{};
  std::string breaks_{};  ///< the node that launches break with; empty: none
  std::vector<Observation> lines_{};
  const test::TemporaryFolder folder_;
};

TEST_F(PairsCampaign, RepeatsALaunchWithoutTheNodeThatItNamesAndLeavesItOut) {
  breaks_ = "h4";
  dead_ = {"h7"};
  specification_.run.launches = 2;
  EXPECT_EQ(run(false), 3U);
  EXPECT_THAT(made(), testing::UnorderedElementsAre("0 h7 h7", HasSubstr(" 7 nodes h4"),
                                                    "0 6 nodes ", "1 6 nodes "));
}

TEST_F(PairsCampaign, GoesOnWhereItWasStoppedAtAnyLaunch) {
  breaks_ = "h4";
  const std::size_t all = run(false);
  EXPECT_EQ(all, 4U);
  const auto whole = made();
  for (std::size_t first = 1; first < all; ++first) {
    std::filesystem::remove_all(folder_.path("run"));
    EXPECT_EQ(run(false, first), first);
    EXPECT_EQ(run(true), all - first) << first;
    EXPECT_EQ(made(), whole) << first;
  }
  EXPECT_EQ(run(true), 0U) << "nothing is left";
}

TEST_F(PairsCampaign, EndsWhereTooFewNodesAreLeft) {
  dead_ = {"h1", "h2", "h3", "h4", "h5", "h6", "h7"};
  EXPECT_EQ(run(false), 0U);
  EXPECT_EQ(lines_.size(), 7U);
}

}  // namespace
}  // namespace busbar::judge

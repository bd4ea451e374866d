// SPDX-License-Identifier: BSD-3-Clause
#include "judge/run/followups.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judge/judged_rule.hpp"

namespace busbar::judge {
namespace {

using testing::ElementsAre;

const std::vector<std::string> kNodes{"h0", "h1", "h2"};

Specification specification_of(SetKind kind) {
  Specification specification;
  specification.run.launches = 2;
  specification.noise = {.on_noisy = OnNoisy::Rerun, .max_reruns = 2};
  specification.device_sets = {{.id = "set", .kind = kind, .ranks_per_node = 2}};
  specification.expectations = {{.id = "rule",
                                 .collectives = {"alltoall"},
                                 .device_set = "set",
                                 .sizes = {8},
                                 .confirm_repeats = 3}};
  return specification;
}

RuleVerdict noisy_verdict(const std::string& instance, std::size_t attempts) {
  return {.rule = "rule",
          .device_set = "set",
          .instance = instance,
          .collective = "alltoall",
          .word = Word::Inconclusive,
          .reason = std::string(kNoisy) + "cv 9 %",
          .attempts = attempts};
}

Journal journal_of(const std::vector<std::pair<std::string, int>>& instances) {
  Journal journal;
  for (const auto& [name, group] : instances) {
    journal.lines.push_back({.device_set = "set",
                             .instance = name,
                             .nodes = {"h0", "h1"},
                             .group = group,
                             .collective = "alltoall"});
  }
  return journal;
}

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

TEST(RerunUnits, LaunchANoisyInstanceAsOftenAgain) {
  Judgement judgement;
  judgement.verdicts = {noisy_verdict("h0+h1", 1)};
  const Journal journal = journal_of({{"h0+h1", -1}, {"h0+h2", -1}});
  EXPECT_THAT(names_of(rerun_units(specification_of(SetKind::Pairwise), journal, judgement)),
              ElementsAre("h0+h1 0 attempt 1", "h0+h1 1 attempt 1"));
}

TEST(RerunUnits, EndWhenNoRerunIsLeftOrNoneIsWanted) {
  Judgement judgement;
  judgement.verdicts = {noisy_verdict("h0+h1", 3)};
  const Journal journal = journal_of({{"h0+h1", -1}});
  Specification specification = specification_of(SetKind::Pairwise);
  EXPECT_TRUE(rerun_units(specification, journal, judgement).empty());
  judgement.verdicts = {noisy_verdict("h0+h1", 2)};
  EXPECT_EQ(rerun_units(specification, journal, judgement).size(), 2U);
  specification.noise.on_noisy = OnNoisy::Inconclusive;
  EXPECT_TRUE(rerun_units(specification, journal, judgement).empty());
}

TEST(RerunUnits, LaunchAllRailsOnceWhereSomeAreNoisy) {
  Judgement judgement;
  judgement.verdicts = {noisy_verdict("rail 0", 1), noisy_verdict("rail 1", 1)};
  const std::vector<Unit> units = rerun_units(
      specification_of(SetKind::Rails), journal_of({{"rail 0", 0}, {"rail 1", 1}}), judgement);
  ASSERT_EQ(units.size(), 2U);
  EXPECT_EQ(units.front().front().instances.size(), 2U);
}

Judgement suspected(const std::vector<std::string>& nodes) {
  Judgement judgement;
  judgement.suspects = {{.nodes = nodes, .rule = "rule"}};
  for (const std::string& node : kNodes) {
    const bool blamed = std::find(nodes.begin(), nodes.end(), node) != nodes.end();
    judgement.nodes.push_back(
        {.node = node, .state = blamed ? NodeState::Failed : NodeState::Good});
  }
  return judgement;
}

TEST(ConfirmUnits, MeasureANodeWithOneThatIsKnownToBeGood) {
  const std::vector<Unit> units =
      confirm_units(specification_of(SetKind::Pairwise), kNodes, suspected({"h0"}));
  EXPECT_THAT(names_of(units),
              ElementsAre("h0+h1 0 attempt 0", "h0+h1 1 attempt 0", "h0+h1 2 attempt 0"));
  EXPECT_EQ(units.front().front().purpose, Purpose::Confirm);
}

TEST(ConfirmUnits, TakeAPartnerThatTheRuleFoundGoodWhereAnotherRuleIsUndecided) {
  Judgement judgement = suspected({"h0"});
  for (NodeAccount& account : judgement.nodes) {
    if (account.state == NodeState::Good) account.state = NodeState::Inconclusive;
  }
  EXPECT_TRUE(confirm_units(specification_of(SetKind::Pairwise), kNodes, judgement).empty());
  judgement.verdicts = {{.rule = "rule", .nodes = {"h1", "h2"}, .word = Word::Pass}};
  EXPECT_EQ(names_of(confirm_units(specification_of(SetKind::Pairwise), kNodes, judgement)).size(),
            3U);
}

TEST(ConfirmUnits, MeasureALinkOrANodeAloneOnceMore) {
  EXPECT_EQ(confirm_units(specification_of(SetKind::Pairwise), kNodes, suspected({"h2", "h1"}))
                .front()
                .front()
                .instances.front()
                .name,
            "h1+h2");
  EXPECT_EQ(confirm_units(specification_of(SetKind::PerNode), kNodes, suspected({"h2"}))
                .front()
                .front()
                .nodes,
            std::vector<std::string>{"h2"});
}

TEST(ConfirmUnits, AreNoneWithoutAGoodPartnerOrWhereNoneIsAskedFor) {
  EXPECT_TRUE(confirm_units(specification_of(SetKind::Pairwise), {},
                            Judgement{.suspects = {{.nodes = {"h0"}, .rule = "rule"}}})
                  .empty());
  Specification specification = specification_of(SetKind::Pairwise);
  specification.expectations.front().confirm_repeats = 0;
  EXPECT_TRUE(confirm_units(specification, kNodes, suspected({"h0"})).empty());
}

}  // namespace
}  // namespace busbar::judge

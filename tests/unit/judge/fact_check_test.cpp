// SPDX-License-Identifier: BSD-3-Clause
#include "judge/judge.hpp"
#include "tests/unit/judge/judge_case.hpp"

namespace busbar::judge {
namespace {

/// Nodes h1, h2 and h3 with good launches, facts by hand and one rule of facts.
struct FactCase : JudgeCase {
  machine::HostWindows machines{};

  explicit FactCase(FactRule wanted) {
    nodes = names(3);
    for (const std::string& node : nodes) steady({node}, 450);
    wanted.id = "fact";
    specification.facts = {std::move(wanted)};
  }
  /// Values of a fact's instance before and after on each of the nodes.
  FactCase& values(const std::string& fact, const std::string& instance,
                   const std::vector<std::pair<std::string, std::string>>& of_nodes) {
    for (std::size_t i = 0; i < of_nodes.size(); ++i) {
      machines.add_cells({"1", nodes[i], fact, instance, of_nodes[i].first, ""});
      machines.add_cells({"2", nodes[i], fact, instance, of_nodes[i].second, ""});
    }
    return *this;
  }
  [[nodiscard]] Acceptance judged() const {
    return judge_all({.specification = specification,
                      .observations = observations,
                      .today = today,
                      .nodes = nodes,
                      .machines = &machines});
  }
  /// Of the nodes: "PASS FAIL PASS".
  [[nodiscard]] std::string outcomes() const {
    const Acceptance all = judged();
    const auto facts = filtered(all.verdicts, [](const auto& one) { return one.rule == "fact"; });
    return join_each(facts, " ", [](const CheckResult& one) { return name(one.outcome); });
  }
  [[nodiscard]] std::string reason(std::size_t node) const {
    const Acceptance all = judged();
    return all.verdicts.at(all.verdicts.size() - nodes.size() + node).reason;
  }
};

TEST(JudgeFacts, FailsTheNodeWhoseCounterRoseByMore) {
  FactCase one({.fact = "net.carrier_changes", .instance = "e*", .delta_max = 1});
  one.values("net.carrier_changes", "eth0", {{"4", "4"}, {"4", "6"}, {"4", "5"}});
  one.values("net.carrier_changes", "lo", {{"0", "9"}, {"0", "9"}, {"0", "9"}});
  EXPECT_EQ(one.outcomes(), "PASS FAIL PASS");
  EXPECT_THAT(one.reason(1), HasSubstr("eth0 rose by 2"));
  const Acceptance all = one.judged();
  ASSERT_EQ(all.suspects.size(), 1U);
  EXPECT_EQ(all.suspects[0].nodes, Names{"h2"});
  EXPECT_EQ(all.nodes[1].state, NodeState::Failed);
  EXPECT_EQ(all.nodes[0].state, NodeState::Good);
}

TEST(JudgeFacts, DoesNotJudgeACounterThatWasReset) {
  FactCase one({.fact = "net.carrier_changes", .delta_max = 0});
  one.values("net.carrier_changes", "eth0", {{"4", "4"}, {"4", "0"}, {"4", "4"}});
  EXPECT_EQ(one.outcomes(), "PASS INCONCLUSIVE PASS");
}

TEST(JudgeFacts, ComparesTextsAndTheNumbersThatTheyBeginWith) {
  FactCase equal({.fact = "nvlink.links", .equals = {"18 of 18", "12 of 12"}});
  equal.values("nvlink.links", "gpu0", {{"", "18 of 18"}, {"", "17 of 18"}, {"", "12 of 12"}});
  EXPECT_EQ(equal.outcomes(), "PASS FAIL PASS");
  FactCase least({.fact = "nvlink.links", .at_least = 18});
  least.values("nvlink.links", "gpu0", {{"", "18 of 18"}, {"", "17 of 18"}, {"", "none"}});
  EXPECT_EQ(least.outcomes(), "PASS FAIL FAIL");
}

TEST(JudgeFacts, ComparesWithWhatMostNodesHave) {
  FactCase one({.fact = "net.mtu", .same = "fleet"});
  one.values("net.mtu", "eth0", {{"", "9000"}, {"", "9000"}, {"", "1500"}});
  EXPECT_EQ(one.outcomes(), "PASS PASS FAIL");
  EXPECT_THAT(one.reason(2), HasSubstr("eth0 is 1500, most nodes have 9000"));
  one.values("net.mtu", "eth1", {{"", "9000"}, {"", "9000"}});
  EXPECT_THAT(one.reason(2), HasSubstr("eth1 is absent"));
  FactCase none({.fact = "net.mtu", .same = "fleet"});
  none.values("net.mtu", "eth0", {{"", "1"}, {"", "2"}, {"", "3"}});
  EXPECT_EQ(none.outcomes(), "INCONCLUSIVE INCONCLUSIVE INCONCLUSIVE");
}

TEST(JudgeFacts, IsAnErrorWhereNothingOrNoValueWasRead) {
  FactCase one({.fact = "ib.rate", .equals = {"400 Gb/sec"}});
  one.machines.add_cells({"1", "h1", "ib.rate", "mlx5_0:1", "", "Permission denied"});
  one.machines.add_cells({"1", "h2", "net.mtu", "eth0", "1500", ""});
  EXPECT_EQ(one.outcomes(), "ERROR ERROR ERROR");
  EXPECT_THAT(one.reason(0), HasSubstr("Permission denied"));
  EXPECT_THAT(one.reason(1), HasSubstr("no ib.rate"));
  EXPECT_THAT(one.reason(2), HasSubstr("no facts"));
  one.machines = {};
  EXPECT_EQ(one.outcomes(), "SKIP SKIP SKIP");
}

TEST(FactEvidence, IsAddedToSuspectsOfOtherRules) {
  FactCase one({.fact = "net.mtu", .same = "fleet"});
  one.specification.facts.clear();
  one.values("net.carrier_changes", "eth0", {{"4", "4"}, {"4", "6"}, {"4", "4"}});
  one.set_rate(100, "h2");
  const Acceptance all = one.judged();
  ASSERT_EQ(all.suspects.size(), 1U);
  EXPECT_THAT(all.suspects[0].evidence, HasSubstr("facts of h2: eth0: carrier changes +2"));
}

TEST(DeviceSetFingerprint, IsAnErrorOfItsRulesOnlyWhereNcclTookAnotherTransport) {
  JudgeCase one(SetKind::Pairwise);
  one.nodes = names(2);
  one.steady({"h1", "h2"}, 450);
  one.add_set("alone", SetKind::PerNode);
  one.set().fingerprint = {{"nccl_links", {"NET/IB"}}};
  for (Observation& launch : one.observations) launch.facts["nccl_links"] = "NET/IB, P2P/CUMEM";
  EXPECT_EQ(one.judged().verdicts[0].outcome, Outcome::Pass);
  for (Observation& launch : one.observations) launch.facts["nccl_links"] = "NET/Socket, P2P/CUMEM";
  EXPECT_EQ(one.judged().verdicts[0].outcome, Outcome::Error);
  EXPECT_THAT(one.judged().verdicts[0].reason, HasSubstr("NET/Socket"));
  EXPECT_THAT(one.judged().head.refused, "");
  for (Observation& launch : one.observations) launch.facts["nccl_links"] = "NET/IB, NET/Socket";
  EXPECT_EQ(one.judged().verdicts[0].outcome, Outcome::Error);
}

TEST(DeviceSetNotes, NameTheSettingsOfTheirLaunches) {
  JudgeCase one;
  one.steady({"h1"}, 450);
  one.set().env = {{"NCCL_MNNVL_ENABLE", "0"}};
  one.set().backend_options = {"--cta-policy", "zero"};
  EXPECT_THAT(one.judged().head.notes,
              Contains("device set set ran with NCCL_MNNVL_ENABLE=0 --cta-policy zero"));
}

}  // namespace
}  // namespace busbar::judge

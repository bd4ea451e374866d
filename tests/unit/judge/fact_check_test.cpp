// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/judge/judge_case.hpp"

namespace busbar::judge {
namespace {

/// Nodes h1, h2 and h3 with good launches, facts by hand and one rule of facts.
struct FactCase : JudgeCase {
  machine::HostWindows windows{};

  explicit FactCase(FactRule wanted) {
    steady_nodes(3);
    wanted.id = "fact";
    specification.facts = {std::move(wanted)};
    machines = &windows;
  }
  /// Values of an instance of the rule's fact before and after on each of the nodes.
  FactCase& values(const std::string& instance,
                   const std::vector<std::pair<std::string, std::string>>& of_nodes) {
    const std::string fact = specification.facts.at(0).fact;
    for (std::size_t i = 0; i < of_nodes.size(); ++i) {
      windows.add_cells({"1", nodes[i], fact, instance, of_nodes[i].first, ""});
      windows.add_cells({"2", nodes[i], fact, instance, of_nodes[i].second, ""});
    }
    return *this;
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

TEST(JudgeFacts, ComparesTextsAndTheNumbersThatTheyBeginWithAndNoCounterThatWasReset) {
  struct Case {
    FactRule rule{};
    std::array<const char*, 3> values{};
    std::string outcomes{};
  };
  for (const auto& [rule, values, outcomes] :
       {Case{{.fact = "nvlink.links", .equals = {"18 of 18", "12 of 12"}},
             {"18 of 18", "17 of 18", "12 of 12"},
             "PASS FAIL PASS"},
        Case{{.fact = "nvlink.links", .at_least = 18},
             {"18 of 18", "17 of 18", "none"},
             "PASS FAIL FAIL"},
        Case{{.fact = "net.mtu", .same = "fleet"},
             {"1", "2", "3"},
             "INCONCLUSIVE INCONCLUSIVE INCONCLUSIVE"},
        Case{{.fact = "net.carrier_changes", .delta_max = 0},
             {"4", "0", "4"},
             "PASS INCONCLUSIVE PASS"}}) {
    FactCase one(rule);
    const char* before = rule.delta_max ? "4" : "";
    one.values("x0", {{before, values[0]}, {before, values[1]}, {before, values[2]}});
    EXPECT_EQ(one.outcomes(), outcomes);
  }
}

TEST(JudgeFacts, ComparesWithWhatMostNodesHave) {
  FactCase one({.fact = "net.mtu", .same = "fleet"});
  one.values("eth0", {{"", "9000"}, {"", "9000"}, {"", "1500"}});
  EXPECT_EQ(one.outcomes(), "PASS PASS FAIL");
  EXPECT_THAT(one.reason(2), HasSubstr("eth0 is 1500, most nodes have 9000"));
  one.values("eth1", {{"", "9000"}, {"", "9000"}});
  EXPECT_THAT(one.reason(2), HasSubstr("eth1 is absent"));
}

TEST(JudgeFacts, IsAnErrorWhereNothingOrNoValueWasRead) {
  FactCase one({.fact = "ib.rate", .equals = {"400 Gb/sec"}});
  one.windows.add_cells({"1", "h1", "ib.rate", "mlx5_0:1", "", "Permission denied"});
  one.windows.add_cells({"1", "h2", "net.mtu", "eth0", "1500", ""});
  EXPECT_EQ(one.outcomes(), "ERROR ERROR ERROR");
  EXPECT_THAT(one.reason(0), HasSubstr("Permission denied"));
  EXPECT_THAT(one.reason(1), HasSubstr("no ib.rate"));
  EXPECT_THAT(one.reason(2), HasSubstr("no facts"));
  one.windows = {};
  EXPECT_EQ(one.outcomes(), "SKIP SKIP SKIP");
}

TEST(DeviceSetFingerprint, IsAnErrorOfItsRulesOnlyWhereNcclTookAnotherTransport) {
  JudgeCase one(SetKind::Pairwise);
  one.nodes = names(2);
  one.steady({"h1", "h2"}, 450);
  one.add_set("alone", SetKind::PerNode);
  one.set().fingerprint = {{"nccl_links", {"NET/IB"}}};
  for (const auto& [links, result] :
       {std::pair{"NET/IB, P2P/CUMEM", "PASS"},
        {"NET/Socket, P2P/CUMEM", "ERROR nccl_links is 'NET/Socket"},
        {"NET/IB, NET/Socket", "ERROR nccl_links is 'NET/IB, NET/Socket'"}}) {
    for (Observation& launch : one.observations) launch.facts["nccl_links"] = links;
    expect_result(one.first(), result);
    EXPECT_THAT(one.judged().head.refused, "");
  }
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

// SPDX-License-Identifier: BSD-3-Clause
#include "judge/output/verdict_output.hpp"
#include "tests/unit/judge/judge_case.hpp"

namespace busbar::judge {
namespace {

using ::testing::ContainsRegex;

/// A soak of h1 and h2 alone, whose turns are files of a folder.
struct SoakCase : JudgeCase {
  test::TemporaryFolder folder{};

  explicit SoakCase(SoakRule limits) {
    nodes = names(2);
    soak = true;
    limits.sizes = {kMiB};
    specification.soak = std::move(limits);
  }
  struct Turn {
    int seconds = 100;                                          ///< intervals of 1 s
    double (*time_us)(int second) = [](int) { return 100.0; };  ///< its parts at the same rate
    int wrong = 0;                                              ///< elements of each interval
    int checked = 1000;                                         ///< bytes of each
  };
  SoakCase& turn(const std::string& node, int number, const Turn& of) {
    const std::string name = node + "-" + std::to_string(number) + ".csv";
    std::string text = "at_s,median_us,p99_us,checked_bytes,wrong,parts_per_s\n";
    for (int second = 0; second < of.seconds; ++second) {
      // Small variation that repeats, as a run has it.
      const double time = of.time_us(second) * (1 + 0.0001 * (second * 7 % 11));
      const std::vector<std::string> parts(10, fmt::format("{}", 1e6 / time));
      text += fmt::format("{},{},{},{},{},{}\n", second + 1, time, 1.1 * time, of.checked, of.wrong,
                          join(parts, " "));
    }
    folder.write("timelines/" + name, text);
    observations.push_back({.device_set = "set",
                            .instance = node,
                            .nodes = {node},
                            .launch = number,
                            .collective = "allreduce",
                            .file = folder.path() + "/" + name});
    return *this;
  }
  SoakCase& steady_turns(const std::string& node) { return turn(node, 0, {}).turn(node, 1, {}); }
  [[nodiscard]] CheckResult result(const std::string& rule, const std::string& node) const {
    for (const CheckResult& one : judged().verdicts) {
      if (one.rule == rule && one.instance == node) return one;
    }
    return {.reason = "there is none"};
  }
};

TEST(JudgeSoak, PassesWhatStaysAsItIs) {
  SoakCase one({.level_max = 0.05, .drift_max = 0.05, .dips_max = 0, .recover_s_max = 1});
  one.steady_turns("h1").steady_turns("h2");
  const Acceptance all = one.judged();
  EXPECT_EQ(all.overall(), Outcome::Pass);
  EXPECT_EQ(all.verdicts.size(), 12U);
  EXPECT_EQ(all.nodes[0].state, NodeState::Good);
  EXPECT_THAT(all.head.notes, Contains(HasSubstr("400 kB checked, none wrong")));
  EXPECT_THAT(all.head.notes,
              Contains(HasSubstr("set h1 allreduce, 2 turns, 00:03:20 in total: ")));
  EXPECT_EQ(all.timeline.panels.size(), 2U);
  for (const CheckResult& result : all.verdicts) EXPECT_EQ(result.value, 0) << result.rule;
}

TEST(JudgeSoak, FailsALevelThatChangesByMoreThanIsAllowed) {
  SoakCase strict({.level_max = 0.05});
  strict.turn("h1", 0, {}).steady_turns("h2");
  strict.turn("h1", 1, {.time_us = [](int second) { return second < 50 ? 100.0 : 110.0; }});
  const CheckResult found = strict.result("soak-level", "h1");
  expect_result(found, "FAIL longer at 00:02:30");
  EXPECT_NEAR(found.value.value(), 10, 0.1);  // percent
  EXPECT_EQ(found.reference, 5);
  expect_result(strict.result("soak-level", "h2"), "PASS");
  EXPECT_EQ(nodes_of(strict.judged().suspects), std::vector<Names>{{"h1"}});
  strict.specification.soak->level_max = 0.2;
  EXPECT_EQ(strict.result("soak-level", "h1").outcome, Outcome::Pass);
  EXPECT_NEAR(strict.result("soak-level", "h1").value.value(), 10, 0.1);
  EXPECT_EQ(strict.result("soak-dips", "h1").reason, "there is none");  // it is not limited
}

TEST(JudgeSoak, FailsDipsAndWhatDoesNotRecoverInTime) {
  SoakCase one({.dips_max = 0, .recover_s_max = 0.5});
  one.turn("h1", 0, {.time_us = [](int second) { return second == 60 ? 300.0 : 100.0; }});
  expect_result(one.result("soak-dips", "h1"), "FAIL 1 dip (00:01:00.0)");
  expect_result(one.result("soak-recover", "h1"), "FAIL 1.0 s to recover at 00:01:00");
  EXPECT_EQ(one.result("soak-dips", "h1").value, 1);
  one.specification.soak->recover_s_max = 2;
  EXPECT_EQ(one.result("soak-recover", "h1").outcome, Outcome::Pass);
  EXPECT_EQ(one.result("soak-recover", "h1").value, 1.0);  // s
}

TEST(JudgeSoak, DoesNotJudgeARecoveryThatTheEndCutsOff) {
  SoakCase one({.recover_s_max = 20});
  one.turn("h1", 0, {.time_us = [](int second) { return second < 90 ? 100.0 : 300.0; }});
  const CheckResult cut = one.result("soak-recover", "h1");
  expect_result(cut, "INCONCLUSIVE the fall at 00:01:30 was watched for 10.0 s only: 20 s");
  EXPECT_FALSE(cut.value);
  one.specification.soak->recover_s_max = 5;
  EXPECT_EQ(one.result("soak-recover", "h1").outcome, Outcome::Fail);
}

TEST(JudgeSoak, DoesNotJudgeWhatIsTooShortOrVariesByMoreThanIsAllowed) {
  SoakCase one({.level_max = 0.05, .drift_max = 0.05});
  one.turn("h1", 0, {.seconds = 20});
  one.turn("h2", 0, {.seconds = 320, .time_us = [](int second) {
                       return second / 25 % 2 == 0 ? 100.0 : 104.0;
                     }});
  expect_result(one.result("soak-level", "h1"), "INCONCLUSIVE 20 intervals, 60 needed");
  EXPECT_EQ(one.result("soak-drift", "h1").outcome, Outcome::Inconclusive);
  EXPECT_FALSE(one.result("soak-drift", "h1").value);
  for (const char* const rule : {"soak-level", "soak-drift"}) {
    expect_result(one.result(rule, "h2"), "INCONCLUSIVE cannot be distinguished");
  }
}

TEST(JudgeSoak, AlwaysFailsWrongDataAndTurnsThatFail) {
  SoakCase one({});
  one.turn("h1", 0, {.seconds = 10, .wrong = 1}).steady_turns("h2");
  one.launch({"h2"}, 0, 2).failure = "exit 4: out of luck";
  expect_result(one.result("soak-wrong", "h1"), "FAIL 10 wrong elements");
  expect_result(one.result("soak-launches", "h2"), "FAIL 1 of 3 turns failed: exit 4");
  EXPECT_EQ(one.result("soak-launches", "h2").value, 1);
  one.observations.back().failure = "interrupted";  // by who ended the run
  EXPECT_EQ(one.result("soak-launches", "h2").outcome, Outcome::Pass);
}

TEST(JudgeSoak, NeverPassesDataThatNothingCheckedAndIsAnErrorWithoutData) {
  SoakCase one({});
  one.turn("h1", 0, {.seconds = 10, .checked = 0});
  for (const char* const node : {"h1", "h2"}) {  // h2 has no turn
    expect_result(one.result("soak-wrong", node), "INCONCLUSIVE no data were checked");
    EXPECT_FALSE(one.result("soak-wrong", node).value);
  }
  EXPECT_EQ(one.result("soak-launches", "h2").outcome, Outcome::Error);
}

TEST(JudgeSoak, ShowsMeasuredValuesAndLimitsWithUnitsAndTheTimeline) {
  SoakCase one({.level_max = 0.05, .dips_max = 2, .recover_s_max = 5});
  one.turn("h1", 0,
           {.time_us = [](int second) { return second < 60 || second > 63 ? 100.0 : 300.0; }});
  const Acceptance all = one.judged();
  const std::string text = verdict_text(all, one.specification);
  EXPECT_THAT(text, ContainsRegex("soak-recover +h1 +allreduce +1 MiB +4 +s +<= 5 s +- +PASS"));
  EXPECT_THAT(text, ContainsRegex("soak-level +h1 +allreduce +1 MiB +0 +% +<= 5 % "));
  EXPECT_THAT(text, ContainsRegex("soak-dips +h1 +allreduce +1 MiB +0 +dips +<= 2 dips "));
  EXPECT_THAT(text, ContainsRegex("soak-wrong +h2 +allreduce +1 MiB +- +- +- "));
  const std::string page = verdict_html(all, one.specification);
  EXPECT_THAT(page, HasSubstr("set h1. Turns follow each other"));
  EXPECT_EQ(page.find("<svg"), page.rfind("<svg"));  // no bars
}

}  // namespace
}  // namespace busbar::judge

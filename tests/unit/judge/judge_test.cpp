// SPDX-License-Identifier: BSD-3-Clause
#include "judge/rule_check.hpp"
#include "tests/unit/judge/judge_case.hpp"

namespace busbar::judge {
namespace {

TEST(Judge, PercentagesHaveThreeDigitsBelowAThousand) {
  for (const auto& [share, text] : {std::pair{0.123456, "12.3 %"},
                                    {9.994, "999 %"},
                                    {9.996, "1000 %"},
                                    {10, "1000 %"},
                                    {123.456, "12346 %"},
                                    {-12.34, "-1234 %"}}) {
    EXPECT_EQ(percent_text(share), text);
  }
}

TEST(Judge, ANodeWithoutItsLaunchesIsAnErrorWithItsReference) {
  JudgeCase one;
  one.nodes = {"h1", "h2"};
  one.steady({"h1"}, 450);
  const Acceptance acceptance = one.judged();
  ASSERT_EQ(acceptance.verdicts.size(), 2U);
  const CheckResult& absent = acceptance.verdicts[1];
  EXPECT_EQ(absent.instance, "h2");
  expect_result(absent, "ERROR no data");
  EXPECT_DOUBLE_EQ(*absent.reference, 450);
  EXPECT_FALSE(absent.ratio);
  EXPECT_EQ(states(acceptance), "good no data");
  EXPECT_EQ(exit_code_of(acceptance, false), 4);
}

TEST(Judge, AMissingRowIsAnErrorThatNamesWhatThereIs) {
  expect_results({
      {"a decimal size", "ERROR no row of 1 MiB: there is 976.56 KiB",
       every([](Record& r) { r.size = 1000000; })},
      {"another type", "ERROR 1 MiB only as double", every([](Record& r) { r.type = "double"; })},
      {"another operation", "ERROR 1 MiB only with max", every([](Record& r) { r.op = "max"; })},
      {"another type in place", "ERROR 1 MiB only as half in place", every([](Record& r) {
         r.type = "half";
         r.in_place = true;
       })},
      {"the row that differs least", "ERROR no row of 1 MiB: 1 MiB only as double",
       [](JudgeCase& c) {
         c.rule().in_place = true;
         for (Observation& o : c.observations) {
           o.records[0].type = "double";
           o.records.push_back(o.records[0]);
           o.records[1].in_place = true;
         }
       }},
      {"another collective", "ERROR no data of allgather: there is allreduce",
       [](JudgeCase& c) { c.rule().collectives = {"allgather"}; }},
  });
}

TEST(Judge, WhatCannotBeJudgedNeverPasses) {
  expect_results({
      {"no value", "ERROR column busbw_GBps", every([](Record& r) { r.busbw_GBps.reset(); })},
      {"a skipped row", "ERROR skipped: needs 20 GiB",
       [](JudgeCase& c) {
         c.row().status = RowStatus::Skipped;
         c.row().reason = "needs 20 GiB";
       }},
      {"one rank of eight", "ERROR run with 1 rank; the rule needs 8",
       every([](Record& r) { r.ranks = 1; })},
      {"wrong data that are waived", "FAIL wrong data: 3 wrong elements",
       [](JudgeCase& c) {
         c.row(2).wrong = 3;
         c.rule().known_issue = {"ticket", "2026-12-01"};
       }},
      {"wrong data without a count", "FAIL wrong data: not counted",
       [](JudgeCase& c) { c.row().status = RowStatus::Wrong; }},
      {"a threshold of zero", "ERROR ", [](JudgeCase& c) { c.rule().value = 0; }},
      {"unchecked data that need not be checked", "PASS",
       [](JudgeCase& c) {
         c.specification.run.check_data = false;
         c.row().wrong.reset();
       }},
  });
}

TEST(Judge, BusBandwidthOfOneRankIsSkippedWhetherItHasAValueOrNot) {
  const auto one_rank = [](std::optional<double> value, const std::string& failure) {
    return [=](JudgeCase& c) {
      c.set().ranks_per_node = 1;
      c.each([&](Record& r) {
        r.ranks = 1;
        r.busbw_GBps = value;
      });
      c.observations[1].failure = failure;
    };
  };
  expect_results({{"no value", "SKIP one rank", one_rank({}, "")},
                  {"a value", "SKIP one rank", one_rank(1999891, "")},
                  {"no value and a failure", "ERROR timeout", one_rank({}, "timeout")},
                  {"a value and a failure", "ERROR timeout", one_rank(1999891, "timeout")}});
}

TEST(Judge, ValuesAreHeldAgainstTheBoundsOfTheRuleAlone) {
  const auto time = [](Statistic statistic, double value, Bounds bounds) {
    return [=](JudgeCase& c) {
      c.rule().metric = Metric::Time;
      c.rule().statistic = statistic;
      c.rule().value = value;
      c.rule().bounds = bounds;
    };
  };
  expect_results({
      {"no mean over sizes: of 390 and 460 it is 425", "FAIL 390 GB/s",
       [](JudgeCase& c) {
         c.rule().sizes = {kMiB, 2 * kMiB};
         c.measured({460, 460, 460}).each([](Record& r) { r.busbw_GBps = 390; });
       }},
      {"not the best launch", "FAIL 310 GB/s",
       [](JudgeCase& c) {
         c.specification.noise.max_cv = 1;
         c.measured({300, 310, 450});
       }},
      {"twice the ceiling", "FAIL too good: 900 GB/s is 200 %",
       [](JudgeCase& c) {
         c.rule().compare = RuleKind::Theoretical;
         c.rule().bounds = {.fail_below = 0.9, .fail_above = 1.0};
         c.specification.ceiling.system = "dgx-h100";
         c.measured({900, 900, 900});
       }},
      {"a time too slow", "FAIL 125 us is 125 % of 100 us, above 120 %",
       time(Statistic::P99, 100, {.fail_below = 0.5, .fail_above = 1.2})},
      {"a time too good", "FAIL too good: 125 us is 12.5 % of 1000 us, below 50 %",
       time(Statistic::P99, 1000, {.fail_below = 0.5, .fail_above = 1.2})},
      {"a median time", "FAIL 200 %", time(Statistic::Median, 50, {.fail_above = 1.25})},
      {"the lowest bound of the rows where no ceiling is given", "FAIL 300 GB/s is 78.9 % of 380",
       [](JudgeCase& c) {
         c.rule().compare = RuleKind::Theoretical;
         c.measured({300, 300, 300}).each([](Record& r) { r.bound_GBps = 400; });
         c.row(1).bound_GBps = 380;
       }},
      {"no bound of the rows either", "ERROR no ceiling is known",
       [](JudgeCase& c) { c.rule().compare = RuleKind::Theoretical; }},
      {"two launches",
       "INCONCLUSIVE 2 launches where 3 are needed; 100 GB/s is 22.2 % of 450 GB/s, below 90 %",
       measured({100, 100})},
      {"one launch",
       "INCONCLUSIVE 1 launch where 3 are needed; 441 GB/s is 98 % of 450 GB/s, within the bounds",
       measured({441})},
  });
}

TEST(Judge, AValueAtABoundIsNotBeyondIt) {
  // 64 GB/s is the reference: halves and quarters of it are exact.
  JudgeCase one;
  one.rule().value = 64;
  one.rule().bounds = {.fail_below = 0.5, .warn_below = 0.5, .warn_above = 1.5, .fail_above = 1.5};
  expect_result(one.measured({32, 32, 32}).first(), "PASS");
  expect_result(one.measured({96, 96, 96}).first(), "PASS");
  one.rule().bounds.fail_above = 2;
  EXPECT_EQ(one.measured({97, 97, 97}).first().reason, "97 GB/s is 152 % of 64 GB/s, above 150 %");
}

TEST(Judge, NotesNameOversubscribedSetsAndSharedHosts) {
  JudgeCase one;
  one.steady_nodes(2);
  EXPECT_TRUE(one.judged().head.notes.empty());
  one.each([](Record& r) { r.flags = "oversubscribed"; }, "h2");
  for (Observation& o : one.observations) o.facts["hosts"] = "vm";
  const Acceptance acceptance = one.judged();
  EXPECT_EQ(acceptance.count(Outcome::Pass), 1U);
  EXPECT_THAT(acceptance.head.notes,
              ElementsAre(AllOf(StartsWith("nodes h1 h2 "), HasSubstr("name, vm")),
                          HasSubstr("in 1 of 2 verdicts (device set set)")));
  for (Observation& o : one.observations) o.facts["hosts"] = o.instance;
  EXPECT_EQ(one.judged().head.notes.size(), 1U) << "two hosts";
}

TEST(OneMachine, IsNoFleetOfNodesAndLogsOfOthersDoNotShowIt) {
  JudgeCase one;
  one.steady_nodes(3).against_fleet();
  const auto on = [&](bool same, const std::string& flags) {
    for (Observation& o : one.observations) {
      o.facts["hosts"] = same ? "vm" : o.nodes[0];
      for (Record& row : o.records) row.flags = flags;
    }
    return one.overall();
  };
  EXPECT_EQ(on(false, ""), Outcome::Pass);
  EXPECT_EQ(on(true, ""), Outcome::Inconclusive);
  EXPECT_EQ(on(true, "imported"), Outcome::Pass);
}

/// An earlier run of h1 and h2, and three launches of h1 that are compared with it.
struct EarlierRun {
  RunJournal earlier{.nodes = {"h1", "h2"}};
  JudgeCase of{};

  EarlierRun() {
    of.launches({"h1"}, {440, 450, 452});
    of.launches({"h2"}, {460, 461, 470});
    earlier.lines = of.observations;
    of.measured({432, 432, 432});
    of.rule().compare = RuleKind::Baseline;
    of.specification.baseline = {.run = "run"};
    of.baseline = &earlier;
  }
};

TEST(EarlierRun, IsTheReferenceOfItsNodesAndOfANewOneByAll) {
  EarlierRun one;
  EXPECT_EQ(one.of.first().reference, 450);
  EXPECT_EQ(one.of.first().reference_kind, "baseline run");
  one.earlier.nodes = {"h2"};
  EXPECT_EQ(one.of.first().reference, 461) << "of h2, since h1 has no past";
  one.of.rule().statistic = Statistic::P99;
  EXPECT_DOUBLE_EQ(*one.of.first().reference, 461 * 100 / 125.0);
}

TEST(EarlierRun, IsNoReferenceWhereItsRowsAreNotGood) {
  const std::vector<std::pair<std::function<void(EarlierRun&)>, std::string>> cases{
      {[](EarlierRun& r) { r.earlier.lines[0].records[0].busbw_GBps = 300; },
       "ERROR baseline run: h1: noisy: cv 21.8 %"},
      {[](EarlierRun& r) { r.earlier.lines.erase(r.earlier.lines.begin()); },
       "ERROR baseline run: h1: 2 launches where 3 are needed"},
      {[](EarlierRun& r) { r.earlier.lines[1].records[0].wrong = 2; },
       "ERROR baseline run: h1: wrong data: 2 wrong elements"},
      {[](EarlierRun& r) { r.earlier.lines[1].records[0].backend = "sim"; },
       "ERROR baseline run: h1: simulated"},
      {[](EarlierRun& r) { r.earlier.lines.clear(); },
       "ERROR baseline run has no median busbw of 1 MiB on set h1"}};
  for (const auto& [change, result] : cases) {
    EarlierRun one;
    change(one);
    expect_result(one.of.first(), result);
  }
}

TEST(EarlierRun, OfPairsHasAReferenceForEachNode) {
  JudgeCase one = pairs_case(4, RuleKind::Baseline,
                             [](std::size_t first, std::size_t) { return first == 0 ? 90 : 100; });
  const RunJournal earlier{.nodes = one.nodes, .lines = one.observations};
  one.specification.baseline = {.run = "run"};
  one.baseline = &earlier;
  const Acceptance judged = one.judged();
  EXPECT_EQ(judged.overall(), Outcome::Pass);
  EXPECT_EQ(judged.verdicts.at(0).reference, 90);
  EXPECT_EQ(judged.verdicts.at(1).reference, 100);
}

TEST(Judge, WaiversAndFailedLaunchesChangeTheOutcome) {
  const auto known = [](double value, const std::string& today) {
    return [=](JudgeCase& c) {
      c.measured({value, value, value});
      c.rule().known_issue = {"ticket 4711", "2026-12-01"};
      c.today = today;
    };
  };
  expect_results({
      {"known on its last day", "KNOWN ticket 4711", known(300, "2026-12-01")},
      {"known a day too late", "FAIL known issue is over", known(300, "2026-12-02")},
      {"a pass that is known to fail", "WARN passes although known to fail: ticket 4711",
       known(450, "2026-12-01")},
      {"a pass after the last day", "PASS", known(450, "2026-12-02")},
      {"a pass beside a failure that is known", "PASS",
       [=](JudgeCase& c) {
         known(450, "2026-12-01")(c);
         c.steady({"h2"}, 300);
       }},
      {"a failure that is known of others", "FAIL 300 GB/s",
       [=](JudgeCase& c) {
         known(300, "2026-12-01")(c);
         c.rule().known_issue->nodes = {"h2", "h3"};
       }},
      {"a failed launch beside three good ones",
       "WARN 1 of 4 launches produced no data: timeout after 120 s",
       [](JudgeCase& c) { c.launch({"h1"}, 450, 3).failure = "timeout after 120 s"; }},
      {"two groups of launches", "PASS bimodal: 2 launches at 430.5 GB/s and 3 at 470 GB/s",
       [](JudgeCase& c) {
         c.specification.noise.max_cv = 0.2;
         c.measured({430, 431, 470, 469, 471});
       }},
  });
  JudgeCase waived;
  known(300, "2026-12-01")(waived);
  EXPECT_TRUE(waived.judged().suspects.empty());
}

TEST(Judge, ARailIsJudgedByTheRowsOfItsGroup) {
  JudgeCase one(SetKind::Rails);
  one.nodes = {"h1", "h2"};
  one.set().ranks_per_node = 2;
  one.specification.run.min_launches = 1;
  Observation& o = one.launch({"h1", "h2"}, 450);
  o.records[0].ranks = 2;
  o.records.push_back(o.records[0]);
  o.records[0].group = 0;
  o.records[1].group = 1;
  o.records[1].busbw_GBps = 200;
  const Acceptance acceptance = one.judged();
  ASSERT_EQ(acceptance.verdicts.size(), 2U);
  EXPECT_EQ(acceptance.verdicts[0].outcome, Outcome::Pass);
  EXPECT_EQ(acceptance.verdicts[1].instance, "rail 1");
  EXPECT_EQ(acceptance.verdicts[1].outcome, Outcome::Fail);
}

Acceptance with(std::initializer_list<Outcome> outcomes) {
  Acceptance acceptance;
  for (const Outcome outcome : outcomes) acceptance.verdicts.push_back({.outcome = outcome});
  return acceptance;
}

TEST(Verdict, TheWorstOutcomeDecidesAndTheExitCodeIsZeroOnlyForWhatWasMeasured) {
  EXPECT_EQ(with({Outcome::Pass, Outcome::Skip}).overall(), Outcome::Pass);
  EXPECT_EQ(with({Outcome::Error, Outcome::Fail, Outcome::Pass}).overall(), Outcome::Fail);
  for (const auto& [outcome, code, strict] : {std::tuple{Outcome::Pass, 0, 0},
                                              {Outcome::Known, 0, 0},
                                              {Outcome::Warn, 0, 1},
                                              {Outcome::Fail, 1, 1},
                                              {Outcome::Inconclusive, 3, 3},
                                              {Outcome::Error, 4, 4},
                                              {Outcome::Skip, 77, 77}}) {
    EXPECT_EQ(exit_code_of(with({outcome}), false), code);
    EXPECT_EQ(exit_code_of(with({outcome}), true), strict);
  }
  EXPECT_EQ(exit_code_of(with({}), false), 4);
}

}  // namespace
}  // namespace busbar::judge

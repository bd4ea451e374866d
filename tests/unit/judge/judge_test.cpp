// SPDX-License-Identifier: BSD-3-Clause
#include "judge/judge.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judge/rule_check.hpp"
#include "tests/unit/judge/judge_case.hpp"

namespace busbar::judge {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(Judge, AValueWithinItsBoundsPassesWithoutWords) {
  JudgeCase one;
  one.launches({"h1"}, {448, 450, 452});
  const Acceptance acceptance = one.judged();
  ASSERT_EQ(acceptance.verdicts.size(), 1U);
  EXPECT_EQ(acceptance.verdicts[0].outcome, Outcome::Pass);
  EXPECT_EQ(acceptance.verdicts[0].reason, "");
  EXPECT_DOUBLE_EQ(*acceptance.verdicts[0].value, 450);
  EXPECT_NEAR(*acceptance.verdicts[0].cv, 2.0 / 450, 1e-12);
  EXPECT_EQ(acceptance.verdicts[0].attempts, 1U);
  EXPECT_EQ(exit_code_of(acceptance, true), 0);
}

TEST(Judge, ALowValueFailsWithItsNumbers) {
  JudgeCase one;
  one.steady({"h1"}, 365.6);
  const Acceptance acceptance = one.judged();
  EXPECT_EQ(acceptance.verdicts[0].outcome, Outcome::Fail);
  EXPECT_EQ(acceptance.verdicts[0].reason, "365.6 GB/s is 81.2 % of 450 GB/s, below 90 %");
  ASSERT_EQ(acceptance.suspects.size(), 1U);
  EXPECT_EQ(acceptance.nodes.at(0).state, NodeState::Failed);
  EXPECT_EQ(exit_code_of(acceptance, false), 1);
}

TEST(Judge, PercentagesHaveThreeDigitsBelowAThousand) {
  EXPECT_EQ(percent_words(0.123456), "12.3 %");
  EXPECT_EQ(percent_words(9.994), "999 %");
  EXPECT_EQ(percent_words(9.996), "1000 %");
  EXPECT_EQ(percent_words(10), "1000 %");
  EXPECT_EQ(percent_words(123.456), "12346 %");
  EXPECT_EQ(percent_words(-12.34), "-1234 %");
}

TEST(Judge, ANodeWithoutItsLaunchesIsAnError) {
  JudgeCase one;
  one.nodes = {"h1", "h2"};
  one.steady({"h1"}, 450);
  const Acceptance acceptance = one.judged();
  ASSERT_EQ(acceptance.verdicts.size(), 2U);
  EXPECT_EQ(acceptance.verdicts[1].instance, "h2");
  EXPECT_EQ(acceptance.verdicts[1].outcome, Outcome::Error);
  EXPECT_EQ(acceptance.verdicts[1].reason, "no data");
  EXPECT_EQ(acceptance.nodes.at(0).state, NodeState::Good);
  EXPECT_EQ(acceptance.nodes.at(1).state, NodeState::NoData);
  EXPECT_EQ(exit_code_of(acceptance, false), 4);
}

TEST(Judge, AFailureOfALaunchIsTheReason) {
  JudgeCase one;
  one.launch({"h3"}, 450).failure = "h3 does not answer";
  one.observations.back().records.clear();
  const Acceptance acceptance = one.judged();
  EXPECT_EQ(acceptance.verdicts[0].outcome, Outcome::Error);
  EXPECT_EQ(acceptance.verdicts[0].reason, "h3 does not answer");
  EXPECT_THAT(acceptance.nodes.at(0).evidence, HasSubstr("h3 does not answer"));
}

TEST(Judge, AMissingSizeIsAnErrorThatNamesIt) {
  JudgeCase one;
  one.steady({"h1"}, 450);
  one.rule().sizes.push_back(2 * kMiB);
  const Acceptance acceptance = one.judged();
  EXPECT_EQ(acceptance.verdicts.at(0).outcome, Outcome::Pass);
  EXPECT_EQ(acceptance.verdicts.at(1).outcome, Outcome::Error);
  EXPECT_EQ(acceptance.verdicts.at(1).reason, "no row of 2 MiB: there is 1 MiB");
}

TEST(Judge, NanZeroNegativeAndInfiniteValuesCannotBeJudged) {
  for (const double bad : {std::nan(""), 0.0, -1.0, std::numeric_limits<double>::infinity()}) {
    JudgeCase one;
    one.steady({"h1"}, 450);
    one.observations[1].records[0].busbw_GBps = bad;
    EXPECT_EQ(one.first().outcome, Outcome::Error) << bad;
    EXPECT_THAT(one.first().reason, HasSubstr("not a number that can be judged"));
  }
}

TEST(Judge, ASkippedRowIsAnErrorSinceTheContractAskedForIt) {
  JudgeCase one;
  one.steady({"h1"}, 450);
  one.observations[0].records[0].status = RowStatus::Skipped;
  one.observations[0].records[0].reason = "needs 20 GiB";
  EXPECT_EQ(one.first().outcome, Outcome::Error);
  EXPECT_EQ(one.first().reason, "skipped: needs 20 GiB");
}

TEST(Judge, BusBandwidthOfOneRankIsSkipped) {
  JudgeCase one;
  one.specification.device_sets[0].ranks_per_node = 1;
  one.steady({"h1"}, 450);
  for (Observation& o : one.observations) {
    o.records[0].ranks = 1;
    o.records[0].busbw_GBps.reset();
  }
  const Acceptance acceptance = one.judged();
  EXPECT_EQ(acceptance.verdicts[0].outcome, Outcome::Skip);
  EXPECT_EQ(exit_code_of(acceptance, false), 77);
}

TEST(Judge, OneRankWhereEightAreWantedIsAnError) {
  JudgeCase one;
  one.steady({"h1"}, 1999891);
  for (Observation& o : one.observations) o.records[0].ranks = 1;
  EXPECT_NE(one.first().outcome, Outcome::Pass);
  one.specification.expectations[0].metric = Metric::AlgorithmBandwidth;
  EXPECT_EQ(one.first().outcome, Outcome::Error);
  EXPECT_EQ(one.first().reason, "1 rank took part where 8 are wanted");
}

TEST(Judge, WrongDataFailWhateverTheBandwidth) {
  JudgeCase one;
  one.steady({"h1"}, 450);
  one.observations[2].records[0].wrong = 3;
  one.rule().known_issue = {"ticket", "2026-12-01"};
  one.rule().allow_misses = 1;
  EXPECT_EQ(one.first().outcome, Outcome::Fail);
  EXPECT_EQ(one.first().reason, "3 wrong elements");
}

TEST(Judge, UncheckedDataAreInconclusive) {
  JudgeCase one;
  one.steady({"h1"}, 450);
  one.specification.run.check_data = true;
  one.observations[0].records[0].wrong.reset();
  EXPECT_EQ(one.first().outcome, Outcome::Inconclusive);
  EXPECT_EQ(one.first().reason, "data were not checked");
  one.specification.run.check_data = false;
  EXPECT_EQ(one.first().outcome, Outcome::Pass);
}

TEST(Judge, TooFewLaunchesAreInconclusiveEvenWhereLow) {
  JudgeCase one;
  one.launches({"h1"}, {100, 100});
  EXPECT_EQ(one.first().outcome, Outcome::Inconclusive);
  EXPECT_EQ(one.first().reason,
            "2 launches where 3 are needed; 100 GB/s is 22.2 % of 450 GB/s, below 90 %");
  EXPECT_DOUBLE_EQ(*one.first().reference, 450);
  EXPECT_NEAR(*one.first().ratio, 0.222, 0.001);
}

TEST(Judge, OneGoodLaunchIsInconclusiveWithItsNumbers) {
  JudgeCase one;
  one.launch({"h1"}, 441);
  EXPECT_EQ(one.first().outcome, Outcome::Inconclusive);
  EXPECT_EQ(one.first().reason,
            "1 launch where 3 are needed; 441 GB/s is 98 % of 450 GB/s, within the bounds");
}

TEST(Judge, AnErrorHasTheBoundThatItWouldBeHeldAgainst) {
  JudgeCase one;
  one.nodes = {"h1"};
  EXPECT_EQ(one.first().outcome, Outcome::Error);
  EXPECT_DOUBLE_EQ(*one.first().reference, 450);
  EXPECT_FALSE(one.first().ratio);
}

/// What is said where the row of a rule is missing, of a file whose rows are changed.
std::string missing(const std::function<void(Record&)>& change) {
  JudgeCase one;
  one.steady({"h1"}, 450);
  for (Observation& o : one.observations) change(o.records[0]);
  EXPECT_EQ(one.first().outcome, Outcome::Error);
  return one.first().reason;
}

TEST(Judge, AMissingRowNamesWhatThereIs) {
  EXPECT_EQ(missing([](Record& r) { r.type = "double"; }), "no row of 1 MiB: 1 MiB only as double");
  EXPECT_EQ(missing([](Record& r) { r.op = "max"; }), "no row of 1 MiB: 1 MiB only with max");
  EXPECT_EQ(missing([](Record& r) { r.in_place = true; }), "no row of 1 MiB: 1 MiB only in place");
  EXPECT_EQ(missing([](Record& r) {
              r.type = "half";
              r.in_place = true;
            }),
            "no row of 1 MiB: 1 MiB only as half in place");
  EXPECT_EQ(missing([](Record& r) { r.size = 4 * kMiB; }), "no row of 1 MiB: there is 4 MiB");
}

TEST(Judge, TheRowThatDiffersLeastIsNamed) {
  JudgeCase one;
  one.rule().in_place = true;
  one.steady({"h1"}, 450);
  for (Observation& o : one.observations) {
    o.records[0].type = "double";
    o.records.push_back(o.records[0]);
    o.records[1].in_place = true;
  }
  EXPECT_EQ(one.first().reason, "no row of 1 MiB: 1 MiB only as double");
}

TEST(Judge, AMissingCollectiveNamesThoseThatThereAre) {
  JudgeCase one;
  one.steady({"h1"}, 450);
  one.rule().collectives = {"allgather"};
  EXPECT_EQ(one.first().reason, "no data of allgather: there is allreduce");
}

TEST(Judge, ANoteCountsTheVerdictsThatRanksShareProcessorsIn) {
  JudgeCase one;
  one.nodes = {"h1", "h2"};
  one.steady({"h1"}, 450);
  one.steady({"h2"}, 450);
  for (Observation& o : one.observations) {
    if (o.instance == "h2") o.records[0].flags = "oversubscribed";
  }
  const Acceptance acceptance = one.judged();
  EXPECT_EQ(acceptance.count(Outcome::Pass), 1U);
  ASSERT_EQ(acceptance.head.notes.size(), 1U);
  EXPECT_EQ(acceptance.head.notes[0],
            "oversubscribed: ranks shared processors in 1 of 2 verdicts (device set set); these "
            "never pass");
}

TEST(Judge, SeveralNodesUnderOneHostNameAreNoted) {
  JudgeCase one;
  one.nodes = {"n1", "n2"};
  one.steady({"n1"}, 450);
  one.steady({"n2"}, 450);
  for (Observation& o : one.observations) o.facts["hosts"] = "vm";
  ASSERT_EQ(one.judged().head.notes.size(), 1U);
  EXPECT_EQ(one.judged().head.notes[0],
            "nodes n1 n2 ran on one host by its own name, vm: they may be one machine");
  for (Observation& o : one.observations) o.facts["hosts"] = o.instance;
  EXPECT_TRUE(one.judged().head.notes.empty());
}

TEST(Judge, ALaunchThatFailedIsToldBesideAPass) {
  JudgeCase one;
  one.launches({"h1"}, {450, 450, 450, 450});
  one.observations[3].failure = "timeout after 120 s";
  EXPECT_EQ(one.first().outcome, Outcome::Warn);
  EXPECT_EQ(one.first().reason, "1 of 4 launches gave nothing: timeout after 120 s");
}

TEST(Judge, NoiseIsJudgedBeforeBounds) {
  JudgeCase one;
  one.launches({"h1"}, {300, 450, 600});
  const Acceptance acceptance = one.judged();
  EXPECT_EQ(acceptance.verdicts[0].outcome, Outcome::Inconclusive);
  EXPECT_EQ(acceptance.verdicts[0].reason, "noisy: cv 33.3 % over 3 launches is above 5 %");
  const auto noisy = noisy_instances(acceptance);
  ASSERT_EQ(noisy.size(), 1U);
  EXPECT_EQ(noisy[0].instance, "h1");
  EXPECT_EQ(noisy[0].attempts, 1U);
  EXPECT_EQ(exit_code_of(acceptance, false), 3);
}

TEST(Judge, NamesEachNoisyInstanceOfEachSetAndCollectiveOnce) {
  Acceptance acceptance;
  for (const auto& [set, instance, collective] :
       {std::tuple{"node", "h1", "allreduce"}, std::tuple{"node", "h2", "allreduce"},
        std::tuple{"node", "h1", "alltoall"}, std::tuple{"pairs", "h1", "allreduce"},
        std::tuple{"node", "h1", "allreduce"}}) {
    acceptance.verdicts.push_back({.device_set = set,
                                   .instance = instance,
                                   .collective = collective,
                                   .outcome = Outcome::Inconclusive,
                                   .cause = Cause::Noisy});
  }
  const auto noisy = noisy_instances(acceptance);
  ASSERT_EQ(noisy.size(), 4U);
  EXPECT_EQ(noisy[1].instance, "h2");
  EXPECT_EQ(noisy[2].collective, "alltoall");
  EXPECT_EQ(noisy[3].device_set, "pairs");
}

TEST(Judge, NoiseByWarnIsJudgedAndAPassBecomesWarn) {
  JudgeCase one;
  one.specification.noise.on_noisy = OnNoisy::Warn;
  one.launches({"h1"}, {400, 450, 500});
  EXPECT_EQ(one.first().outcome, Outcome::Warn);
  one.rule().max_cv = 0.2;
  EXPECT_EQ(one.first().outcome, Outcome::Pass);
}

TEST(Judge, NoiseAtItsBoundIsNoNoise) {
  // 8, 10 and 12 have the deviation 2 and the mean 10.
  for (const OnNoisy on_noisy : {OnNoisy::Inconclusive, OnNoisy::Warn}) {
    JudgeCase one;
    one.specification.noise.max_cv = 0.2;
    one.specification.noise.on_noisy = on_noisy;
    one.rule().value = 10;
    one.launches({"h1"}, {8, 10, 12});
    EXPECT_EQ(one.first().outcome, Outcome::Pass);
    one.specification.noise.max_cv = 0.199;
    EXPECT_NE(one.first().outcome, Outcome::Pass);
  }
}

TEST(Judge, AllAttemptsArePooledAndLastTakesTheLast) {
  JudgeCase one;
  one.launches({"h1"}, {100, 100, 100});
  one.launches({"h1"}, {450, 450, 450}, 1);
  EXPECT_EQ(one.first().outcome, Outcome::Inconclusive);
  EXPECT_EQ(one.first().values.size(), 6U);
  EXPECT_EQ(one.first().attempts, 2U);
  one.specification.noise.decide = Decide::Last;
  EXPECT_EQ(one.first().outcome, Outcome::Pass);
  EXPECT_EQ(one.first().attempts, 2U);
}

TEST(Judge, BimodalLaunchesAreTold) {
  JudgeCase one;
  one.specification.noise.max_cv = 0.2;
  one.launches({"h1"}, {430, 431, 470, 469, 471});
  EXPECT_EQ(one.first().reason, "bimodal: 2 launches at 430.5 GB/s and 3 at 470 GB/s");
}

TEST(Judge, AMissThatIsAllowedIsAWarning) {
  JudgeCase one;
  one.rule().sizes = {kMiB, 2 * kMiB, 4 * kMiB};
  one.steady({"h1"}, 450);
  for (Observation& o : one.observations) o.records[1].busbw_GBps = 300;
  one.rule().allow_misses = 1;
  EXPECT_EQ(one.judged().verdicts.at(1).outcome, Outcome::Warn);
  EXPECT_THAT(one.judged().verdicts.at(1).reason, HasSubstr("1 of 1 allowed misses"));
  for (Observation& o : one.observations) o.records[2].busbw_GBps = 300;
  EXPECT_EQ(one.judged().count(Outcome::Fail), 2U);
}

TEST(Judge, AKnownIssueIsKnownUntilTheEndOfItsDay) {
  JudgeCase one;
  one.steady({"h1"}, 300);
  one.rule().known_issue = {"ticket 4711", "2026-12-01"};
  one.today = "2026-12-01";
  EXPECT_EQ(one.first().outcome, Outcome::Known);
  EXPECT_TRUE(one.judged().suspects.empty());
  one.today = "2026-12-02";
  EXPECT_EQ(one.first().outcome, Outcome::Fail);
  EXPECT_THAT(one.first().reason, HasSubstr("known issue is over"));
}

TEST(Judge, APassThatIsKnownToFailIsShown) {
  JudgeCase one;
  one.steady({"h1"}, 450);
  one.rule().known_issue = {"ticket 4711", "2026-12-01"};
  EXPECT_EQ(one.first().outcome, Outcome::Warn);
  EXPECT_EQ(one.first().reason, "passes although known to fail: ticket 4711");
}

TEST(Judge, OversubscribedNeverPassesButItsMissIsAFail) {
  JudgeCase one;
  one.steady({"h1"}, 450);
  for (Observation& o : one.observations) o.records[0].flags = "few-samples oversubscribed";
  EXPECT_EQ(one.first().outcome, Outcome::Inconclusive);
  for (Observation& o : one.observations) o.records[0].busbw_GBps = 100;
  EXPECT_EQ(one.first().outcome, Outcome::Fail);
}

TEST(Judge, SimulatedAndFakeRowsAreInconclusiveEitherWay) {
  for (const double value : {450.0, 100.0}) {
    JudgeCase fake;
    fake.steady({"h1"}, value);
    for (Observation& o : fake.observations) o.records[0].flags = "fake";
    EXPECT_EQ(fake.first().outcome, Outcome::Inconclusive);
    JudgeCase simulated;
    simulated.steady({"h1"}, value);
    for (Observation& o : simulated.observations) o.records[0].backend = "sim";
    EXPECT_EQ(simulated.first().outcome, Outcome::Inconclusive);
    EXPECT_THAT(simulated.first().reason, HasSubstr("simulated"));
  }
  JudgeCase without_reference;
  without_reference.rule().compare = Comparison::Baseline;
  without_reference.steady({"h1"}, 450);
  for (Observation& o : without_reference.observations) o.records[0].flags = "fake";
  EXPECT_EQ(without_reference.first().outcome, Outcome::Error)
      << "a missing baseline stays an error";
}

TEST(Judge, ATimeIsTooSlowAboveItsBoundAndTooGoodBelow) {
  JudgeCase one;
  one.rule().metric = Metric::Time;
  one.rule().statistic = Statistic::P99;
  one.rule().value = 100;
  one.rule().bounds = {.fail_below = 0.5, .fail_above = 1.2};
  one.steady({"h1"}, 450);
  EXPECT_EQ(one.first().reason, "125 us is 125 % of 100 us, above 120 %");
  one.rule().value = 1000;
  EXPECT_EQ(one.first().reason, "too good: 125 us is 12.5 % of 1000 us, below 50 %");
}

TEST(Judge, BandwidthByP99IsThatOfTheP99Time) {
  JudgeCase one;
  one.rule().statistic = Statistic::P99;
  one.steady({"h1"}, 500);
  EXPECT_DOUBLE_EQ(*one.first().value, 400);
}

TEST(Judge, TheoreticalTakesTheRowsOwnBoundWhereNoCeilingIsGiven) {
  JudgeCase one;
  one.rule().compare = Comparison::Theoretical;
  one.steady({"h1"}, 360);
  EXPECT_EQ(one.first().outcome, Outcome::Error);
  EXPECT_THAT(one.first().reason, HasSubstr("no ceiling is known"));
  for (Observation& o : one.observations) o.records[0].bound_GBps = 400;
  one.observations[1].records[0].bound_GBps = 380;
  EXPECT_EQ(one.first().outcome, Outcome::Pass);
  EXPECT_DOUBLE_EQ(*one.first().reference, 380);
  EXPECT_THAT(one.first().reference_kind, StartsWith("ceiling: "));
}

TEST(Judge, AFailedWholeRunBlamesNobody) {
  JudgeCase one(SetKind::Whole);
  one.nodes = {"h1", "h2"};
  one.steady({"h1", "h2"}, 100);
  const Acceptance acceptance = one.judged();
  EXPECT_EQ(acceptance.verdicts.at(0).outcome, Outcome::Fail);
  EXPECT_TRUE(acceptance.suspects.empty());
  EXPECT_EQ(acceptance.nodes.at(0).state, NodeState::Suspect);
}

TEST(Judge, ARailIsJudgedByTheRowsOfItsGroup) {
  JudgeCase one(SetKind::Rails);
  one.nodes = {"h1", "h2"};
  one.specification.device_sets[0].ranks_per_node = 2;
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

TEST(Judge, NoRuleAndNoNodesAreErrors) {
  JudgeCase one;
  EXPECT_EQ(one.judged().overall(), Outcome::Error);
  one.specification.expectations.clear();
  EXPECT_EQ(exit_code_of(one.judged(), false), 4);
}

}  // namespace
}  // namespace busbar::judge

// SPDX-License-Identifier: BSD-3-Clause
#include "judge/baseline.hpp"

#include <functional>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "tests/unit/judge/judge_case.hpp"
#include "tests/unit/support/failure.hpp"
#include "tests/unit/support/temporary_folder.hpp"

namespace busbar::judge {
namespace {

using ::testing::HasSubstr;

JudgeCase healthy_case() {
  JudgeCase one;
  one.launches({"h1"}, {440, 450, 452});
  one.launches({"h2"}, {460, 461, 470});
  for (Observation& o : one.observations) {
    o.facts = {{"library", "NCCL 2.29.2"}, {"driver", "580.1"}};
  }
  return one;
}

Baseline built(const JudgeCase& one, const Facts& assumed = {}) {
  return build_baseline(one.specification, one.observations, one.today, assumed);
}

std::string refusal(const JudgeCase& one) {
  return test::failure_of([&] { static_cast<void>(built(one)); }).message;
}

TEST(Baseline, HasMedianAndMadPerInstanceAndOfAll) {
  JudgeCase one = healthy_case();
  one.specification.system.name = "pod";
  const Baseline made = built(one);
  ASSERT_EQ(made.rows.size(), 3U);
  EXPECT_EQ(made.rows[0].key.instance, "h1");
  EXPECT_DOUBLE_EQ(made.rows[0].median, 450);
  EXPECT_DOUBLE_EQ(made.rows[0].mad, 2);
  EXPECT_EQ(made.rows[0].launches, 3U);
  EXPECT_EQ(made.rows[2].key.instance, "");
  EXPECT_DOUBLE_EQ(made.rows[2].median, 456);
  EXPECT_EQ(made.facts.at("library"), "NCCL 2.29.2");
  EXPECT_EQ(made.facts.at("ranks_per_node"), "8");
  EXPECT_EQ(made.facts.at("hosts"), "h1 h2");
  EXPECT_EQ(made.facts.at("system"), one.specification.system.name);
  JudgeCase alone;
  alone.launches({"h1"}, {440, 450, 452});
  EXPECT_EQ(built(alone).rows.size(), 1U);
}

TEST(Baseline, HasFactsThatDifferByTheSetOfDevices) {
  JudgeCase one = healthy_case();
  one.specification.device_sets.push_back({.id = "pairs", .kind = SetKind::Pairwise});
  one.observations.push_back(one.observations[0]);
  one.observations.back().device_set = "pairs";
  one.observations.back().facts["library"] = "NCCL 2.18.1";
  const Baseline made = built(one);
  EXPECT_FALSE(made.facts.contains("library"));
  EXPECT_EQ(made.facts.at("library.set"), "NCCL 2.29.2");
  EXPECT_EQ(made.facts.at("library.pairs"), "NCCL 2.18.1");
}

TEST(Baseline, IsReadBackAsItWasWritten) {
  const JudgeCase one = healthy_case();
  Baseline made = built(one);
  made.rows[0].key.instance = "rail \"3\", left";
  const test::TemporaryFolder folder;
  folder.write("b.csv", baseline_text(made));
  const Baseline read = load_baseline(folder.path("b.csv"));
  EXPECT_EQ(baseline_text(read), baseline_text(made));
  EXPECT_EQ(read.made_on, "2026-11-21");
  EXPECT_EQ(read.rows.at(0).key.instance, "rail \"3\", left");
}

TEST(Baseline, WhatNoFileReportsIsAssumedAndNoted) {
  JudgeCase one = healthy_case();
  one.specification.system.fingerprint = {{"gpu", {"H200"}}};
  EXPECT_THAT(refusal(one), HasSubstr("does not report gpu (--assume gpu=VALUE"));
  const Baseline made =
      built(one, {{"gpu", "NVIDIA H200"}, {"driver", "999, which the files contradict"}});
  EXPECT_EQ(made.facts.at("gpu"), "NVIDIA H200");
  EXPECT_EQ(made.facts.at("driver"), "580.1");
  EXPECT_EQ(made.facts.at("assumed"), "gpu");
}

TEST(Baseline, RefusesWhatIsNoMeasureForOthers) {
  const std::vector<std::pair<std::function<void(JudgeCase&)>, std::string>> cases{
      {[](JudgeCase& c) { c.row(0).busbw_GBps = 300; },
       "no baseline of rule floor, set h1, allreduce 1 MiB: noisy: cv 21.8 %"},
      {[](JudgeCase& c) { c.observations.erase(c.observations.begin()); },
       "set h1, allreduce 1 MiB: 2 launches where 3 are needed"},
      {[](JudgeCase& c) { c.row(1).wrong = 2; }, "2 wrong elements"},
      {[](JudgeCase& c) { c.row(1).backend = "sim"; }, "simulated"},
      {[](JudgeCase& c) { c.row(1).flags = "fake"; }, "no real GPU"},
      {[](JudgeCase& c) { c.row(1).flags = "oversubscribed"; }, "oversubscribed"},
      {[](JudgeCase& c) {
         c.observations.push_back(c.observations[0]);
         c.observations.back().failure = "exit 4";
       },
       "exit 4"},
      {[](JudgeCase& c) {
         c.specification.system.nodes = {"h1", "h2", "h3"};
       },
       "set h3, allreduce 1 MiB: no data"},
      {[](JudgeCase& c) { c = JudgeCase(); }, "no measurement to make a baseline of"}};
  for (const auto& [change, token] : cases) {
    JudgeCase one = healthy_case();
    change(one);
    EXPECT_THAT(refusal(one), HasSubstr(token));
  }
}

/// A baseline of this day for h1 and for all, with rows that differ in metric or statistic alone.
struct BaselineCase {
  Baseline baseline{
      .file = "b.csv",
      .facts = {{"library", "NCCL 2.29.2"}, {"driver", "580.1"}, {"ranks_per_node", "8"}}};
  JudgeCase of = healthy_case();

  explicit BaselineCase(const std::string& day = "2026-11-01", int max_age_days = 90) {
    baseline.made_on = day;
    const auto row = [](const std::string& instance, double median) {
      return BaselineRow{.key = {.device_set = "set",
                                 .instance = instance,
                                 .collective = "allreduce",
                                 .type = "float",
                                 .size = kMiB},
                         .median = median};
    };
    BaselineRow p99 = row("h1", 1);
    p99.key.statistic = Statistic::P99;
    BaselineRow time = row("h1", 2);
    time.key.metric = Metric::Time;
    baseline.rows = {p99, time, row("h1", 450), row("", 460), p99, time};
    of.rule().compare = RuleKind::Baseline;
    of.specification.baseline = {
        .file = "b.csv",
        .max_age_days = max_age_days,
        .must_match = {"library", "driver", "ranks_per_node", "device_set"}};
    of.baseline = &baseline;
  }
};

TEST(Baseline, IsTheReferenceOfTheInstanceTheMetricAndTheStatistic) {
  BaselineCase one;
  EXPECT_EQ(one.of.first().reference, 450);
  EXPECT_EQ(one.of.first().reference_kind, "baseline of 2026-11-01");
  one.baseline.rows.erase(one.baseline.rows.begin() + 2);
  EXPECT_EQ(one.of.first().reference, 460) << "of all instances";
  std::erase_if(one.baseline.rows, [](const BaselineRow& row) { return row.key.instance.empty(); });
  expect_result(one.of.first(), "ERROR baseline b.csv has no median busbw of 1 MiB on set h1");
}

TEST(Baseline, MayBeAsOldAsAllowedAndOfToday) {
  for (const auto& [day, most, result] :
       {std::tuple{"2026-11-21", 90, "PASS"},
        {"2026-08-23", 90, "PASS"},
        {"2026-08-22", 90,
         "ERROR stale: the baseline of 2026-08-22 is 91 days old, 90 are allowed"},
        {"2026-11-22", 90, "ERROR in the future"},
        {"2020-01-01", 0, "PASS"}}) {  // 0: any age
    expect_result(BaselineCase(day, most).of.first(), result);
  }
}

TEST(Baseline, IsNoReferenceWhereItsFactsDoNotMatch) {
  BaselineCase one;
  one.baseline.facts["library"] = "NCCL 2.18.1";
  expect_result(one.of.first(),
                "ERROR baseline b.csv is of library 'NCCL 2.18.1', this is 'NCCL 2.29.2'");
  one.baseline.facts.clear();
  EXPECT_THAT(one.of.first().reason, testing::EndsWith(" library"));
}

TEST(Baseline, IsComparedWithTheLaunchesOfItsInstanceOnly) {
  JudgeCase one = healthy_case();
  const Baseline made = built(one);
  for (std::size_t i = 3; i < 6; ++i) one.observations[i].facts["library"] = "NCCL 2.18.1";
  one.specification.baseline = {.file = "b.csv", .max_age_days = 90, .must_match = {"library"}};
  one.rule().compare = RuleKind::Baseline;
  one.baseline = &made;
  Observation failed = one.observations[0];  // it has no head to compare
  failed.facts.clear();
  failed.records.clear();
  failed.failure = "exit 4";
  failed.launch = 3;
  one.observations.push_back(failed);
  const Acceptance acceptance = one.judged();
  ASSERT_EQ(acceptance.verdicts.size(), 2U);
  EXPECT_EQ(acceptance.verdicts[0].outcome, Outcome::Warn) << acceptance.verdicts[0].reason;
  EXPECT_EQ(acceptance.verdicts[1].outcome, Outcome::Error);
}

TEST(Baseline, IsNoReferenceOfARowWithoutOneInIt) {
  JudgeCase one = healthy_case();
  one.rule().compare = RuleKind::Baseline;
  one.nodes = {"h1", "h2", "h3"};
  const Acceptance acceptance = one.judged();
  ASSERT_EQ(acceptance.verdicts.size(), 3U);
  EXPECT_EQ(acceptance.verdicts[2].outcome, Outcome::Error);
  EXPECT_EQ(acceptance.verdicts[2].reference_kind, "") << "neither data nor a baseline";
}

TEST(Baseline, RefusesAFileWithItsLine) {
  const test::TemporaryFolder folder;
  const std::string head =
      "# baseline_made_on: 2026-11-01\n"
      "device_set,instance,collective,type,size_bytes,metric,statistic,median,mad,launches\n";
  const std::string row = "set,,allreduce,float,1024,busbw,";
  for (const auto& [text, token] : std::vector<std::pair<std::string, std::string>>{
           {head + row + "median,450,2,3\n", ""},
           {head + row + "median,450,2\n", "b.csv:3: not a line of 10 cells"},
           {head + row + "median,nan,2,3\n", "b.csv:3: column median"},
           {head + row + "median,0,2,3\n", "b.csv:3: column median"},
           {head + row + "best,450,2,3\n", "b.csv:3: column statistic: invalid value 'best'"},
           {head + row + "median,450,2,3", "cut off"},
           {head, "no figure in the baseline"},
           {head.substr(31) + row + "median,450,2,3\n", "its age is unknown"}}) {
    folder.write("b.csv", text);
    const test::Failure failure =
        test::failure_of([&] { static_cast<void>(load_baseline(folder.path("b.csv"))); });
    EXPECT_THAT(failure.message, HasSubstr(token));
    EXPECT_EQ(failure.message.empty(), token.empty());
  }
}

TEST(Days, AreCountedOverMonthsAndLeapYears) {
  EXPECT_EQ(days_between("2026-11-21", "2026-11-21"), 0);
  EXPECT_EQ(days_between("2028-02-28", "2028-03-01"), 2);
  EXPECT_EQ(days_between("2026-03-01", "2026-02-28"), -1);
  EXPECT_THROW(static_cast<void>(days_between("2026-02-30", "2026-03-01")), Error);
  EXPECT_THROW(static_cast<void>(days_between("21.11.2026", "2026-03-01")), Error);
}

}  // namespace
}  // namespace busbar::judge

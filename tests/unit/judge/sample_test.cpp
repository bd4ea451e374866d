// SPDX-License-Identifier: BSD-3-Clause
#include "judge/sample.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/judge/judge_case.hpp"

namespace busbar::judge {
namespace {

using ::testing::HasSubstr;

/// Eight ranks of 16 bytes: equal parts may lose less than 128 bytes, and at most a thousandth.
struct SizeCase {
  Bytes wanted = 0;
  Bytes measured = 0;
  Word word = Word::Pass;
};
class SampleSize : public testing::TestWithParam<SizeCase> {};

TEST_P(SampleSize, IsTheWantedOneUpToEqualParts) {
  JudgeCase one;
  one.rule().sizes = {GetParam().measured};
  one.steady({"h1"}, 450);
  one.rule().sizes = {GetParam().wanted};
  EXPECT_EQ(one.first().word, GetParam().word) << one.first().reason;
  EXPECT_EQ(one.first().reason.starts_with("no row of "), GetParam().word == Word::Error);
}
INSTANTIATE_TEST_SUITE_P(Sizes, SampleSize,
                         testing::Values(SizeCase{kMiB, kMiB, Word::Pass},
                                         SizeCase{kMiB, kMiB - 127, Word::Pass},
                                         SizeCase{kMiB, kMiB - 128, Word::Error},
                                         SizeCase{kMiB, kMiB + 16, Word::Error},
                                         SizeCase{1024, 960, Word::Error},  // 6 %
                                         SizeCase{16016, 16000, Word::Pass},
                                         SizeCase{16000, 15984, Word::Error}));  // 16 of 16000

TEST(Sample, TakesTheExactSizeWhereALaunchHasBoth) {
  JudgeCase one;
  one.steady({"h1"}, 450);
  for (Observation& o : one.observations) {
    o.records.push_back(o.records[0]);
    o.records[1].size = kMiB - 64;
    o.records[1].busbw_GBps = 100;
  }
  EXPECT_EQ(one.first().word, Word::Pass);
  EXPECT_EQ(one.first().value, 450);
}

TEST(Sample, LeavesOutPairsOfRanksAndOtherGroups) {
  JudgeCase one;
  one.steady({"h1"}, 450);
  for (Observation& o : one.observations) {
    o.records.push_back(o.records[0]);
    o.records[1].sender = 0;
    o.records[1].receiver = 1;
    o.records[1].busbw_GBps = 10;
  }
  EXPECT_EQ(one.first().value, 450);
}

struct LevelCase {
  double min = 0;
  double median = 0;
  double p90 = 0;
  double p99 = 0;
  bool two = false;
};
class SampleLevels : public testing::TestWithParam<LevelCase> {};

TEST_P(SampleLevels, AreTwoTightOnesFarApart) {
  const LevelCase& one = GetParam();
  JudgeCase of;
  of.specification.run.min_launches = 1;
  Record& record = of.launch({"h1"}, 450).records[0];
  record.time_min_us = one.min;
  record.time_median_us = one.median;
  record.time_p90_us = one.p90;
  record.time_p99_us = one.p99;
  EXPECT_EQ(of.first().word, Word::Pass);
  EXPECT_EQ(of.first().reason, one.two ? "bimodal: the times of a launch have two levels" : "");
}
// Tight is within 2 % (of the minimum to the median, of p90 to p99), apart 10 % (median to p90).
INSTANTIATE_TEST_SUITE_P(Levels, SampleLevels,
                         testing::Values(LevelCase{100, 101, 112, 113, true},
                                         LevelCase{100, 103, 130, 131, false},
                                         LevelCase{100, 101, 111, 112, false},  // 1.1 * 101: 111.1
                                         LevelCase{100, 101, 105, 106, false},
                                         LevelCase{100, 101, 112, 115, false}));

TEST(Sample, OfOneRankAndALaunchThatFailedIsAnError) {
  JudgeCase one;
  one.specification.device_sets[0].ranks_per_node = 1;
  one.steady({"h1"}, 450);
  for (Observation& o : one.observations) o.records[0].ranks = 1;
  EXPECT_EQ(one.first().word, Word::Skip);
  one.observations[1].failure = "timeout after 120 s";
  EXPECT_EQ(one.first().word, Word::Error);
  EXPECT_EQ(one.first().reason, "timeout after 120 s");
}

TEST(Sample, TakesTheHighestAttemptForTheLastWhateverTheOrder) {
  JudgeCase one;
  one.specification.noise.decide = Decide::Last;
  one.launches({"h1"}, {450, 450, 450}, 1);
  one.launches({"h1"}, {100, 100, 100}, 0);
  EXPECT_EQ(one.first().value, 450);
  EXPECT_EQ(one.first().attempts, 2U);
}

TEST(Sample, IsWrongWhereTheRowSaysSoWithoutACount) {
  JudgeCase one;
  one.steady({"h1"}, 450);
  one.observations[0].records[0].status = RowStatus::Wrong;
  EXPECT_EQ(one.first().word, Word::Fail);
  EXPECT_EQ(one.first().reason, "wrong data");
}

struct EdgeCase {
  double value = 0;
  Bounds bounds{};
  Word word = Word::Pass;
};
class ExactBound : public testing::TestWithParam<EdgeCase> {};

// 64 GB/s is the reference: halves and quarters of it are exact.
TEST_P(ExactBound, IsNotBeyondItself) {
  JudgeCase one;
  one.rule().value = 64;
  one.rule().bounds = GetParam().bounds;
  one.steady({"h1"}, GetParam().value);
  EXPECT_EQ(one.first().word, GetParam().word) << one.first().reason;
  const bool too_good = GetParam().word == Word::Fail && GetParam().value > 64;
  EXPECT_EQ(one.first().reason.starts_with("too good: "), too_good) << "never of a warning";
}
INSTANTIATE_TEST_SUITE_P(Bounds, ExactBound,
                         testing::Values(EdgeCase{32, {.fail_below = 0.5}, Word::Pass},
                                         EdgeCase{31.9, {.fail_below = 0.5}, Word::Fail},
                                         EdgeCase{32, {.warn_below = 0.5}, Word::Pass},
                                         EdgeCase{31.9, {.warn_below = 0.5}, Word::Warn},
                                         EdgeCase{96, {.warn_above = 1.5}, Word::Pass},
                                         EdgeCase{96.1, {.warn_above = 1.5}, Word::Warn},
                                         EdgeCase{96, {.fail_above = 1.5}, Word::Pass},
                                         EdgeCase{96.1, {.fail_above = 1.5}, Word::Fail}));

struct CeilingCase {
  Metric metric = Metric::BusBandwidth;
  double reference = 0;
};
class MetricCeiling : public testing::TestWithParam<CeilingCase> {};

// An all-reduce of 8 ranks has the bus factor 2 * 7/8 = 1.75: of 350 GB/s, 200 are the algorithm's,
// at which 1 MiB takes 1048576 / 200e3 = 5.24288 us.
TEST_P(MetricCeiling, IsInTheUnitOfTheMetric) {
  JudgeCase one;
  one.rule().compare = Comparison::Theoretical;
  one.rule().metric = GetParam().metric;
  one.steady({"h1"}, 300);
  for (Observation& o : one.observations) o.records[0].bound_GBps = 350;
  EXPECT_DOUBLE_EQ(one.first().reference.value_or(0), GetParam().reference);
}
INSTANTIATE_TEST_SUITE_P(Metrics, MetricCeiling,
                         testing::Values(CeilingCase{Metric::BusBandwidth, 350},
                                         CeilingCase{Metric::AlgorithmBandwidth, 200},
                                         CeilingCase{Metric::Time, 5.24288}));

/// A case that is judged by a baseline of this day, with rows of all instances and of h1, and with
/// rows that differ in metric or statistic alone.
struct BaselineCase {
  Baseline baseline{.file = "b.csv"};
  JudgeCase of{};

  explicit BaselineCase(const std::string& day, int max_age_days) {
    baseline.made_on = day;
    const BaselineRow all{.device_set = "set",
                          .collective = "allreduce",
                          .type = "float",
                          .size = kMiB,
                          .median = 460};
    BaselineRow h1 = all;
    h1.instance = "h1";
    h1.median = 450;
    BaselineRow p99 = h1;
    p99.statistic = Statistic::P99;
    p99.median = 1;
    BaselineRow time = h1;
    time.metric = Metric::Time;
    time.median = 2;
    baseline.rows = {p99, time, h1, all, p99, time};
    of.rule().compare = Comparison::Baseline;
    of.specification.baseline = BaselineRule{.max_age_days = max_age_days};
    of.steady({"h1"}, 450);
    of.baseline = &baseline;
  }
};

TEST(BaselineReference, IsOfTheInstanceTheMetricAndTheStatistic) {
  BaselineCase one("2026-11-20", 10);
  EXPECT_EQ(one.of.first().reference, 450);
  one.baseline.rows.erase(one.baseline.rows.begin() + 2);
  EXPECT_EQ(one.of.first().reference, 460);
}

TEST(BaselineReference, MayBeAsOldAsAllowedAndOfToday) {
  EXPECT_EQ(BaselineCase("2026-11-21", 10).of.first().word, Word::Pass);
  EXPECT_EQ(BaselineCase("2026-11-11", 10).of.first().word, Word::Pass);
  EXPECT_THAT(BaselineCase("2026-11-10", 10).of.first().reason, HasSubstr("11 days old"));
  EXPECT_THAT(BaselineCase("2026-11-22", 10).of.first().reason, HasSubstr("of the future"));
  EXPECT_EQ(BaselineCase("2020-01-01", 0).of.first().word, Word::Pass) << "0: any age";
}

TEST(AllowedMisses, CountWhatIsNeverExcused) {
  // Three sizes: one is low and one has wrong data. That is one miss more than allowed.
  JudgeCase one;
  one.rule().sizes = {kMiB, 2 * kMiB, 4 * kMiB};
  one.steady({"h1"}, 450);
  for (Observation& o : one.observations) {
    o.records[0].busbw_GBps = 300;
    o.records[1].wrong = 1;
  }
  one.rule().allow_misses = 1;
  EXPECT_EQ(one.judged().verdicts.at(0).word, Word::Fail);
  one.rule().allow_misses = 2;
  EXPECT_EQ(one.judged().verdicts.at(0).word, Word::Warn);
  EXPECT_EQ(one.judged().verdicts.at(1).word, Word::Fail) << "wrong data";
}

TEST(KnownIssue, ThatIsOverLeavesAPassAlone) {
  JudgeCase one;
  one.steady({"h1"}, 450);
  one.rule().known_issue = {"ticket 4711", "2026-11-20"};
  EXPECT_EQ(one.first().word, Word::Pass);
}

}  // namespace
}  // namespace busbar::judge

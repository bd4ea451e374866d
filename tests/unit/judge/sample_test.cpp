// SPDX-License-Identifier: BSD-3-Clause
#include "judge/sample.hpp"

#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/judge/judge_case.hpp"

namespace busbar::judge {
namespace {

TEST(NoiseGate, VariationIsOfASample) {
  EXPECT_DOUBLE_EQ(*variation_of(std::vector<double>{8, 10, 12}), 0.2);
  // of 8 and 12: sqrt(4 + 4) / 10
  EXPECT_DOUBLE_EQ(*variation_of(std::vector<double>{8, 12}), 0.28284271247461903);
  EXPECT_EQ(variation_of(std::vector<double>{8}), std::nullopt);
}

TEST(NoiseGate, TwoGroupsAreFurtherApartThanEitherIsWide) {
  const auto groups = two_groups_of(std::vector<double>{44, 39, 44.2, 40, 39.5});
  ASSERT_TRUE(groups.has_value());
  EXPECT_EQ(groups->low, 3U);
  EXPECT_EQ(groups->high, 2U);
  EXPECT_DOUBLE_EQ(groups->low_middle, 39.5);
}

TEST(NoiseGate, TwoGroupsAreFurtherApartThanTheWiderOneIsWide) {
  EXPECT_FALSE(two_groups_of(std::vector<double>{40, 40.1, 44, 50}));
  EXPECT_FALSE(two_groups_of(std::vector<double>{34, 40, 44, 44.1}));
  EXPECT_FALSE(two_groups_of(std::vector<double>{40, 44, 48, 52})) << "as far as they are wide";
  EXPECT_TRUE(two_groups_of(std::vector<double>{40, 44, 48.1, 52}));
}

TEST(NoiseGate, TwoGroupsDifferByMoreThanAHundredthOfTheMedian) {
  EXPECT_FALSE(two_groups_of(std::vector<double>{99.5, 99.5, 100.5, 100.5}));
  EXPECT_TRUE(two_groups_of(std::vector<double>{99.4, 99.4, 100.5, 100.5}));
}

TEST(NoiseGate, TwoGroupsDivideAtTheWidestGap) {
  const auto groups = two_groups_of(std::vector<double>{10, 10, 12, 12, 30, 30});
  ASSERT_TRUE(groups.has_value());
  EXPECT_EQ(groups->low, 4U);
  EXPECT_DOUBLE_EQ(groups->low_middle, 11);
  EXPECT_DOUBLE_EQ(groups->high_middle, 30);
  const auto last = two_groups_of(std::vector<double>{10, 10, 10, 30, 90});
  EXPECT_FALSE(last) << "90 alone is no group: of 10 and 30 to 90 the upper is wider than the gap";
}

TEST(NoiseGate, OneOddValueEvenSpreadAndTinyGapsAreOneGroup) {
  EXPECT_FALSE(two_groups_of(std::vector<double>{40, 40, 40, 44}));
  EXPECT_FALSE(two_groups_of(std::vector<double>{40, 41, 42, 43, 44}));
  EXPECT_FALSE(two_groups_of(std::vector<double>{400, 400, 401, 401}));
  EXPECT_FALSE(two_groups_of(std::vector<double>{39, 44, 44}));
}

using ::testing::HasSubstr;

/// Every time another one; 7 GB/s of bus bandwidth and 4 of algorithm bandwidth are by the median.
Record row() {
  return {.time_median_us = 100,
          .time_mean_us = 160,
          .time_min_us = 50,
          .time_p90_us = 200,
          .time_p99_us = 400,
          .time_max_us = 1000,
          .algbw_GBps = 4,
          .busbw_GBps = 7};
}

struct ValueCase {
  Statistic statistic = Statistic::Median;
  double time = 0;
  double bus = 0;  ///< 7 * 100 / time
  double algorithm = 0;
};
class RowValueOf : public testing::TestWithParam<ValueCase> {};

TEST_P(RowValueOf, AMetricIsByTheTimeOfItsStatistic) {
  const ValueCase& one = GetParam();
  EXPECT_EQ(value_of(row(), Metric::Time, one.statistic).value, one.time);
  EXPECT_DOUBLE_EQ(*value_of(row(), Metric::BusBandwidth, one.statistic).value, one.bus);
  EXPECT_DOUBLE_EQ(*value_of(row(), Metric::AlgorithmBandwidth, one.statistic).value,
                   one.algorithm);
}
INSTANTIATE_TEST_SUITE_P(Statistics, RowValueOf,
                         testing::Values(ValueCase{Statistic::Median, 100, 7, 4},
                                         ValueCase{Statistic::Mean, 160, 4.375, 2.5},
                                         ValueCase{Statistic::Min, 50, 14, 8},
                                         ValueCase{Statistic::P90, 200, 3.5, 2},
                                         ValueCase{Statistic::P99, 400, 1.75, 1},
                                         ValueCase{Statistic::Max, 1000, 0.7, 0.4}));

TEST(RowValue, NamesTheColumnThatItLacks) {
  Record none = row();
  none.time_p99_us.reset();
  EXPECT_THAT(value_of(none, Metric::BusBandwidth, Statistic::P99).error, HasSubstr("time_p99_us"));
  EXPECT_EQ(value_of(none, Metric::BusBandwidth, Statistic::Median).value, 7);
  none.time_median_us.reset();
  EXPECT_THAT(value_of(none, Metric::BusBandwidth, Statistic::P90).error,
              HasSubstr("time_median_us"));
  none.algbw_GBps.reset();
  EXPECT_THAT(value_of(none, Metric::AlgorithmBandwidth, Statistic::Median).error,
              HasSubstr("algbw_GBps"));
}

TEST(RowValue, IsNoneOfWhatCannotBeJudged) {
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::infinity()}) {
    Record record = row();
    record.time_p90_us = bad;
    EXPECT_FALSE(value_of(record, Metric::Time, Statistic::P90).value) << bad;
    EXPECT_FALSE(value_of(record, Metric::BusBandwidth, Statistic::P90).value) << bad;
  }
}

/// Eight ranks of 16 bytes: equal parts may lose less than 128 bytes, and at most a thousandth.
struct SizeCase {
  Bytes wanted = 0;
  Bytes measured = 0;
  Outcome outcome = Outcome::Pass;
};
class SampleSize : public testing::TestWithParam<SizeCase> {};

TEST_P(SampleSize, IsTheWantedOneUpToEqualParts) {
  JudgeCase one;
  one.rule().sizes = {GetParam().measured};
  one.steady({"h1"}, 450);
  one.rule().sizes = {GetParam().wanted};
  EXPECT_EQ(one.first().outcome, GetParam().outcome) << one.first().reason;
  EXPECT_EQ(one.first().reason.starts_with("no row of "), GetParam().outcome == Outcome::Error);
}
INSTANTIATE_TEST_SUITE_P(Sizes, SampleSize,
                         testing::Values(SizeCase{kMiB, kMiB, Outcome::Pass},
                                         SizeCase{kMiB, kMiB - 127, Outcome::Pass},
                                         SizeCase{kMiB, kMiB - 128, Outcome::Error},
                                         SizeCase{kMiB, kMiB + 16, Outcome::Error},
                                         SizeCase{1024, 960, Outcome::Error},  // 6 %
                                         SizeCase{16016, 16000, Outcome::Pass},
                                         SizeCase{16000, 15984, Outcome::Error}));  // 16 of 16000

TEST(Sample, TakesTheExactSizeWhereALaunchHasBoth) {
  JudgeCase one;
  one.steady({"h1"}, 450);
  for (Observation& o : one.observations) {
    o.records.push_back(o.records[0]);
    o.records[1].size = kMiB - 64;
    o.records[1].busbw_GBps = 100;
  }
  EXPECT_EQ(one.first().outcome, Outcome::Pass);
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
  EXPECT_EQ(of.first().outcome, Outcome::Pass);
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
  EXPECT_EQ(one.first().outcome, Outcome::Skip);
  one.observations[1].failure = "timeout after 120 s";
  EXPECT_EQ(one.first().outcome, Outcome::Error);
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
  EXPECT_EQ(one.first().outcome, Outcome::Fail);
  EXPECT_EQ(one.first().reason, "wrong data");
}

struct EdgeCase {
  double value = 0;
  Bounds bounds{};
  Outcome outcome = Outcome::Pass;
};
class ExactBound : public testing::TestWithParam<EdgeCase> {};

// 64 GB/s is the reference: halves and quarters of it are exact.
TEST_P(ExactBound, IsNotBeyondItself) {
  JudgeCase one;
  one.rule().value = 64;
  one.rule().bounds = GetParam().bounds;
  one.steady({"h1"}, GetParam().value);
  EXPECT_EQ(one.first().outcome, GetParam().outcome) << one.first().reason;
  const bool too_good = GetParam().outcome == Outcome::Fail && GetParam().value > 64;
  EXPECT_EQ(one.first().reason.starts_with("too good: "), too_good) << "never of a warning";
}
INSTANTIATE_TEST_SUITE_P(Bounds, ExactBound,
                         testing::Values(EdgeCase{32, {.fail_below = 0.5}, Outcome::Pass},
                                         EdgeCase{31.9, {.fail_below = 0.5}, Outcome::Fail},
                                         EdgeCase{32, {.warn_below = 0.5}, Outcome::Pass},
                                         EdgeCase{31.9, {.warn_below = 0.5}, Outcome::Warn},
                                         EdgeCase{96, {.warn_above = 1.5}, Outcome::Pass},
                                         EdgeCase{96.1, {.warn_above = 1.5}, Outcome::Warn},
                                         EdgeCase{96, {.fail_above = 1.5}, Outcome::Pass},
                                         EdgeCase{96.1, {.fail_above = 1.5}, Outcome::Fail}));

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
    const BaselineRow all{
        .key = {.device_set = "set", .collective = "allreduce", .type = "float", .size = kMiB},
        .median = 460};
    BaselineRow h1 = all;
    h1.key.instance = "h1";
    h1.median = 450;
    BaselineRow p99 = h1;
    p99.key.statistic = Statistic::P99;
    p99.median = 1;
    BaselineRow time = h1;
    time.key.metric = Metric::Time;
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
  EXPECT_EQ(BaselineCase("2026-11-21", 10).of.first().outcome, Outcome::Pass);
  EXPECT_EQ(BaselineCase("2026-11-11", 10).of.first().outcome, Outcome::Pass);
  EXPECT_THAT(BaselineCase("2026-11-10", 10).of.first().reason, HasSubstr("11 days old"));
  EXPECT_THAT(BaselineCase("2026-11-22", 10).of.first().reason, HasSubstr("of the future"));
  EXPECT_EQ(BaselineCase("2020-01-01", 0).of.first().outcome, Outcome::Pass) << "0: any age";
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
  EXPECT_EQ(one.judged().verdicts.at(0).outcome, Outcome::Fail);
  one.rule().allow_misses = 2;
  EXPECT_EQ(one.judged().verdicts.at(0).outcome, Outcome::Warn);
  EXPECT_EQ(one.judged().verdicts.at(1).outcome, Outcome::Fail) << "wrong data";
}

TEST(KnownIssue, ThatIsOverLeavesAPassAlone) {
  JudgeCase one;
  one.steady({"h1"}, 450);
  one.rule().known_issue = {"ticket 4711", "2026-11-20"};
  EXPECT_EQ(one.first().outcome, Outcome::Pass);
}

}  // namespace
}  // namespace busbar::judge

// SPDX-License-Identifier: BSD-3-Clause
#include "judge/sample.hpp"

#include <cmath>

#include "tests/unit/judge/judge_case.hpp"

namespace busbar::judge {
namespace {

TEST(NoiseGate, TwoGroupsDivideAtTheWidestGapWhichIsWiderThanTheWiderOne) {
  const auto groups = two_groups_of(std::vector<double>{10, 30, 12, 12, 31, 10});
  ASSERT_TRUE(groups.has_value());
  EXPECT_EQ(groups->low, 4U);
  EXPECT_EQ(groups->high, 2U);
  EXPECT_DOUBLE_EQ(groups->low_middle, 11);
  EXPECT_DOUBLE_EQ(groups->high_middle, 30.5);
  const std::vector<std::pair<std::vector<double>, bool>> cases{
      {{40, 40.1, 44, 50}, false},
      {{40, 44, 48, 52}, false},  // as far as they are wide
      {{40, 44, 48.1, 52}, true},
      {{99.5, 99.5, 100.5, 100.5}, false},  // a hundredth of the median
      {{99.4, 99.4, 100.5, 100.5}, true},
      {{10, 10, 10, 30, 90}, false},  // 90 alone is no group, and 30 to 90 is wider than the gap
      {{40, 40, 40, 44}, false},
      {{39, 44, 44}, false}};
  for (const auto& [values, two] : cases) {
    EXPECT_EQ(two_groups_of(values).has_value(), two) << testing::PrintToString(values);
  }
}

/// A node of eight GPUs whose copies from the host have these rates, three launches of each.
JudgeCase host_copies(const std::vector<double>& rates) {
  JudgeCase one;
  one.rule().collectives = {"hosttodevice"};
  one.rule().value = 50;
  one.measured({50, 50, 50});
  for (Observation& launch : one.observations) {
    launch.collective = "hosttodevice";
    const Record like = launch.records.at(0);
    launch.records.clear();
    for (int gpu = 0; const double rate : rates) {
      Record& row = launch.records.emplace_back(like);
      row.collective = "hosttodevice";
      row.type = "int8";  // bytes: whatever the rule's type
      row.op = "none";
      row.busbw_GBps = rate;
      row.time_median_us = 1000 / rate;
      row.receiver = gpu++;
    }
  }
  return one;
}

TEST(HostCopies, OfANodeAreThoseOfItsSlowestGpuWhichAFailureNames) {
  EXPECT_EQ(host_copies({50, 51, 50, 51, 50, 51, 50, 46}).first().outcome, Outcome::Pass);
  JudgeCase slow = host_copies({50, 51, 50, 51, 50, 51, 44, 50});
  const CheckResult result = slow.first();
  EXPECT_DOUBLE_EQ(result.value.value_or(0), 44);
  expect_result(result, "FAIL 44 GB/s is 88 % of 50 GB/s, below 90 %; slowest: GPU 6");
  slow.rule().metric = Metric::Time;
  slow.rule().value = 20;
  slow.rule().bounds = {.fail_above = 1.1};
  EXPECT_DOUBLE_EQ(slow.first().value.value_or(0), 1000.0 / 44);
}

TEST(HostCopies, OfANodeNeedEveryGpuWhichMayBeOne) {
  expect_result(host_copies({50, 50, 50, 50, 50, 50, 50}).first(),
                "ERROR rows of 7 of 8 GPUs; the rule needs all");
  JudgeCase one = host_copies({50});
  one.set().ranks_per_node = 1;
  one.each([](Record& row) { row.ranks = 1; });
  EXPECT_EQ(one.first().outcome, Outcome::Pass);
}

TEST(Sample, NoiseAtItsBoundIsNoNoise) {
  // 8, 10 and 12 have the deviation 2 and the mean 10.
  JudgeCase one;
  one.specification.noise.max_cv = 0.2;
  one.rule().value = 10;
  EXPECT_EQ(one.measured({8, 10, 12}).first().outcome, Outcome::Pass);
  one.specification.noise.max_cv = 0.199;
  EXPECT_EQ(one.first().outcome, Outcome::Inconclusive);
  EXPECT_EQ(one.first().decided_by, DecidedBy::Noisy);
}

TEST(Sample, AllAttemptsArePooled) {
  JudgeCase one;
  one.launches({"h1"}, {300, 301, 300}, 0);
  one.launches({"h1"}, {450, 451, 450}, 1);
  EXPECT_EQ(one.first().outcome, Outcome::Inconclusive);
  EXPECT_EQ(one.first().values.size(), 6U);
  EXPECT_EQ(one.first().attempts, 2U);
  one.specification.noise.max_cv = 0.5;
  EXPECT_EQ(one.first().outcome, Outcome::Fail) << "375.5 of all six";
}

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

TEST(RowValue, OfAMetricIsByTheTimeOfItsStatistic) {
  using Case = std::tuple<Statistic, double, double, double>;  // time, busbw 7 * 100 / time, algbw
  for (const auto& [statistic, time, bus, algorithm] :
       {Case{Statistic::Median, 100, 7, 4}, Case{Statistic::Mean, 160, 4.375, 2.5},
        Case{Statistic::Min, 50, 14, 8}, Case{Statistic::P90, 200, 3.5, 2},
        Case{Statistic::P99, 400, 1.75, 1}, Case{Statistic::Max, 1000, 0.7, 0.4}}) {
    SCOPED_TRACE(time);
    EXPECT_EQ(value_of(row(), Metric::Time, statistic).value, time);
    EXPECT_DOUBLE_EQ(*value_of(row(), Metric::BusBandwidth, statistic).value, bus);
    EXPECT_DOUBLE_EQ(*value_of(row(), Metric::AlgorithmBandwidth, statistic).value, algorithm);
  }
}

TEST(RowValue, IsNoneOfWhatCannotBeJudged) {
  for (const double bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    Record record = row();
    record.time_p90_us = bad;
    EXPECT_FALSE(value_of(record, Metric::Time, Statistic::P90).value) << bad;
    EXPECT_FALSE(value_of(record, Metric::BusBandwidth, Statistic::P90).value) << bad;
  }
}

TEST(Sample, IsOfTheWantedSizeUpToEqualParts) {
  // Eight ranks of 16 bytes: equal parts may lose less than 128 bytes, and at most a thousandth.
  using Case = std::tuple<Bytes, Bytes, bool>;  // wanted, measured
  for (const auto& [wanted, size, found] :
       {Case{kMiB, kMiB, true}, Case{kMiB, kMiB - 127, true}, Case{kMiB, kMiB - 128, false},
        Case{kMiB, kMiB + 16, false}, Case{1024, 960, false}, Case{16016, 16000, true},
        Case{16000, 15984, false}}) {
    SCOPED_TRACE(size);
    JudgeCase one;
    one.rule().sizes = {size};
    one.steady({"h1"}, 450);
    one.rule().sizes = {wanted};
    EXPECT_EQ(one.first().outcome, found ? Outcome::Pass : Outcome::Error) << one.first().reason;
    EXPECT_EQ(one.first().reason.starts_with("no row of "), !found);
  }
}

TEST(Sample, LeavesOutPairsOfRanksAndSizesBesideTheExactOne) {
  JudgeCase one;
  one.steady({"h1"}, 450);
  for (Observation& o : one.observations) {
    o.records.resize(3, o.records[0]);
    o.records[1].busbw_GBps = o.records[2].busbw_GBps = 10;
    o.records[1].sender = o.records[1].receiver = 0;
    o.records[2].size = kMiB - 64;
  }
  EXPECT_EQ(one.first().value, 450);
}

TEST(Sample, HasTwoLevelsWhereBothAreTightAndFarApart) {
  // Tight is within 2 % (of the minimum to the median, of p90 to p99), apart 10 % (median to p90).
  struct Levels {
    double min, median, p90, p99;
    bool two;
    std::optional<std::uint64_t> samples = 20;
  };
  for (const Levels& of :
       {Levels{100, 101, 112, 113, true}, Levels{100, 103, 130, 131, false},
        Levels{100, 101, 111, 112, false},  // 1.1 * 101: 111.1
        Levels{100, 101, 105, 106, false}, Levels{100, 101, 112, 115, false},
        Levels{100, 101, 112, 113, false, 19}, Levels{100, 101, 112, 113, false, std::nullopt}}) {
    JudgeCase one;
    one.specification.run.min_launches = 1;
    Record& record = one.launch({"h1"}, 450).records[0];
    record.samples = of.samples;
    record.time_min_us = of.min;
    record.time_median_us = of.median;
    record.time_p90_us = of.p90;
    record.time_p99_us = of.p99;
    EXPECT_EQ(one.first().outcome, Outcome::Pass);
    EXPECT_EQ(one.first().reason, of.two ? "bimodal: the times of a launch have two levels" : "");
  }
}

}  // namespace
}  // namespace busbar::judge

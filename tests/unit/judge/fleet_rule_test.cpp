// SPDX-License-Identifier: BSD-3-Clause
// Fleet rules for both bandwidths, every kind of bound, and every flag and gate that changes a
// verdict. All values are by hand.

#include "tests/unit/judge/judge_case.hpp"

namespace busbar::judge {
namespace {

/// Makes the metric, by the statistic, that of a rate in GB/s. What a rule must not look at is 1.
void set_rate(Record& record, Metric metric, Statistic statistic, double rate) {
  record.busbw_GBps = record.algbw_GBps = 1;
  record.time_median_us = record.time_p99_us = 1;
  const bool p99 = statistic == Statistic::P99;
  // Bandwidth by the 99th percentile is that of the median time / the time: 4/5 here.
  if (p99) record.time_p99_us = 1.25;
  (metric == Metric::BusBandwidth ? record.busbw_GBps : record.algbw_GBps) =
      p99 ? 1.25 * rate : rate;
}

/// h1 to h8 of 96, 98, 99, 100, 100, 101, 102 and 104 GB/s, and h9 of another rate. While that is
/// below 96 or above 104, the median of the nine is 100; the deviations are 4, 2, 1, 0, 0, 1, 2, 4
/// and one above 4, so the raw MAD is 2, and a scaled one 2 * 1.4826 = 2.9652. Beyond three of them
/// is below 91.1. The 90th percentile, which is the ninth of nine, is 104.
struct Fleet {
  JudgeCase of{};

  Fleet(Metric metric, Statistic statistic, double odd) {
    of.against_fleet(0.95, 3);
    of.rule().metric = metric;
    of.rule().statistic = statistic;
    int node = 0;
    for (const double rate : {96.0, 98.0, 99.0, 100.0, 100.0, 101.0, 102.0, 104.0, odd}) {
      of.nodes.push_back("h" + std::to_string(++node));
      of.steady({of.nodes.back()}, 1);
      for (int launch = 0; launch < 3; ++launch) {
        set_rate(record(node, launch), metric, statistic, rate);
      }
    }
  }

  Observation& launch(int node, int number) {
    return of.observations.at(static_cast<std::size_t>(3 * (node - 1) + number));
  }
  Record& record(int node, int number) { return launch(node, number).records.at(0); }
};

/// The verdict of h1 to h9, and "fleet" for 10.
CheckResult verdict(const Acceptance& acceptance, std::size_t node) {
  EXPECT_EQ(acceptance.verdicts.size(), 10U);
  return acceptance.verdicts.at(node - 1);
}

struct BoundCase {
  double odd = 0;  ///< rate of h9
  Bounds bounds{};
  std::string result{};  ///< of expect_result()
};

void expect_bounds(Metric metric, const std::vector<BoundCase>& cases) {
  for (const BoundCase& one : cases) {
    for (const Statistic statistic : {Statistic::Median, Statistic::P99}) {
      SCOPED_TRACE(std::string(name(metric)) + " " + one.result);
      Fleet fleet(metric, statistic, one.odd);
      fleet.of.rule().bounds = one.bounds;
      const Acceptance acceptance = fleet.of.judged();
      const CheckResult odd = verdict(acceptance, 9);
      expect_result(odd, one.result);
      EXPECT_EQ(odd.reference_kind, "fleet median");
      EXPECT_NEAR(odd.reference.value_or(0), 100, 1e-9);
      EXPECT_EQ(verdict(acceptance, 4).outcome, Outcome::Pass) << "h4 is the median";
      const CheckResult all = verdict(acceptance, 10);
      EXPECT_EQ(all.instance, kFleet);
      EXPECT_EQ(all.outcome, Outcome::Pass);
      EXPECT_NEAR(all.value.value_or(0), 100, 1e-9);
      EXPECT_FALSE(all.cv || all.bounds.fail_below || all.bounds.fail_above) << "of a row";
      EXPECT_EQ(all.values.size(), 9U);
    }
  }
}

TEST(FleetBound, OfABandwidthGivesTheOutcomeAndItsNumbers) {
  // 92 GB/s are (92 - 100) / 2.9652 = -2.7 and 90 GB/s (90 - 100) / 2.9652 = -3.37 scaled MADs from
  // the median.
  const Bounds below{.fail_below = 0.95};
  const Bounds warns{.fail_below = 0.95, .warn_below = 0.97};
  const Bounds wide{.fail_below = 0.8, .warn_below = 0.95};
  const Bounds above{.fail_below = 0.8, .warn_above = 1.05, .fail_above = 1.2};
  const Bounds only_above{.fail_above = 1.2};
  for (const Metric metric : {Metric::BusBandwidth, Metric::AlgorithmBandwidth}) {
    expect_bounds(
        metric, {{90, below, "FAIL 90 GB/s is 90 % of 100 GB/s, below 95 %; robust z -3.37"},
                 {90, warns, "FAIL below 95 %; robust z -3.37"},
                 {92, below,
                  "PASS 92 % of 100 GB/s, below 95 %; robust z -2.7 is within the fleet's scatter"},
                 {92, warns, "WARN below 95 %; robust z -2.7 is within the fleet's scatter"},
                 {90, {.fail_below = 0.85}, "PASS"},
                 {90, wide, "WARN 90 % of 100 GB/s, below 95 %"},
                 {110, above, "WARN 110 % of 100 GB/s, above 105 %"},
                 {130, above, "FAIL too good: 130 GB/s is 130 % of 100 GB/s, above 120 %"},
                 {90, only_above, "PASS"},
                 {130, only_above, "FAIL too good: 130 GB/s is 130 %"}});
  }
}

constexpr std::array kMetrics{Metric::BusBandwidth, Metric::AlgorithmBandwidth};

TEST(FleetMetric, IsMeasuredByThe90thPercentileWhereItIsNotHomogeneous) {
  for (const Metric metric : kMetrics) {
    Fleet fleet(metric, Statistic::Median, 90);
    fleet.of.rule().max_fleet_mad = 0.01;  // 2 of 100 are 2 %
    const Acceptance acceptance = fleet.of.judged();
    // Low is below 95 % of 104, 98.8: h1, h2 and h9.
    for (const std::size_t node : {1U, 2U, 9U}) {
      EXPECT_EQ(verdict(acceptance, node).outcome, Outcome::Fail) << node;
      EXPECT_THAT(verdict(acceptance, node).reason, HasSubstr("against the 90th percentile"));
    }
    EXPECT_THAT(verdict(acceptance, 9).reason, HasSubstr("86.5 % of 104 GB/s, below 95 %"));
    EXPECT_EQ(verdict(acceptance, 9).reference_kind, "fleet's 90th percentile");
    EXPECT_EQ(verdict(acceptance, 3).outcome, Outcome::Pass);
    const CheckResult all = verdict(acceptance, 10);
    EXPECT_EQ(all.outcome, Outcome::Fail);
    EXPECT_EQ(all.reason, "fleet not homogeneous: raw MAD/median 2 % above 1 %");
    EXPECT_NEAR(all.value.value_or(0), 100, 1e-9) << "the median, which a percentile is not";
  }
}

struct FlagCase {
  std::function<void(Record&)> set{};
  std::string token{};
  Outcome good = Outcome::Inconclusive;  ///< of a row that is not low, and of the fleet
  Outcome low = Outcome::Inconclusive;   ///< of a low one, and of a fleet that is not homogeneous
};

TEST(FleetFlag, OfOneLaunchChangesItsRowAndTheFleets) {
  const std::string simulated = "simulated: predicted, not measured";
  // What is predicted or fake is neither good nor bad; a miss of the others is still a miss.
  const std::vector<FlagCase> cases{
      {[](Record&) {}, "", Outcome::Pass, Outcome::Fail},
      {[](Record& r) { r.flags = "few-samples"; }, "", Outcome::Pass, Outcome::Fail},
      {[](Record& r) { r.flags = "few-samples oversubscribed"; },
       "oversubscribed: ranks shared processors", Outcome::Inconclusive, Outcome::Fail},
      {[](Record& r) { r.flags = "fake"; }, "fake: measured on no real GPU"},
      {[](Record& r) { r.flags = "simulated"; }, simulated},
      {[](Record& r) { r.backend = "sim"; }, simulated},
      {[](Record& r) { r.wrong.reset(); }, "data were not checked", Outcome::Inconclusive,
       Outcome::Fail}};
  for (const FlagCase& one : cases) {
    for (const Metric metric : kMetrics) {
      SCOPED_TRACE(std::string(name(metric)) + " " + one.token);
      Fleet good(metric, Statistic::Median, 90);
      one.set(good.record(1, 1));
      const Acceptance acceptance = good.of.judged();
      EXPECT_EQ(verdict(acceptance, 1).outcome, one.good);
      EXPECT_EQ(verdict(acceptance, 1).reason, one.token);
      EXPECT_EQ(verdict(acceptance, 2).outcome, Outcome::Pass);
      EXPECT_EQ(verdict(acceptance, 9).outcome, Outcome::Fail);
      EXPECT_EQ(verdict(acceptance, 10).outcome, one.good);
      EXPECT_EQ(verdict(acceptance, 10).reason, one.token);
      Fleet low(metric, Statistic::Median, 90);
      one.set(low.record(9, 1));
      const Acceptance of_low = low.of.judged();
      EXPECT_EQ(verdict(of_low, 9).outcome, one.low);
      EXPECT_THAT(verdict(of_low, 9).reason, HasSubstr("robust z -3.37"));
      EXPECT_THAT(verdict(of_low, 9).reason, HasSubstr(one.token));
      EXPECT_EQ(verdict(of_low, 1).outcome, Outcome::Pass);
      EXPECT_EQ(verdict(of_low, 10).outcome, one.good);
      low.of.rule().max_fleet_mad = 0.01;
      EXPECT_EQ(verdict(low.of.judged(), 10).outcome, one.low);
    }
  }
}

void scale(Record& record, double factor) {
  for (auto* value : {&record.busbw_GBps, &record.algbw_GBps}) **value *= factor;
}

/// The rate of one of three launches times four thirds: 3, 3, 4 have the mean 10/3 and the
/// deviation sqrt(1/3), which is a cv of sqrt(3)/10 = 17.3 %, and the same median.
void make_noisy(Fleet& fleet) { scale(fleet.record(1, 2), 4.0 / 3); }

/// Two launches of four at a half: the mean is 3/4, the squares are 4/16, and the cv is
/// sqrt(1/12) / (3/4) = 38.5 %.
void make_two_groups(Fleet& fleet) {
  const Record whole = fleet.record(1, 0);
  fleet.of.launch({"h1"}, 1, 3).records[0] = whole;
  scale(fleet.record(1, 1), 0.5);
  scale(fleet.of.observations.back().records[0], 0.5);
}

TEST(FleetGate, DecidesItsRowAndLeavesTheOthersAsTheyAre) {
  // What changes of h1, which has 96 % of the median.
  const std::vector<std::pair<std::string, std::function<void(Fleet&)>>> cases{
      {"FAIL 3 wrong elements", [](Fleet& f) { f.record(1, 1).wrong = 3; }},
      {"ERROR h1 does not answer",
       [](Fleet& f) {
         for (int i = 0; i < 3; ++i) f.launch(1, i).failure = "h1 does not answer";
       }},
      {"INCONCLUSIVE 2 launches where 3 are needed; 1 of 3 launches produced no data: timeout",
       [](Fleet& f) { f.launch(1, 0).failure = "timeout"; }},
      {"WARN 1 of 3 launches produced no data: timeout",
       [](Fleet& f) {
         f.of.specification.run.min_launches = 2;
         f.launch(1, 0).failure = "timeout";
       }},
      {"INCONCLUSIVE noisy: cv 17.3 % over 3 launches is above 5 %", make_noisy},
      {"WARN noisy: cv 17.3 % over 3 launches is above 5 %",
       [](Fleet& f) {
         make_noisy(f);
         f.of.specification.noise.on_noisy = OnNoisy::Warn;
       }},
      {"PASS",
       [](Fleet& f) {
         make_noisy(f);
         f.of.rule().max_cv = 0.2;
       }},
      {"INCONCLUSIVE noisy: cv 38.5 % over 4 launches is above 5 %; bimodal: 2 launches at ",
       make_two_groups},
      {"ERROR not a number that can be judged", [](Fleet& f) { scale(f.record(1, 0), 0); }}};
  for (const auto& [result, change] : cases) {
    for (const Metric metric : kMetrics) {
      SCOPED_TRACE(std::string(name(metric)) + " " + result);
      Fleet fleet(metric, Statistic::Median, 90);
      change(fleet);
      const Acceptance acceptance = fleet.of.judged();
      expect_result(verdict(acceptance, 1), result);
      EXPECT_NEAR(verdict(acceptance, 1).reference.value_or(0), 100, 1) << "the fleet's";
      EXPECT_EQ(verdict(acceptance, 4).outcome, Outcome::Pass);
      EXPECT_EQ(verdict(acceptance, 9).outcome, Outcome::Fail);
      EXPECT_EQ(verdict(acceptance, 10).outcome, Outcome::Pass);
      EXPECT_EQ(verdict(acceptance, 10).reason, "") << "not that of its first row";
    }
  }
}

/// Three nodes of 64, 64 and 32 GB/s: the MAD is 0, and any difference is infinitely far.
JudgeCase three(double fail_below) {
  JudgeCase one;
  one.steady_nodes(3, 64).against_fleet(fail_below, 3);
  one.set_rate(32, "h3");
  return one;
}

TEST(FleetOfThree, IsAFleetAndExactlyTheBoundIsNotBelowIt) {
  EXPECT_EQ(three(0.5).overall(), Outcome::Pass);
  const Acceptance low = three(0.625).judged();
  expect_result(low.verdicts.at(2), "FAIL 32 GB/s is 50 % of 64 GB/s, below 62.5 %; robust z -inf");
  EXPECT_EQ(low.verdicts.at(3).outcome, Outcome::Pass);
}

TEST(FleetRule, TwoValuesAreNoFleet) {
  JudgeCase one = three(0.9);
  one.nodes = names(2);
  const Acceptance acceptance = one.judged();
  ASSERT_EQ(acceptance.verdicts.size(), 3U);
  for (const CheckResult& row : acceptance.verdicts) {
    expect_result(row, "INCONCLUSIVE a fleet comparison needs 3");
  }
}

}  // namespace
}  // namespace busbar::judge

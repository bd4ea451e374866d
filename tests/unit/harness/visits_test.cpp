// SPDX-License-Identifier: BSD-3-Clause
#include "harness/visits.hpp"

#include "tests/unit/support/sample_records.hpp"

namespace busbar {
namespace {

using stats::StopReason;
using test::cells;
using test::measured;
using test::with;

constexpr const char* kConfiguration = "collective=allreduce ranks=16 visits=5";

/// A visit of 20 samples about a time, which alternate by 1 us.
Row visit(double time_us, bool in_place = false) {
  Row row{.record = measured(in_place)};
  for (int i = 0; i < 20; ++i) row.samples_us.push_back(time_us + (i % 2 == 0 ? -0.5 : 0.5));
  row.record.operations = 40;
  row.record.warmup_operations = 10;
  row.record.batch = 2;
  row.record.time_mean_us = time_us;
  return row;
}

TEST(MergeVisits, TakesAllSamplesAndGivesAnIntervalOfTheRun) {
  const std::vector<Row> visits{visit(100), visit(104), visit(96), visit(100)};
  const Row row = merge_visits(visits, StopReason::Visits);
  EXPECT_EQ(row.samples_us.size(), 80U);
  EXPECT_EQ(cells(row.record,
                  "samples operations warmup_operations batch stop_reason visits "
                  "interval_scope time_median_us efficiency"),
            "80|160|40|2|visits|4|run|100|");
  // Medians 96, 100, 100, 104: deviation 3.266 over mean 100; t(3) = 3.182 times 3.266 / 2 = 5.2.
  EXPECT_NEAR(*row.record.visit_cv, 0.03266, 1e-5);
  EXPECT_LE(*row.record.time_ci_low_us, 96);
  EXPECT_GE(*row.record.time_ci_high_us, 105);
  EXPECT_NEAR(*row.record.algbw_GBps, 33554432 / 100e3, 1e-9);
}

TEST(MergeVisits, WeighsWhatIsPerOperationByOperationsAndSumsFlags) {
  std::vector<Row> visits{visit(100), visit(100)};
  visits[0].record.flags = "oversubscribed few-samples no-interval drifting";
  visits[1].record.flags = "oversubscribed not-steady";
  visits[0].record.minor_faults_per_op = 4;
  visits[1].record.minor_faults_per_op = 1;
  visits[0].record.involuntary_switches_per_op = 0.5;
  visits[1].record.involuntary_switches_per_op = 2;
  visits[1].record.batch = 4;
  visits[0].record.enqueue_time_us = 7;
  visits[1].record.enqueue_time_us = 9;
  visits[1].record.operations = 80;
  visits[0].record.host_time_us = 99;
  visits[1].record.host_time_us = 103;
  visits[0].record.start_skew_us = 3;
  visits[1].record.start_skew_us = 5;
  visits[0].record.bound_GBps = 1000;
  visits[0].record.status = RowStatus::Wrong;
  visits[1].record.finished_at = "2026-11-21 15:00:00";
  const Record record = merge_visits(visits, StopReason::TimeBudget).record;
  EXPECT_EQ(cells(record, "minor_faults_per_op involuntary_switches_per_op batch enqueue_time_us"),
            "2|1.5|4|8");
  EXPECT_DOUBLE_EQ(*record.efficiency, *record.busbw_GBps / 1000);
  // The first is checked.
  EXPECT_EQ(cells(record,
                  "host_time_us start_skew_us status finished_at time_ci_low_us flags "
                  "interval_scope"),
            "101|4|wrong|2026-11-21 15:00:00||oversubscribed not-steady few-samples no-interval|");
}

TEST(MergeVisits, KeepsWhoWasLastInEverySampleOfEveryVisit) {
  std::vector<Row> visits{visit(100), visit(100)};
  for (int i = 0; i < 2; ++i) {
    Row& each = visits[static_cast<std::size_t>(i)];
    each.arrivals.assign(20, {.last = i, .late_us = 5});
    each.rank_times_us.assign(20, {1.0 * i, 2});
    each.record.load_us = 10 + i;
  }
  const Row row = merge_visits(visits, StopReason::TimeBudget);
  ASSERT_EQ(row.arrivals.size(), 40U);
  EXPECT_EQ(row.arrivals[19].last + row.arrivals[20].last, 1);
  ASSERT_EQ(row.rank_times_us.size(), 40U);
  EXPECT_EQ(row.rank_times_us[20], (std::vector<double>{1, 2}));
  EXPECT_EQ(row.record.load_us, 10.5);
}

TEST(MergeVisits, TakesMediansOfWhatIsNotOfTheSamples) {
  std::vector<Row> visits{visit(100), visit(100), visit(100), visit(100)};
  for (std::size_t i = 0; i < 3; ++i) {
    visits[i].record.load_slowdown = 1.0 + static_cast<double>(i);
  }
  const Record record = merge_visits(visits, StopReason::Visits).record;
  EXPECT_EQ(cells(record, "load_slowdown loaded_time_us"), "2|");
}

TEST(MergeVisits, LeavesARowOfOneVisitAnIntervalOfItsMoment) {
  const std::vector<Row> visits{visit(100)};
  Record record = merge_visits(visits, StopReason::TimeBudget).record;
  EXPECT_EQ(cells(record, "visits interval_scope visit_cv"), "1|moment|");
  EXPECT_TRUE(record.time_ci_low_us);
  Row alone = visit(100);
  alone.record.ranks = 1;
  alone.record.bound_GBps = 1000;
  alone.record.busbw_GBps.reset();
  record = merge_visits(std::vector<Row>{alone}, StopReason::TimeBudget).record;
  EXPECT_FALSE(record.efficiency);
}

struct VisitsOfARun : testing::Test {
  VisitsOfARun() {
    options.visits = 5;
    options.csv_path = folder.path("x.csv");
  }

  /// Adds visits of these times to a place.
  static void add(Visits& visits, std::size_t place, const std::vector<double>& times_us) {
    for (const double time : times_us) visits.add(place, {visit(time)});
  }
  [[nodiscard]] std::string file() const { return options.csv_path + ".visits"; }

  test::TemporaryFolder folder;
  Options options;
};

const std::vector<double> kWandering{100, 150, 100, 150, 100};

TEST_F(VisitsOfARun, GiveRowsInTheOrderOfTheTableWhenTheyAreFinal) {
  Visits visits(options);
  visits.begin(kConfiguration);
  add(visits, 1, kWandering);
  EXPECT_FALSE(visits.wants(1, 5));
  EXPECT_TRUE(visits.wants(0, 0));
  EXPECT_FALSE(visits.take_next());
  visits.settle(0, {{.record = test::skipped(false, "no room")}}, false);
  EXPECT_FALSE(visits.wants(0, 0));
  EXPECT_EQ(visits.take_next()->rows.front().record.reason, "no room");
  EXPECT_EQ(visits.take_next()->rows.front().record.stop_reason, "visits");
  EXPECT_FALSE(visits.take_next());
  visits.settle(2, {{.record = measured(false)}}, true);  // of an earlier run: without samples
  const auto earlier = visits.take_next();
  EXPECT_TRUE(earlier->written);
  EXPECT_EQ(earlier->rows.front().record.time_median_us, 276.88);
  visits.add(3, {visit(100)});
  visits.settle(3, {{.record = test::skipped(false, "no room any more")}}, false);
  EXPECT_EQ(visits.take_next()->rows.front().record.status, RowStatus::Ok);
  EXPECT_FALSE(visits.wants(0, 4)) << "a row that was taken is not measured again";
}

TEST_F(VisitsOfARun, EndARowAfterThreeQuartersOfItsVisitsWhereItsIntervalIsNarrow) {
  Visits visits(options);
  visits.begin(kConfiguration);
  add(visits, 0, {100, 100, 100});
  EXPECT_TRUE(visits.wants(0, 3));
  add(visits, 0, {100});
  EXPECT_FALSE(visits.wants(0, 4));
  EXPECT_EQ(visits.take_next()->rows.front().record.stop_reason, "ci-width");
}

TEST_F(VisitsOfARun, EndARowThatHasSpentItsBudgetButNotAfterTwoOrThreeVisits) {
  options.time_budget = Seconds{5e-3};  // 50 operations of 100 us, with those of warm-up
  Visits visits(options);
  visits.begin(kConfiguration);
  add(visits, 0, {100});
  EXPECT_EQ(visits.take_next()->rows.front().record.stop_reason, "time-budget");
  add(visits, 1, {99});
  EXPECT_TRUE(visits.wants(1, 1));
  visits.add(2, {with(visit(100), &Row::samples_us, std::vector<double>{100})});
  EXPECT_TRUE(visits.wants(2, 1)) << "one sample";
  visits.add(3, {with(visit(100), &Row::samples_us, std::vector<double>{100, 100})});
  EXPECT_FALSE(visits.wants(3, 1));
  options.time_budget = Seconds{6e-3};
  Visits several(options = with(options, &Options::csv_path, folder.path("y.csv")));
  several.begin(kConfiguration);
  add(several, 0, {100, 150, 100});
  EXPECT_TRUE(several.wants(0, 3));
  add(several, 0, {150});
  EXPECT_EQ(several.take_next()->rows.front().record.stop_reason, "time-budget");
}

TEST_F(VisitsOfARun, MakeEveryVisitOfExactlyCountedOperations) {
  options.operations = 50;
  options.time_budget = Seconds{1e-6};
  Visits visits(options);
  visits.begin(kConfiguration);
  add(visits, 0, {100, 100, 100, 100});
  EXPECT_TRUE(visits.wants(0, 4));
  add(visits, 0, {100});
  EXPECT_EQ(visits.take_next()->rows.front().record.stop_reason, "count");
}

TEST_F(VisitsOfARun, GoOnUntilEveryRowOfAPlaceHasEnough) {
  Visits visits(options);
  visits.begin(kConfiguration);
  for (const double time : {100.0, 150.0, 100.0, 150.0}) {
    visits.add(0, {visit(100), visit(time)});
    visits.add(1, {visit(time), visit(100)});
  }
  EXPECT_TRUE(visits.wants(0, 4));
  EXPECT_TRUE(visits.wants(1, 4));
  visits.add(0, {visit(100), visit(100)});
  EXPECT_EQ(visits.take_next()->rows.size(), 2U);
}

TEST_F(VisitsOfARun, AreOnDiskUntilTheRunEndsAndGoOnWhereAnEarlierRunWasKilled) {
  {
    Visits killed(options);
    killed.begin(kConfiguration);
    add(killed, 3, {100, 150});
    add(killed, 0, kWandering);
  }
  std::ofstream(file(), std::ios::app) << "0\x1e"
                                          "allreduce\x1fmpi";  // a torn line
  options.resume = true;
  Visits visits(options);
  visits.begin(kConfiguration);
  EXPECT_FALSE(visits.wants(3, 1));
  EXPECT_TRUE(visits.wants(3, 2));
  EXPECT_EQ(visits.take_next()->rows.front().record.operations, 200U);
  add(visits, 3, {100});
  visits.end();
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(VisitsOfARun, RefuseADamagedFileWithTheLine) {
  {
    Visits killed(options);
    killed.begin(kConfiguration);
    add(killed, 0, {100, 150});
  }
  options.resume = true;
  const std::string whole = test::text_of(file());
  const std::size_t second = whole.find('\n') + 1;
  const std::size_t third = whole.find('\n', second) + 1;
  const auto edited = [&](std::size_t at, std::size_t count, const std::string& by) {
    return std::string(whole).replace(at, count, by);
  };
  for (const auto& [damaged, line] :
       {std::pair{whole + "garbage\n", 4}, std::pair{whole + std::string(30, '\0') + '\n', 4},
        std::pair{whole + "\n", 4}, std::pair{edited(third - 40, 30, ""), 2},
        std::pair{edited(second, 1, "7"), 2}, std::pair{edited(third, 9, "0\x1e"), 3},
        std::pair{edited(whole.rfind("\x1f"), 0,
                         "\x1f"
                         "1"),
                  3}}) {
    folder.write("x.csv.visits", damaged);
    Visits visits(options);
    test::expect_failure(Status::Usage, fmt::format("{}:{}: the line is damaged", file(), line),
                         [&] { visits.begin(kConfiguration); });
  }
}

TEST_F(VisitsOfARun, RefuseThoseOfAnotherRun) {
  {
    Visits killed(options);
    killed.begin(kConfiguration);
  }
  EXPECT_EQ(test::failure_of([&] { Visits again(options); }).status, Status::Usage);
  options.resume = true;
  Visits visits(options);
  test::expect_failure(Status::Usage, file(), [&] { visits.begin("collective=broadcast"); });
}

TEST_F(VisitsOfARun, GivePreliminaryNumbers) {
  Visits visits(with(options, &Options::csv_path, "-"));  // without a file
  visits.begin(kConfiguration);
  EXPECT_FALSE(std::filesystem::remove("-.visits"));
  EXPECT_EQ(visits.preliminary(0), "");
  visits.add(2, {});
  EXPECT_EQ(visits.preliminary(2), "");
  visits.add(0, {visit(100)});
  EXPECT_EQ(visits.preliminary(0), "629.15 GB/s so far");  // 33554432 B / 100 us * 2 * 15 / 16
  Row one_rank = visit(100);
  one_rank.record.ranks = 1;
  one_rank.record.busbw_GBps.reset();
  visits.add(1, {one_rank});
  visits.add(1, {with(one_rank, &Row::samples_us, std::vector<double>(20, 300))});
  EXPECT_EQ(visits.preliminary(1), "200.2 us so far");
}

using Times = std::vector<double>;
using Lines = std::vector<std::string>;

Record record_of(const std::string& variant, Bytes size = 1024) {
  return {.collective = "allreduce", .size = size, .variant = variant};
}

TEST(VariantRatiosTest, ComparesVisitsInPairsWithTheFirstValue) {
  VariantRatios ratios({.name = "x", .values = {"a", "b"}});
  // The machine is four times as slow in the last visits, and b always twice as fast.
  EXPECT_TRUE(ratios.add(record_of("x=a"), Times{10, 12, 10, 11, 40, 44, 42, 46}).empty());
  EXPECT_EQ(
      ratios.add(record_of("x=b"), Times{5, 6, 5, 5.5, 20, 22, 21, 23}),
      (Lines{"b: faster than a, 2.000 times its speed (2.000 to 2.000), p 0.0078, 8 visits"}));
}

TEST(VariantRatiosTest, CountsTheComparisonsOfARow) {
  VariantRatios ratios({.name = "x", .values = {"a", "b", "c"}});
  (void)ratios.add(record_of("x=c"), Times{2, 2, 2, 2, 2, 2.1});
  (void)ratios.add(record_of("x=b"), Times{1, 1.1, 0.9, 1.05, 0.95, 1});
  const Lines lines = ratios.add(record_of("x=a"), Times{1, 1, 1, 1, 1, 1});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].substr(0, 21), "b: cannot tell from a");
  // 2 / 2^6 = 0.031 of one comparison is 0.063 of two.
  EXPECT_EQ(lines[1].substr(0, 21), "c: cannot tell from a");
  EXPECT_NE(lines[1].find("p 0.062"), std::string::npos) << lines[1];
}

TEST(VariantRatiosTest, CallsSameOnlyWhatIsWithinOnePercent) {
  VariantRatios ratios({.name = "x", .values = {"a", "b"}});
  (void)ratios.add(record_of("x=a"), Times{100, 200, 300, 100, 200, 300, 100, 200});
  EXPECT_EQ(ratios.add(record_of("x=b"), Times{100.1, 200.2, 299.7, 99.9, 200, 300.1, 100, 200.1})
                .front()
                .substr(0, 12),
            "b: same as a");
}

TEST(VariantRatiosTest, KeepsRowsApartAndSaysWhereVisitsAreTooFew) {
  VariantRatios ratios({.name = "x", .values = {"a", "b"}});
  EXPECT_TRUE(ratios.add(record_of("x=a", 1), Times{1}).empty());
  EXPECT_TRUE(ratios.add(record_of("x=b", 2), Times{1}).empty());
  EXPECT_EQ(ratios.add(record_of("x=b", 1), Times{}),
            (Lines{"b: 0 visits with both are too few to compare"}));
}

}  // namespace
}  // namespace busbar

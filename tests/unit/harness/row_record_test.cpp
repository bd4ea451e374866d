// SPDX-License-Identifier: BSD-3-Clause
#include "harness/row_record.hpp"

#include <random>

#include "model/flag.hpp"
#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/fake_communicator.hpp"
#include "tests/unit/support/sample_records.hpp"

namespace busbar {
namespace {

using test::cells;
using test::with;

/// The row of an all-reduce of 10^6 bytes.
struct RowOf : testing::Test {
  [[nodiscard]] Row row(std::span<const Evidence> visits) {
    plan.rounds = world_plan(ranks).rounds;
    rank_map.ranks.resize(static_cast<std::size_t>(ranks));
    const Job job{.options = options,
                  .collective = *planned.collective,
                  .backend = {&test::backend_named("mpi"), "asked for"},
                  .on_devices = on_devices,
                  .world = world,
                  .plan = plan,
                  .rank_map = rank_map,
                  .watchdog = watchdog};
    return row_of(job, planned, job.groups_of(planned).front(), visits);
  }
  [[nodiscard]] Record record(const Evidence& evidence) { return row({&evidence, 1}).record; }
  /// Of several visits.
  [[nodiscard]] Record record(const std::vector<Evidence>& visits) {
    options.visits = visits.size();
    return row(visits).record;
  }

  Options options{};
  PlannedRow planned{
      .collective = &test::collective("allreduce"), .wanted = 1000000, .op = ReduceOp::Sum};
  int ranks = 4;
  bool on_devices = false;
  RankMap rank_map{};
  GroupPlan plan{};
  test::FakeBootstrap world{};
  Watchdog watchdog{std::nullopt, {}};
};

Evidence samples_of(std::vector<double> times_us) {
  return {.times_us = std::move(times_us),
          .operations = 100,
          .warmup_operations = 11,
          .batch = 2,
          .stop = stats::StopReason::CiWidth,
          .disturbances = {.minor_faults = 150, .involuntary_switches = 25}};
}

/// So many samples of 500 us.
Evidence equal_samples(std::size_t count) { return samples_of(std::vector<double>(count, 500)); }

TEST_F(RowOf, HasStatisticsOfItsSamplesWithATailFromAThousandOn) {
  std::vector<double> times(1000);
  std::iota(times.begin(), times.end(), 1);
  EXPECT_EQ(record(samples_of(times)).time_p999_us, 999);
  times.pop_back();
  EXPECT_FALSE(record(samples_of(times)).time_p999_us);
  times.resize(100);
  std::swap(times[0], times[99]);
  const Record of_hundred = record(samples_of(times));
  EXPECT_EQ(cells(of_hundred, "samples operations batch warmup_operations stop_reason"),
            "100|100|2|11|ci-width");
  EXPECT_EQ(cells(of_hundred, "time_median_us time_mean_us time_min_us time_p90_us time_p99_us"),
            "50.5|50.5|1|90|99");
  EXPECT_EQ(cells(of_hundred, "time_max_us minor_faults_per_op involuntary_switches_per_op"),
            "100|1.5|0.25");
}

TEST_F(RowOf, DividesTheSizeByTheMedianAndMultipliesByTheBusFactorOfSeveralRanks) {
  EXPECT_EQ(cells(record(equal_samples(10)), "algbw_GBps busbw_GBps"), "2|3");  // 1 MB in 500 us
  ranks = 1;
  EXPECT_EQ(cells(record(equal_samples(10)), "algbw_GBps busbw_GBps"), "2|");
}

TEST_F(RowOf, HasAnIntervalUnlessSamplesAreTooFewAndFlagsThat) {
  const Record of_fifty = record(equal_samples(50));
  EXPECT_EQ(cells(of_fifty, "time_ci_low_us time_ci_high_us interval_scope flags"),
            "500|500|moment|");
  EXPECT_TRUE(of_fifty.autocorrelation_time.has_value());
  EXPECT_EQ(record(equal_samples(49)).flags, "few-samples");
  EXPECT_EQ(cells(record(samples_of({500, 501, 502})), "time_ci_low_us time_ci_high_us flags"),
            "||few-samples no-interval");
}

TEST_F(RowOf, HasTheMedianOfTheLoadWhereThereIsOne) {
  EXPECT_FALSE(
      record(with(equal_samples(20), &Evidence::loads_us, std::vector<double>{0, 0})).load_us);
  const std::vector<double> loads{7, 9, 30};
  EXPECT_EQ(record(with(equal_samples(20), &Evidence::loads_us, loads)).load_us, 9);
}

TEST_F(RowOf, KeepsTheTimesOfIssuingAndOfTheHostApart) {
  std::vector<double> times;
  for (int i = 0; i < 50; ++i) times.push_back(500 + i * 21 % 50);
  Evidence samples = samples_of(times);
  samples.enqueue_us = {9, 3, 5};
  samples.host_times_us = {60, 10, 20};
  const Record found = record(samples);
  EXPECT_EQ(cells(found, "enqueue_time_us host_time_us"), "5|20");
  EXPECT_LT(found.time_ci_low_us, found.time_median_us);
  EXPECT_GT(found.time_ci_high_us, found.time_median_us);
}

TEST_F(RowOf, FlagsTimesThatWereNotSteadyOrThatDrift) {
  EXPECT_EQ(record(with(equal_samples(50), &Evidence::steady, false)).flags, "not-steady");
  std::vector<double> times;
  for (int i = 0; i < 200; ++i) times.push_back(1000.0 + i + (i % 7) * 3);
  EXPECT_TRUE(has_flag(record(samples_of(times)), Flag::Drifting));
}

TEST_F(RowOf, HasTheShareOfItsBoundThatItReached) {
  Evidence bounded = equal_samples(10);
  bounded.bound_GBps = 4;
  bounded.bound_kind = "host-memory";
  EXPECT_EQ(cells(record(bounded), "bound_GBps bound_kind efficiency"), "4|host-memory|0.75");
  EXPECT_EQ(cells(record(with(bounded, &Evidence::skipped, "no room")),
                  "bound_GBps bound_kind efficiency status reason"),
            "|||skipped|no room");
  ranks = 1;
  EXPECT_EQ(cells(record(bounded), "bound_GBps efficiency"), "4|");
}

TEST_F(RowOf, IsLaunchBoundOnADeviceWhereIssuingTakesNineTenthsOfItsTime) {
  const auto flags = [&](double enqueue_us) {
    return has_flag(
        record(with(equal_samples(10), &Evidence::enqueue_us, std::vector<double>{enqueue_us})),
        Flag::LaunchBound);
  };
  EXPECT_FALSE(flags(500));
  on_devices = true;
  EXPECT_TRUE(flags(450));
  EXPECT_TRUE(flags(510));
  EXPECT_FALSE(flags(449));
  EXPECT_FALSE(has_flag(record(equal_samples(10)), Flag::LaunchBound));
}

TEST_F(RowOf, IsWrongOrFailedWithTheReason) {
  Evidence wrong = equal_samples(10);
  wrong.check = DataCheck{.wrong = 3, .first_wrong = "rank 1, element 5"};
  EXPECT_EQ(cells(record(wrong), "status wrong reason"), "wrong|3|rank 1, element 5");
  EXPECT_EQ(cells(record(Evidence{.failed = "no cable"}), "status reason time_median_us"),
            "failed|no cable|");
  EXPECT_EQ(
      cells(record(Evidence{.predicted_us = 500}), "status time_median_us busbw_GBps samples"),
      "ok|500|3|");
}

/// 20 samples about a time, which alternate by 1 us.
Evidence about(double time_us) {
  Evidence evidence{.operations = 40, .warmup_operations = 10, .batch = 2};
  for (int i = 0; i < 20; ++i) evidence.times_us.push_back(time_us + (i % 2 == 0 ? -0.5 : 0.5));
  return evidence;
}

TEST_F(RowOf, TakesAllSamplesOfItsVisitsAndHasAnIntervalOfTheRun) {
  const std::vector<Evidence> visits{about(100), about(104), about(96), about(100)};
  const Record merged = record(visits);
  EXPECT_EQ(cells(merged,
                  "samples operations warmup_operations batch stop_reason visits "
                  "interval_scope time_median_us"),
            "80|160|40|2|visits|4|run|100");
  // Medians 96, 100, 100, 104: deviation 3.266 over mean 100; t(3) = 3.182 times 3.266 / 2 = 5.2.
  EXPECT_NEAR(*merged.visit_cv, 0.03266, 1e-5);
  EXPECT_LE(*merged.time_ci_low_us, 96);
  EXPECT_GE(*merged.time_ci_high_us, 105);
  EXPECT_NEAR(*merged.algbw_GBps, 10, 1e-9);
}

TEST_F(RowOf, WeighsWhatIsPerOperationOfItsVisitsAndHasFlagsOfAny) {
  std::vector<Evidence> visits{about(100), about(100)};
  visits[1].steady = false;
  visits[0].disturbances = {.minor_faults = 160, .involuntary_switches = 20};
  visits[1].disturbances = {.minor_faults = 80, .involuntary_switches = 160};
  visits[1].batch = 4;
  visits[0].enqueue_us = {7};
  visits[1].enqueue_us = {9};
  visits[1].operations = 80;
  visits[0].host_times_us = {99};
  visits[1].host_times_us = {103};
  visits[0].start_skews_us = {3};
  visits[1].start_skews_us = {5};
  visits[0].check = DataCheck{.wrong = 1, .first_wrong = ""};  // the first is checked
  visits[1].finished_at = "2026-11-21 15:00:00";
  const Record merged = record(visits);
  EXPECT_EQ(cells(merged, "minor_faults_per_op involuntary_switches_per_op batch enqueue_time_us"),
            "2|1.5|4|8");
  EXPECT_EQ(cells(merged,
                  "host_time_us start_skew_us status finished_at time_ci_low_us flags "
                  "interval_scope"),
            "101|4|wrong|2026-11-21 15:00:00||few-samples no-interval not-steady|");
}

TEST_F(RowOf, KeepsWhoWasLastInEverySampleOfEveryVisit) {
  std::vector<Evidence> visits{about(100), about(100)};
  for (int i = 0; i < 2; ++i) {
    Evidence& each = visits[static_cast<std::size_t>(i)];
    each.arrivals.assign(20, {.last = i, .late_us = 5});
    each.rank_times_us.assign(20, {1.0 * i, 2});
  }
  options.visits = 2;
  const Row merged = row(visits);
  ASSERT_EQ(merged.arrivals.size(), 40U);
  EXPECT_EQ(merged.arrivals[19].last + merged.arrivals[20].last, 1);
  ASSERT_EQ(merged.rank_times_us.size(), 40U);
  EXPECT_EQ(merged.rank_times_us[20], (std::vector<double>{1, 2}));
}

TEST_F(RowOf, HasWhatItAndTheLoadBesideItDidToEachOtherInTheTurnsOfAllVisits) {
  planned.together = true;
  Evidence evidence = about(100);
  // The machine is three times slower in the last turns, which no ratio sees.
  for (const double speed : {1, 1, 3}) {
    evidence.turns.push_back({10 * speed, 20 * speed, 16 * speed, 60 * speed, 100, 50});
  }
  const Record once = record(evidence);
  EXPECT_EQ(cells(once, "mix alone_time_us alone_p99_us slowdown slowdown_low slowdown_p99"),
            "beside load|10|20|1.6||3");
  EXPECT_EQ(cells(once, "load_slowdown load_slowdown_low"), "2|");
  const Record twice = record(std::vector{evidence, evidence});
  EXPECT_EQ(cells(twice, "slowdown slowdown_low slowdown_high load_slowdown_high"),
            "1.6|1.6|1.6|2");
  evidence.turns[0].load_together = evidence.turns[1].load_together = 0;  // it came to a halt
  EXPECT_EQ(cells(record(evidence), "slowdown load_slowdown"), "1.6|");
}

TEST_F(RowOf, IsOfASetOfRanksOfItsGroupInAMix) {
  plan.mixed = {{.name = "tp",
                 .sets = {{0, 1}, {2, 3}},
                 .collective = planned.collective,
                 .all = {.ranks = {0, 1, 2, 3}, .hosts = "h1 h2"}}};
  planned.together = true;
  EXPECT_EQ(cells(record(about(100)), "mix ranks hosts group_ranks group busbw_GBps"),
            "tp|2|h1 h2|0-1 2-3||10");
}

constexpr const char* kColumns = "last_rank last_host last_share late_by_us";

/// A row of 100 us per operation whose last ranks are these, in turn, in 60 samples.
Row row_whose_last(const std::vector<int>& last, double late_us) {
  Row row{.record = {.time_median_us = 100}};
  for (std::size_t i = 0; i < 60; ++i) {
    row.arrivals.push_back({.last = last[i % last.size()], .late_us = late_us});
  }
  return row;
}

/// Of four ranks.
std::string named(Row row, const std::vector<std::string>& hosts = {"h1", "h1", "h2", "h2"}) {
  RankMap rank_map;
  for (const std::string& host : hosts) copy_text(host, rank_map.ranks.emplace_back().host);
  name_last(row, row.record.group ? std::vector{0, 2} : first_numbers(4), rank_map);
  return test::cells(row.record, kColumns);
}

TEST(NameLast, NamesARankOrTheHostOfSeveralWithShareAndTime) {
  EXPECT_EQ(named(row_whose_last({2}, 30)), "2|h2|1|30");
  EXPECT_EQ(named(row_whose_last({3, 3, 3, 3, 0, 3, 3, 1, 3, 2}, 30)), "3|h2|0.7|30");
  EXPECT_EQ(named(row_whose_last({2, 3, 3, 2, 2, 3}, 30)), "|h2|1|30");
}

TEST(NameLast, NamesNobodyWhoIsLastByChanceOrByLessThanAHundredth) {
  EXPECT_EQ(named(row_whose_last({0, 1, 2, 3}, 30)), "|||");
  EXPECT_EQ(named(row_whose_last({2}, 0.99)), "|||");
  EXPECT_EQ(named(row_whose_last({2}, 1)), "2|h2|1|1");
  Row loaded = row_whose_last({2}, 1);
  loaded.record.load_us = 10;  // the rank is late at its work, too
  EXPECT_EQ(named(loaded), "|||");
  EXPECT_EQ(named({.record = {.time_median_us = 100}}), "|||");  // without a common end
}

TEST(NameLast, NamesTheRankOfTheJobWhereRanksAreSplit) {
  Row row = row_whose_last({1}, 30);
  row.record.group = 0;  // of ranks 0 and 2
  EXPECT_EQ(named(row), "2|h2|1|30");
  EXPECT_EQ(named(row, std::vector<std::string>(4, "h1")), "2|h1|1|30");
}

std::vector<double> equal_chances(std::size_t count) {
  return std::vector<double>(count, 1 / static_cast<double>(count));
}

/// So many samples of that many ranks, of which rank 2 is last in `share` of them beside its own
/// chance; each who was last stays it for `length` samples.
std::vector<int> series(std::size_t samples, int ranks, double share, std::size_t length,
                        unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_int_distribution<int> any(0, ranks - 1);
  std::bernoulli_distribution is_two(share);
  std::vector<int> last;
  while (last.size() < samples) {
    const int who = is_two(random) ? 2 : any(random);
    last.insert(last.end(), length, who);
  }
  last.resize(samples);
  return last;
}

int named(std::size_t samples, int ranks, double share, std::size_t length, int whom) {
  int count = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    const auto found = find_last(series(samples, ranks, share, length, seed),
                                 equal_chances(static_cast<std::size_t>(ranks)));
    count += whom < 0 ? (found ? 1 : 0) : (found == whom ? 1 : 0);
  }
  return count;
}

TEST(FindLast, NamesTheOneThatIsLastMoreOftenThanItsChance) {
  EXPECT_EQ(find_last(std::vector<int>(20, 1), equal_chances(2)), 1);
  EXPECT_EQ(find_last(std::vector<int>(20, 3), equal_chances(8)), 3);
  EXPECT_EQ(named(200, 8, 0.5, 1, 2), 200);
}

TEST(FindLast, CannotTellFromFewSamplesOrOneCandidateOrNone) {
  EXPECT_FALSE(find_last(std::vector<int>(8, 1), equal_chances(2)));
  EXPECT_FALSE(find_last(std::vector<int>(100, 0), equal_chances(1)));
  EXPECT_FALSE(find_last({}, equal_chances(2)));
}

TEST(FindLast, NamesNobodyWhereAllAreLastByChance) {
  for (const int ranks : {2, 4, 8, 64}) EXPECT_EQ(named(200, ranks, 0, 1, -1), 0) << ranks;
}

TEST(FindLast, CountsARunOfTheSameAsFewSamples) {
  EXPECT_LE(named(500, 4, 0, 20, -1), 2);
  EXPECT_LE(named(100, 2, 0, 10, -1), 2);
}

TEST(FindLast, NamesNobodyWhereTwoAreLastAlike) {
  std::vector<int> last;
  for (int i = 0; i < 100; ++i) last.push_back(i % 3 == 0 ? 5 : 6);
  EXPECT_EQ(find_last(last, equal_chances(8)), std::nullopt);
  for (int i = 0; i < 100; ++i) last.push_back(i % 10 == 0 ? 5 : 6);
  EXPECT_EQ(find_last(last, equal_chances(8)), 6);
}

// Seven ranks of one host and one of another: the one is last in half of the samples.
TEST(FindLast, ComparesWithEachOnesOwnChance) {
  std::vector<int> last;
  for (int i = 0; i < 100; ++i) last.push_back(i % 2);
  EXPECT_EQ(find_last(last, std::vector<double>{7.0 / 8, 1.0 / 8}), 1);
  EXPECT_EQ(find_last(last, equal_chances(2)), std::nullopt);
}

}  // namespace
}  // namespace busbar

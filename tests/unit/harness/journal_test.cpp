// SPDX-License-Identifier: BSD-3-Clause
#include "harness/journal.hpp"

#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/fake_communicator.hpp"
#include "tests/unit/support/sample_records.hpp"

namespace busbar {
namespace {

constexpr const char* kConfiguration = "collective=allreduce ranks=16 visits=5";
using Times = std::vector<double>;

/// A visit of 20 samples about a time, which alternate by 1 us.
Evidence visit(double time_us) {
  Evidence evidence{.operations = 40, .warmup_operations = 10, .batch = 2};
  for (int i = 0; i < 20; ++i) evidence.times_us.push_back(time_us + (i % 2 == 0 ? -0.5 : 0.5));
  return evidence;
}

/// A run of so many groups of 16 ranks and rows from 32 MiB on, out of place.
struct JournalOfARun : testing::Test {
  JournalOfARun() {
    options.visits = 5;
    options.csv_path = folder.path("x.csv");
    options.placement = Placement::Out;
    options.sweep = {.first = 32 * kMiB, .last = kGiB};
    testing::internal::CaptureStdout();
  }
  JournalOfARun(const JournalOfARun&) = delete;
  JournalOfARun& operator=(const JournalOfARun&) = delete;
  ~JournalOfARun() override { (void)testing::internal::GetCapturedStdout(); }

  /// What a process has of it: the rows are read from the CSV.
  struct Process {
    explicit Process(const JournalOfARun& of, const std::string& configuration = kConfiguration)
        : options(of.options),
          plan(of.plan),
          outputs(world, options),
          journal(world, options),
          rows(plan_rows(options, job.collective, plan)) {
      journal.begin(job, rows, outputs, configuration);
      outputs.begin(test::context());
    }
    void add(std::size_t place, const Times& times_us) {
      for (const double time : times_us) journal.add(rows[place], {visit(time)});
    }
    [[nodiscard]] bool has(std::size_t place, std::uint64_t pass) {
      PlannedRow row = rows[place];
      row.pass = pass;
      return journal.has(row);
    }
    [[nodiscard]] std::vector<Record> written() const { return read_csv(options.csv_path).records; }

    Options options;
    GroupPlan plan;
    RankMap rank_map;
    test::FakeBootstrap world;
    Watchdog watchdog{std::nullopt, {}};
    Job job{.options = options,
            .collective = test::collective("allreduce"),
            .backend = {&test::backend_named("mpi"), "asked for"},
            .world = world,
            .plan = plan,
            .rank_map = rank_map,
            .watchdog = watchdog};
    Outputs outputs;
    Journal journal;
    std::vector<PlannedRow> rows;
  };

  [[nodiscard]] std::string file() const { return options.csv_path + ".visits"; }

  test::TemporaryFolder folder;
  Options options;
  GroupPlan plan = world_plan(16);
};

const Times kWandering{100, 150, 100, 150, 100};

TEST_F(JournalOfARun, WritesRowsInTheOrderOfTheTableWhenTheyAreFinal) {
  Process run(*this);
  run.add(1, kWandering);
  EXPECT_TRUE(run.has(1, 5));
  EXPECT_FALSE(run.has(0, 0));
  EXPECT_TRUE(run.written().empty());
  run.journal.add(run.rows[0], {{.skipped = "no room"}});
  EXPECT_TRUE(run.has(0, 4)) << "a row that was taken is not measured again";
  EXPECT_EQ(test::cells(run.written(), "size_bytes status reason stop_reason"),
            "33554432|skipped|no room| 67108864|ok||visits");
  run.add(2, {100});
  run.journal.add(run.rows[2], {{.skipped = "no room any more"}});
  EXPECT_EQ(run.written().at(2).status, RowStatus::Ok);
}

TEST_F(JournalOfARun, EndsARowAfterThreeQuartersOfItsVisitsWhereItsIntervalIsNarrow) {
  Process run(*this);
  run.add(0, {100, 100, 100});
  EXPECT_FALSE(run.has(0, 3));
  run.add(0, {100});
  EXPECT_TRUE(run.has(0, 4));
  EXPECT_EQ(run.written().at(0).stop_reason, "ci-width");
}

TEST_F(JournalOfARun, EndsARowThatHasSpentItsBudgetButNotAfterTwoOrThreeVisits) {
  options.time_budget = Seconds{5e-3};  // 50 operations of 100 us, with those of warm-up
  Process run(*this);
  run.add(0, {100});
  EXPECT_EQ(run.written().at(0).stop_reason, "time-budget");
  run.add(1, {99});
  EXPECT_FALSE(run.has(1, 1));
  run.journal.add(run.rows[2], {{.times_us = {100}, .operations = 50}});
  EXPECT_FALSE(run.has(2, 1)) << "one sample";
  run.journal.add(run.rows[3], {{.times_us = {100, 100}, .operations = 50}});
  EXPECT_TRUE(run.has(3, 1));
  options.time_budget = Seconds{6e-3};
  options.csv_path = folder.path("y.csv");
  Process several(*this);
  several.add(0, {100, 150, 100});
  EXPECT_FALSE(several.has(0, 3));
  several.add(0, {150});
  EXPECT_EQ(several.written().at(0).stop_reason, "time-budget");
}

TEST_F(JournalOfARun, WantsEveryVisitOfExactlyCountedOperations) {
  options.operations = 50;
  options.time_budget = Seconds{1e-6};
  Process run(*this);
  run.add(0, {100, 100, 100, 100});
  EXPECT_FALSE(run.has(0, 4));
  run.add(0, {100});
  EXPECT_EQ(run.written().at(0).stop_reason, "count");
}

TEST_F(JournalOfARun, GoesOnUntilEveryGroupOfARoundHasEnough) {
  plan.kind = GroupPlan::Kind::Groups;
  plan.rounds.front().groups = {{.number = 0, .ranks = {0, 1}}, {.number = 1, .ranks = {2, 3}}};
  Process run(*this);
  for (const double time : {100.0, 150.0, 100.0, 150.0}) {
    run.journal.add(run.rows[0], {visit(100), visit(time)});
    run.journal.add(run.rows[1], {visit(time), visit(100)});
  }
  EXPECT_FALSE(run.has(0, 4));
  EXPECT_FALSE(run.has(1, 4));
  run.journal.add(run.rows[0], {visit(100), visit(100)});
  EXPECT_EQ(test::cells(run.written(), "group ranks"), "0|2 1|2");
}

TEST_F(JournalOfARun, IsOnDiskUntilTheRunEndsAndGoesOnWhereAnEarlierRunWasKilled) {
  {
    Process killed(*this);
    killed.add(3, {100, 150});
    killed.add(0, kWandering);
  }
  std::ofstream(file(), std::ios::app) << "0\t{\"times_us\":[1";  // a torn line
  options.resume = true;
  Process run(*this);
  EXPECT_FALSE(run.has(1, 0));
  EXPECT_TRUE(run.has(3, 1));
  EXPECT_FALSE(run.has(3, 2));
  EXPECT_EQ(run.written().size(), 1U);  // of the run that was killed
  run.add(1, kWandering);
  EXPECT_EQ(test::cells(run.written(), "size_bytes operations"), "33554432|200 67108864|200");
  run.journal.end();
  EXPECT_FALSE(std::filesystem::exists(file()));
}

TEST_F(JournalOfARun, RefusesADamagedFileWithTheLine) {
  {
    Process killed(*this);
    killed.add(0, {100, 150});
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
        std::pair{edited(second, 1, "7"), 2}, std::pair{edited(third, 9, "0\t"), 3}}) {
    folder.write("x.csv.visits", damaged);
    test::expect_failure(Status::Usage, fmt::format("{}:{}: the line is damaged", file(), line),
                         [&] { const Process run(*this); });
  }
}

TEST_F(JournalOfARun, RefusesThatOfAnotherRun) {
  { const Process killed(*this); }
  EXPECT_EQ(test::failure_of([&] { const Process again(*this); }).status, Status::Usage);
  options.resume = true;
  test::expect_failure(Status::Usage, file(),
                       [&] { const Process run(*this, "collective=broadcast"); });
}

TEST_F(JournalOfARun, GivesPreliminaryNumbers) {
  options.csv_path = "-";  // without a file
  plan.rounds.front().groups.front().ranks = {0, 1};
  Process run(*this);
  EXPECT_FALSE(std::filesystem::remove("-.visits"));
  EXPECT_EQ(run.journal.visit_text(run.rows[0]), "visit 1 of 5");
  run.add(0, {100});
  PlannedRow row = run.rows[0];
  row.pass = 1;
  EXPECT_EQ(run.journal.visit_text(row), "visit 2 of 5, 335.54 GB/s so far");  // 32 MiB / 100 us
  plan = world_plan(1);
  Process alone(*this);
  alone.journal.add(alone.rows[1], {visit(100)});
  alone.journal.add(alone.rows[1], {{.times_us = Times(20, 300), .operations = 20}});
  EXPECT_THAT(alone.journal.visit_text(alone.rows[1]), EndsWith(", 200.2 us so far"));
}

TEST_F(JournalOfARun, TakesTheRowsOfAnEarlierCsvInTheirPlaces) {
  options.visits = 1;
  options.cycles = 2;
  options.sweep = {.first = kMiB, .last = 2 * kMiB};
  const auto numbered = [](PlannedRow row, std::uint64_t cycle) {
    row.pass = cycle;
    return row;
  };
  {
    Process first(*this);
    for (const PlannedRow& row : first.rows) first.journal.add(row, {visit(100)});
    first.journal.add(numbered(first.rows[0], 1), {visit(200)});
  }
  options.resume = true;
  Process run(*this);
  EXPECT_TRUE(run.has(1, 0));
  EXPECT_TRUE(run.has(0, 1));
  EXPECT_FALSE(run.has(1, 1));
  run.journal.add(numbered(run.rows[1], 1), {visit(300)});
  EXPECT_EQ(test::cells(run.written(), "size_bytes cycle"),
            "1048576|0 2097152|0 1048576|1 2097152|1");
  EXPECT_EQ(run.outputs.summary().rows, 4U);
}

using Lines = std::vector<std::string>;

Record row_of_variant(const std::string& variant, Bytes size = 1024) {
  return {.collective = "allreduce", .size = size, .variant = variant};
}

TEST(VariantRatiosTest, ComparesVisitsInPairsWithTheFirstValue) {
  VariantRatios ratios({.name = "x", .values = {"a", "b"}});
  // The machine is four times as slow in the last visits, and b always twice as fast.
  EXPECT_TRUE(ratios.add(row_of_variant("x=a"), Times{10, 12, 10, 11, 40, 44, 42, 46}).empty());
  EXPECT_EQ(
      ratios.add(row_of_variant("x=b"), Times{5, 6, 5, 5.5, 20, 22, 21, 23}),
      (Lines{"b: faster than a, 2.000 times its speed (2.000 to 2.000), p 0.0078, 8 visits"}));
}

TEST(VariantRatiosTest, CountsTheComparisonsOfARow) {
  VariantRatios ratios({.name = "x", .values = {"a", "b", "c"}});
  (void)ratios.add(row_of_variant("x=c"), Times{2, 2, 2, 2, 2, 2.1});
  (void)ratios.add(row_of_variant("x=b"), Times{1, 1.1, 0.9, 1.05, 0.95, 1});
  const Lines lines = ratios.add(row_of_variant("x=a"), Times{1, 1, 1, 1, 1, 1});
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[0].substr(0, 21), "b: cannot tell from a");
  // 2 / 2^6 = 0.031 of one comparison is 0.063 of two.
  EXPECT_EQ(lines[1].substr(0, 21), "c: cannot tell from a");
  EXPECT_NE(lines[1].find("p 0.062"), std::string::npos) << lines[1];
}

TEST(VariantRatiosTest, CallsSameOnlyWhatIsWithinOnePercent) {
  VariantRatios ratios({.name = "x", .values = {"a", "b"}});
  (void)ratios.add(row_of_variant("x=a"), Times{100, 200, 300, 100, 200, 300, 100, 200});
  EXPECT_EQ(
      ratios.add(row_of_variant("x=b"), Times{100.1, 200.2, 299.7, 99.9, 200, 300.1, 100, 200.1})
          .front()
          .substr(0, 12),
      "b: same as a");
}

TEST(VariantRatiosTest, KeepsRowsApartAndSaysWhereVisitsAreTooFew) {
  VariantRatios ratios({.name = "x", .values = {"a", "b"}});
  EXPECT_TRUE(ratios.add(row_of_variant("x=a", 1), Times{1}).empty());
  EXPECT_TRUE(ratios.add(row_of_variant("x=b", 2), Times{1}).empty());
  EXPECT_EQ(ratios.add(row_of_variant("x=b", 1), Times{}),
            (Lines{"b: 0 visits with both are too few to compare"}));
}

}  // namespace
}  // namespace busbar

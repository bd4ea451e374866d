// SPDX-License-Identifier: BSD-3-Clause
#include "harness/measurement.hpp"
#include "model/flag.hpp"
#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/fake_communicator.hpp"
#include "tests/unit/support/launch.hpp"
#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

using test::cells;

/// A run of one fake rank whose operations take a millisecond; its rows are read from its CSV.
struct FakeRun : testing::Test {
  FakeRun() {
    options.sweep = {.first = kKiB, .last = 2 * kKiB};
    options.operations = 3;
    options.warmup_operations = 1;
    options.csv_path = folder.path("x.csv");
    rank_map.ranks.resize(1);
    rank_map.least_memory = kGiB;
  }

  /// The rows, also of a run that ends early.
  std::vector<Record> run(const char* name = "allreduce") {
    testing::internal::CaptureStdout();
    failure = test::failure_of([&] { run_into_csv(name); });
    output = testing::internal::GetCapturedStdout();
    return read_csv(options.csv_path).records;
  }
  /// The rows of another run, in a file of its own.
  std::vector<Record> run_again() {
    options.csv_path += ".2";
    return run();
  }

  void run_into_csv(const char* name) {
    test::run_job({.options = options,
                   .collective = test::collective(name),
                   .backend = {&test::backend_named("mpi"), "asked for"},
                   .on_devices = on_devices,
                   .connect =
                       [this](Bootstrap&) {
                         return std::shared_ptr<Communicator>(&communicator, [](auto*) {});
                       },
                   .world = bootstrap,
                   .plan = plan,
                   .rank_map = rank_map,
                   .devices = devices,
                   .watchdog = watchdog});
  }

  test::TemporaryFolder folder;
  Options options;
  RankMap rank_map;
  test::FakeBootstrap bootstrap;
  test::FakeCommunicator communicator;
  GroupPlan plan = world_plan(1);
  std::vector<Device> devices;
  bool on_devices = false;
  Watchdog watchdog{std::nullopt, {}};
  test::Failure failure;  ///< what ended the last run early
  std::string output;     ///< what the last run printed
};

/// Operations of a millisecond, of which the `failing`th throws.
std::function<Seconds(std::size_t)> failing_at(std::size_t failing, const Error& error) {
  return [failing, error](std::size_t n) -> Seconds {
    if (n == failing) throw error;
    return Seconds{1e-3};
  };
}
const Error kBroken = runtime_failure("the library broke");
const Error kInvalidArgument{Status::Unavailable, "NCCL: invalid argument"};

TEST_F(FakeRun, HasARowPerSizeAndBufferMode) {
  const auto rows = run();
  EXPECT_EQ(cells(rows, "size_bytes in_place"), "1024|0 1024|1 2048|0 2048|1");
  EXPECT_EQ(cells(rows.at(0), "count operations wrong status time_median_us"), "256|3|0|ok|1000");
  options.placement = Placement::In;
  EXPECT_EQ(cells(run_again(), "in_place"), "1 1");
}

TEST_F(FakeRun, SweepsTypesThenOperationsThenSizes) {
  options.types = {DataType::Int8, DataType::Double};
  options.ops = {ReduceOp::Sum, ReduceOp::Max};
  options.placement = Placement::Out;
  EXPECT_EQ(cells(run(), "type op size_bytes"),
            "int8|sum|1024 int8|sum|2048 int8|max|1024 int8|max|2048 "
            "double|sum|1024 double|sum|2048 double|max|1024 double|max|2048");
  EXPECT_EQ(communicator.calls.front().type, DataType::Int8);
  EXPECT_EQ(communicator.calls.front().op, ReduceOp::Sum);
}

TEST_F(FakeRun, HasNoOperationWhereNothingIsReducedAndARootWhereThereIsOne) {
  options.ops = {ReduceOp::Sum, ReduceOp::Max};
  EXPECT_EQ(cells(run("allgather"), "op"), "none none none none");
  options.csv_path += ".2";
  EXPECT_EQ(run("broadcast").at(0).root, 0);
}

TEST_F(FakeRun, RepeatsTheSweepAsOftenAsAsked) {
  options.cycles = 3;
  EXPECT_EQ(cells(run(), "cycle"), "0 0 0 0 1 1 1 1 2 2 2 2");
}

/// The counts of the calls, one for each run of calls of the same count.
std::vector<std::uint64_t> visited_counts(const std::vector<Call>& calls) {
  std::vector<std::uint64_t> counts;
  for (const Call& call : calls) counts.push_back(call.count);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  return counts;
}

TEST_F(FakeRun, VisitsItsRowsInANewOrderEachTimeAndHasThemInTheTablesOrder) {
  options.visits = 4;
  options.operations = 6;  // 2, 2, 1 and 1
  options.sweep = {.first = kKiB, .last = 32 * kKiB};
  const auto rows = run();
  ASSERT_EQ(rows.size(), 12U);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(cells(rows[i], "size_bytes in_place operations warmup_operations visits wrong"),
              fmt::format("{}|{}|6|4|4|0", kKiB << (i / 2), i % 2));
  }
  const auto order = visited_counts(communicator.calls);
  EXPECT_GE(order.size(), 21U);  // a size is twice in a row where visits meet
  EXPECT_LE(order.size(), 24U);
  EXPECT_FALSE(std::equal(order.begin(), order.begin() + 6, order.begin() + 6));
  EXPECT_FALSE(std::is_sorted(order.begin(), order.begin() + 6));
  communicator.calls.clear();
  (void)run_again();
  EXPECT_EQ(visited_counts(communicator.calls), order);  // the same seed, the same order
  communicator.calls.clear();
  options.seed = 2;
  (void)run_again();
  EXPECT_NE(visited_counts(communicator.calls), order);
}

TEST_F(FakeRun, ChecksTheFirstVisitOnly) {
  options.visits = 4;
  options.operations = 4;
  options.placement = Placement::In;  // every check is an operation of its own
  options.sweep = {.first = kKiB, .last = kKiB};
  EXPECT_EQ(run().at(0).wrong, 0U);
  EXPECT_EQ(communicator.calls.size(), 4U * 2 + 1);
}

TEST_F(FakeRun, MakesOnlyTheVisitsThatARunWhichBrokeLacks) {
  options.visits = 4;
  options.operations = 4;
  communicator.operation_time = failing_at(23, kBroken);
  (void)run();
  EXPECT_EQ(failure.status, Status::Runtime);
  const std::size_t before = communicator.calls.size();
  communicator.operation_time = [](std::size_t) { return Seconds{1e-3}; };
  options.resume = true;
  std::vector<Record> rows = run();
  EXPECT_EQ(failure.message, "");
  // Of 4 rows 4 visits of 2 operations and 2 in place checks, with those of the visit that broke.
  EXPECT_LE(communicator.calls.size(), before + 34 - 20);
  std::erase_if(rows, [](const Record& row) { return row.status == RowStatus::Failed; });
  EXPECT_EQ(cells(rows, "visits"), "4 4 4 4");
  communicator.calls.clear();
  EXPECT_EQ(run().size(), 5U);  // with the one that failed
  EXPECT_TRUE(communicator.calls.empty());
}

TEST_F(FakeRun, SkipsTheHalfThatCannotRunInPlace) {
  communicator.in_place_obstacle = "it would overwrite";
  EXPECT_EQ(cells(run("sendrecv"), "in_place status reason"),
            "0|ok| 1|skipped|it would overwrite 0|ok| 1|skipped|it would overwrite");
}

TEST_F(FakeRun, GivesACallItsPeersWhereTheCollectiveHasThem) {
  (void)run("sendrecv");
  EXPECT_EQ(communicator.calls.front().peers.to, 0);
  EXPECT_EQ(communicator.calls.front().peers.from, 0);
  (void)run_again();
  EXPECT_EQ(communicator.calls.back().peers.to, -1);
}

TEST_F(FakeRun, SkipsWhatDoesNotFitWithTheReason) {
  rank_map.least_memory = 0;
  options.sweep = {.first = 4 * kKiB, .last = 8 * kKiB};
  options.memory_limit = kMemorySlack + 6 * kKiB;
  const auto rows = run();
  EXPECT_EQ(cells(rows, "status"), "skipped ok skipped skipped");
  EXPECT_TRUE(rows.at(0).reason.starts_with("needs ")) << rows[0].reason;
  EXPECT_FALSE(rows.at(3).time_median_us.has_value());
}

TEST_F(FakeRun, PlansByTheRankWhereTheLibraryHasTakenMost) {
  rank_map.least_memory = 0;
  options.memory_limit = kMemorySlack + 16 * kKiB;
  EXPECT_EQ(run().back().status, RowStatus::Ok);
  bootstrap.others = [](std::span<double> values, Combine how) {
    if (how == Combine::Max && values.size() == 1) values[0] = 16.0 * kKiB;
  };
  EXPECT_EQ(run_again().back().status, RowStatus::Skipped);
}

TEST_F(FakeRun, SkipsASizeForWhichARankGetsNoMemoryButEndsWhereTheDeviceFails) {
  options.sweep = {.first = 4 * kKiB, .last = 8 * kKiB};
  communicator.most_memory = 4 * kKiB;
  const auto rows = run();
  EXPECT_EQ(cells(rows, "status"), "ok ok skipped skipped");
  EXPECT_TRUE(rows.at(2).reason.starts_with("a rank could not allocate")) << rows[2].reason;
  communicator.no_memory = Status::Runtime;
  EXPECT_EQ(cells(run_again(), "status"), "ok ok");
  EXPECT_EQ(failure.status, Status::Runtime);
}

TEST_F(FakeRun, RecordsTheRowThatFailedAndMeasuresItAgainWhenResumed) {
  communicator.operation_time = failing_at(11, kBroken);
  const auto broken = run();
  EXPECT_EQ(failure.status, Status::Runtime);
  EXPECT_TRUE(failure.says("the library broke"));
  EXPECT_EQ(cells(broken, "status"), "ok ok failed");
  EXPECT_THAT(broken.at(2).reason, StartsWith("the library broke"));
  EXPECT_FALSE(broken.at(2).time_median_us.has_value());
  EXPECT_THAT(output, Not(HasSubstr("wrong data")));
  options.resume = true;
  EXPECT_EQ(cells(run(), "size_bytes status"), "1024|ok 1024|ok 2048|failed 2048|ok 2048|ok");
  EXPECT_EQ(failure.message, "");
}

TEST_F(FakeRun, RotatesThroughBuffersWhereAsked) {
  options.cache = Cache::Rotate;
  options.sweep = {.first = 64 * kMiB, .last = 64 * kMiB};
  options.placement = Placement::In;
  const auto rows = run();
  EXPECT_EQ(cells(rows.at(0), "cache wrong"), "rotate|0");
  const auto& calls = communicator.calls;
  EXPECT_NE(calls.at(0).recv, calls.at(1).recv);
  EXPECT_EQ(calls.at(0).recv, calls.at(2).recv);
  EXPECT_FALSE(has_flag(rows.at(0), Flag::RotatesInCache));
  options.sweep = {.first = kKiB, .last = kKiB};  // 1024 slots are a MiB
  EXPECT_TRUE(has_flag(run_again().at(0), Flag::RotatesInCache));
}

TEST_F(FakeRun, RecordsThePagesThatTheKernelGave) {
  EXPECT_EQ(run().at(0).pages, "");
  int file = 0;
  for (const auto& [share, pages] :
       {std::pair{1.0, "huge"}, std::pair{0.5, "mixed"}, std::pair{0.0, "small"}}) {
    communicator.huge_share = share;
    options.csv_path += std::to_string(++file);
    EXPECT_EQ(run().at(0).pages, pages);
  }
}

TEST_F(FakeRun, FlagsEveryRowAsTheRunIs) {
  EXPECT_FALSE(has_flag(run().at(0), Flag::Oversubscribed));
  devices = {{.ranks_on_device = 2}};
  options.graph_launches = 1;
  rank_map.oversubscribed = true;
  for (const Record& row : run_again()) {
    for (const Flag flag : {Flag::SharedGpu, Flag::Graph, Flag::Oversubscribed}) {
      EXPECT_TRUE(has_flag(row, flag)) << row.flags;
    }
  }
}

TEST_F(FakeRun, BeginsItsDataLateByElements) {
  options.unalign = 3;
  options.types = {DataType::Double};
  for (const Record& row : run()) EXPECT_EQ(row.status, RowStatus::Ok);
  const auto address = reinterpret_cast<std::uintptr_t>(communicator.calls.at(0).send);
  EXPECT_EQ(address % 4096, 24U);
}

TEST_F(FakeRun, RegistersBuffersBeforeTheyAreUsed) {
  communicator.operation_time = [this](std::size_t) {
    EXPECT_FALSE(communicator.registered.empty());
    return Seconds{1e-3};
  };
  (void)run();
  EXPECT_EQ(communicator.registered.size(), 4U);  // two buffers for each of two sizes
}

TEST_F(FakeRun, SkipsARowThatTheLibraryRefusesAndGoesOn) {
  on_devices = true;
  communicator.operation_time = failing_at(2, kInvalidArgument);  // the one before is no row's
  EXPECT_EQ(cells(run(), "status reason"), "skipped|NCCL: invalid argument ok| ok| ok|");
  EXPECT_EQ(failure.message, "");
}

TEST_F(FakeRun, EndsWhereTheLibraryRefusesAnOperationLaterThanTheFirst) {
  on_devices = true;
  communicator.operation_time = failing_at(4, kInvalidArgument);
  EXPECT_EQ(cells(run(), "status"), "failed");
  EXPECT_EQ(failure.status, Status::Runtime);  // other ranks may not know of it
}

/// The sizes of a launch of the first group of a plan, where memory is plenty.
std::vector<SizePlan> plans_of(Options options, const char* name, const GroupPlan& plan,
                               Bytes host_cache = 0, std::optional<Bytes> device_cache = {}) {
  const RankGroup& mine = plan.rounds.front().groups.front();
  test::FakeBootstrap bootstrap(0, static_cast<int>(mine.ranks.size()));
  options.host_limits = false;
  options.memory_limit = 64 * kGiB;
  RankMap rank_map;
  rank_map.ranks.resize(mine.ranks.size());
  rank_map.largest_cache = host_cache;
  Watchdog watchdog{std::nullopt, {}};
  const Job job{.options = options,
                .collective = test::collective(name),
                .backend = {&test::backend_named("mpi"), "asked for"},
                .on_devices = device_cache.has_value(),
                .connect =
                    [&](Bootstrap&) {
                      auto communicator = std::make_shared<test::FakeCommunicator>();
                      communicator->cache = device_cache.value_or(0);
                      return communicator;
                    },
                .world = bootstrap,
                .plan = plan,
                .rank_map = rank_map,
                .watchdog = watchdog};
  const auto rows = plan_rows(options, job.collective, plan);
  Connected connected(job, rows);
  connected.connect(0);
  return connected.plan_sweep(DataType::Float, ReduceOp::Sum, 0);
}

/// Buffers of 1 MiB that --cache rotate goes through.
std::uint64_t rotated_slots(std::optional<Bytes> device_cache, Bytes host_cache) {
  Options options;
  options.cache = Cache::Rotate;
  options.sweep = {.first = kMiB, .last = kMiB};
  return plans_of(options, "allreduce", world_plan(1), host_cache, device_cache).at(0).slots;
}

TEST(PlanSweep, RotatesThroughTwiceTheCacheOfTheMemoryThatIsUsed) {
  EXPECT_EQ(rotated_slots(50 * kMiB, 512 * kMiB), 256U);  // the least amount
  EXPECT_EQ(rotated_slots(192 * kMiB, 32 * kMiB), 384U);
  EXPECT_EQ(rotated_slots(Bytes{0}, 512 * kMiB), 256U);
  EXPECT_EQ(rotated_slots({}, 32 * kMiB), 128U);  // the least amount
  EXPECT_EQ(rotated_slots({}, 256 * kMiB), 512U);
}

/// What rank 0 wrote of a run of `ranks` ranks in the rounds of its options.
std::vector<Record> rows_of_rounds(int ranks, Options options, const char* collective) {
  const test::TemporaryFolder folder;
  options.sweep = {.first = kKiB, .last = 2 * kKiB};
  options.operations = options.visits == 1 ? 3 : 4;
  options.warmup_operations = 1;
  options.checks = 0;  // a fake moves no data between ranks
  options.csv_path = folder.path("x.csv");
  RankMap rank_map;
  rank_map.ranks.resize(static_cast<std::size_t>(ranks));
  rank_map.least_memory = kGiB;
  testing::internal::CaptureStdout();
  test::on_ranks(ranks, [&](test::ThreadBootstrap& world) {
    const GroupPlan plan = plan_groups(world, options);
    Watchdog watchdog{std::nullopt, {}};
    test::run_job({.options = options,
                   .collective = test::collective(collective),
                   .backend = {&test::backend_named("mpi"), "asked for"},
                   .connect = [](Bootstrap&) { return std::make_shared<test::FakeCommunicator>(); },
                   .world = world,
                   .plan = plan,
                   .rank_map = rank_map,
                   .watchdog = watchdog});
  });
  (void)testing::internal::GetCapturedStdout();
  return read_csv(options.csv_path).records;
}

TEST(RunOfRounds, HasARowForEveryGroupRoundByRoundWhileOthersWait) {
  Options options;
  options.placement = Placement::Out;
  options.groups = parse_group_spec("--groups", "0,0,0-1;0,1,2-3;4,7,1 3 4");
  const auto rows = rows_of_rounds(5, options, "allreduce");
  EXPECT_EQ(cells(rows, "round group ranks size_bytes"),
            "0|0|2|1024 0|1|2|1024 0|0|2|2048 0|1|2|2048 4|7|3|1024 4|7|3|2048");
  EXPECT_EQ(rows.front().hosts, host_name());
  EXPECT_TRUE(rows.front().connect_s.has_value());
  EXPECT_FALSE(rows.front().groups_seed.has_value());
}

TEST(RunOfRounds, VisitsEveryRoundAndHasItsRowsInTheSameOrder) {
  Options options;
  options.groups = parse_group_spec("--groups", "0,0,0;0,1,1-2;1,0,0-1;2,0,1-2");
  const auto once = rows_of_rounds(3, options, "broadcast");
  options.visits = 4;
  const auto visited = rows_of_rounds(3, options, "broadcast");
  ASSERT_EQ(visited.size(), once.size());
  for (std::size_t i = 0; i < once.size(); ++i) EXPECT_EQ(row_key(visited[i]), row_key(once[i]));
}

TEST(RunOfRounds, SkipsAllToAllInAGroupOfMoreThan256Ranks) {
  for (const std::size_t ranks : {256U, 257U}) {
    GroupPlan plan = world_plan(static_cast<int>(ranks));
    plan.kind = GroupPlan::Kind::Groups;
    const auto plans = plans_of({}, "alltoall", plan);
    const bool skipped = ranks > 256;
    EXPECT_EQ(plans.front().reason.starts_with("all-to-all of 257 ranks needs 65792 connections"),
              skipped)
        << plans.front().reason;
    EXPECT_EQ(plans.front().out_of_place, !skipped);
  }
}

/// What a simulated all-reduce prints.
std::string table_of(const std::string& system, int ranks) {
  Options options;
  options.sweep.last = kMiB, options.system = system, options.ranks = ranks;
  testing::internal::CaptureStdout();
  (void)run_simulation(options, test::collective("allreduce"), {});
  return testing::internal::GetCapturedStdout();
}

TEST(Simulation, ListsSixteenRanksButOfMoreTheFirstAndTheLast) {
  EXPECT_THAT(table_of("dgx-2", 16), HasSubstr(" Rank  8 "));
  EXPECT_THAT(table_of("dgx-h100", 17),
              testing::ContainsRegex(" Rank  0 .*\n.* 15 ranks more\n.* Rank 16 "));
}

TEST(Simulation, SkipsDevicesThatNothingJoins) {
  const test::TemporaryFolder folder;
  folder.write("two.toml", "name = \"two\"\nnode = [{ name = \"GPU0-1\", kind = \"gpu\" }]");
  EXPECT_THAT(table_of(folder.path("two.toml"), 2), HasSubstr("skipped: not modelled"));
}

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "harness/measurement.hpp"

#include "harness/row_record.hpp"
#include "model/flag.hpp"
#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/fake_communicator.hpp"
#include "tests/unit/support/sample_records.hpp"
#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

Call call() { return {.collective = &test::collective("allreduce")}; }

Seconds refuse(std::size_t /*n*/) { throw Error{Status::Unavailable, "no f8 average"}; }

/// What came of priming on each rank; ranks of `groups` run the operation with each other.
struct Primed {
  std::string refusal;
  test::Failure failure;
  std::string events;
};
std::vector<Primed> prime_ranks(const std::vector<int>& groups, const std::vector<int>& refusing) {
  std::vector<Primed> ranks(groups.size());
  test::on_ranks(static_cast<int>(groups.size()), [&](test::ThreadBootstrap& world) {
    const auto rank = static_cast<std::size_t>(world.rank());
    const auto part = world.split(groups[rank]);
    test::FakeCommunicator communicator;
    const bool refuses =
        std::find(refusing.begin(), refusing.end(), world.rank()) != refusing.end();
    if (refuses) communicator.operation_time = refuse;
    ranks[rank].failure = test::failure_of([&] {
      ranks[rank].refusal = prime({.world = world, .members = *part}, communicator, call());
    });
    ranks[rank].events = communicator.events;
  });
  return ranks;
}

TEST(Prime, RunsTheOperationOnceAfterABarrier) {
  test::FakeBootstrap bootstrap;
  test::FakeCommunicator communicator;
  EXPECT_EQ(prime({.world = bootstrap, .members = bootstrap}, communicator, call()), "");
  EXPECT_EQ(communicator.events, "ow");
  EXPECT_EQ(bootstrap.barriers, 1);
}

TEST(Prime, ReturnsTheLibrarysReasonOnEveryRankWhereAllAreRefused) {
  for (const Primed& rank : prime_ranks({0, 0, 0}, {0, 1, 2})) {
    EXPECT_EQ(rank.refusal, "no f8 average");
    EXPECT_EQ(rank.failure.message, "");
    EXPECT_EQ(rank.events, "o");
  }
}

TEST(Prime, WaitsForNothingThatARefusingRankLeavesUnfinished) {
  for (const Primed& rank : prime_ranks({0, 0, 0}, {1})) {
    EXPECT_EQ(rank.failure.status, Status::Runtime);
    EXPECT_TRUE(rank.failure.says("no f8 average")) << rank.failure.message;
    EXPECT_EQ(rank.events, "o");
  }
}

TEST(Prime, RunsInNoGroupOfRanksWhereOneGroupIsRefused) {
  const std::vector<Primed> ranks = prime_ranks({0, 0, 1, 1}, {2, 3});
  for (const Primed& rank : ranks) EXPECT_EQ(rank.refusal, "no f8 average");
  EXPECT_EQ(ranks[0].events, "ow");  // what a group has begun it ends
  EXPECT_EQ(ranks[2].events, "o");
}

TEST(Prime, LetsAFailurePass) {
  test::FakeBootstrap bootstrap;
  test::FakeCommunicator communicator;
  communicator.operation_time = [](std::size_t) -> Seconds { throw runtime_failure("no cable"); };
  test::expect_failure(Status::Runtime, "no cable", [&] {
    (void)prime({.world = bootstrap, .members = bootstrap}, communicator, call());
  });
}

/// One row of 1 KiB of floats, an all-reduce over one fake rank.
struct OneRow : testing::Test {
  OneRow() {
    options.operations = 6;
    options.warmup_operations = 0;
  }

  /// Measures so many rows in the same buffers; samples and record of the last are kept.
  void measure(bool in_place = false, int rows = 1) {
    const GroupPlan all = world_plan(1);
    const Job job{.options = options,
                  .collective = allreduce,
                  .backend = {&test::backend_named("mpi"), "asked for"},
                  .on_devices = on_devices,
                  .world = bootstrap,
                  .plan = all,
                  .rank_map = rank_map,
                  .watchdog = watchdog};
    const ConnectedRound round{.ranks = {.world = bootstrap, .members = bootstrap},
                               .communicator = communicator,
                               .mine = job.group_of(0),
                               .timer_cost_s = timer_cost_s};
    const SizePlan plan{
        .footprint = allreduce.footprint({.wanted = kKiB, .element = 4, .ranks = 1}),
        .slots = slots};
    const Call like{.collective = &allreduce, .op = ReduceOp::Sum};
    const PlannedRow planned{.collective = &allreduce,
                             .wanted = kKiB,
                             .op = ReduceOp::Sum,
                             .in_place = in_place,
                             .together = options.loads_beside()};
    RowBuffers buffers(communicator, plan, 0);
    RankLoad load(options, bootstrap, communicator);
    Verifier verifier(round.ranks, communicator, DataType::Float, ReduceOp::Sum);
    for (int row = 0; row < rows; ++row) {
      Evidence evidence;
      busbar::measure({.job = job,
                       .row = planned,
                       .round = round,
                       .plan = plan,
                       .like = like,
                       .verifier = verifier,
                       .load = load,
                       .buffers = &buffers},
                      {}, {}, evidence);
      record = row_of(job, planned, *round.mine, {&evidence, 1}).record;
      samples = evidence.times_us;
    }
  }

  [[nodiscard]] std::size_t operations() const { return communicator.calls.size(); }
  /// Of the last row.
  [[nodiscard]] std::string cells(std::string_view columns) const {
    return test::cells(record, columns);
  }

  const Collective& allreduce = test::collective("allreduce");
  Options options;
  RankMap rank_map;
  test::FakeBootstrap bootstrap;
  test::FakeCommunicator communicator;
  Watchdog watchdog{std::nullopt, {}};
  std::uint64_t slots = 1;
  double timer_cost_s = 0;
  bool on_devices = false;
  Record record;
  std::vector<double> samples;
};

TEST_F(OneRow, FillsTheRecordAndGivesTheSamples) {
  measure();
  EXPECT_EQ(samples, std::vector<double>(6, 1000));
  EXPECT_EQ(cells("samples operations time_median_us status wrong"), "6|6|1000|ok|0");
  EXPECT_TRUE(record.host_time_us && record.enqueue_time_us);
}

TEST_F(OneRow, MeasuresTheSkewOfStartsOnOneHostOnly) {
  measure();
  EXPECT_TRUE(record.start_skew_us.has_value());
  rank_map.hosts = 2;
  measure();
  EXPECT_FALSE(record.start_skew_us.has_value());
}

TEST_F(OneRow, ChecksTimedBuffersOutOfPlaceAndOperatesAgainForEveryOtherCheckIfAny) {
  measure();
  EXPECT_EQ(operations(), 6U);
  measure(true);
  EXPECT_EQ(operations(), 6U + 7U);
  EXPECT_EQ(record.status, RowStatus::Ok);
  options.checks = 3;
  measure();
  EXPECT_EQ(operations(), 13U + 8U);
  measure(true);
  EXPECT_EQ(operations(), 21U + 9U);
  options.checks = 0;
  measure(true);
  EXPECT_EQ(operations(), 30U + 6U);
  EXPECT_EQ(cells("wrong status"), "|ok");
}

TEST_F(OneRow, FindsAPlantedFaultAndStopsCheckingAtTheFirstWrongResult) {
  options.inject_fault = Fault{.rank = 0, .index = 256};  // there is no such element
  measure();
  EXPECT_FALSE(has_flag(record, Flag::FaultInjected));
  EXPECT_EQ(record.status, RowStatus::Ok);
  communicator.calls.clear();
  options.inject_fault = Fault{.rank = 0, .index = 37};
  options.checks = 5;
  measure();
  EXPECT_EQ(cells("wrong status"), "1|wrong");
  EXPECT_TRUE(has_flag(record, Flag::FaultInjected));
  EXPECT_TRUE(record.reason.starts_with("rank 0, element 37: expected ")) << record.reason;
  EXPECT_EQ(operations(), 6U);
}

TEST_F(OneRow, ChecksWhatItReceivedBesideALoad) {
  options.load = Load{.spin = Seconds{1e-6}, .beside = true};
  options.time_budget = Seconds{1e-3};
  measure();
  EXPECT_EQ(cells("mix wrong status"), "beside load|0|ok");
  communicator.moves_data = false;
  measure();
  EXPECT_EQ(record.wrong, 256U);
  communicator.moves_data = true;
  options.inject_fault = Fault{.rank = 0, .index = 37};
  measure();
  EXPECT_EQ(cells("wrong status"), "1|wrong");
}

TEST_F(OneRow, TakesNoResultOfTheRowBeforeForItsOwn) {
  communicator.operation_time = [this](std::size_t n) {
    communicator.moves_data = n <= options.operations;  // the second row's operations do nothing
    return Seconds{1e-3};
  };
  measure(false, 2);
  EXPECT_EQ(record.wrong, 256U);
}

TEST_F(OneRow, FindsWhatIsWrongInAnySlotThatWasUsed) {
  slots = 4;
  measure();
  EXPECT_EQ(record.status, RowStatus::Ok);
  options.operations = 3;  // of four slots the last is left poisoned, and not looked at
  measure();
  EXPECT_EQ(record.status, RowStatus::Ok);
  options.operations = 4;
  communicator.calls.clear();
  communicator.operation_time = [&](std::size_t n) {
    if (n == 4) communicator.flip_bit(communicator.calls[1].recv);
    return Seconds{1e-3};
  };
  measure();
  EXPECT_EQ(record.wrong, 1U);
}

TEST_F(OneRow, GroupsAsManyOperationsAsAskedAndSamplesTheGroups) {
  options.operations = 2;
  options.aggregated = 3;
  measure();
  EXPECT_EQ(communicator.events, "(ooo)(ooo)w");
  EXPECT_EQ(cells("operations samples batch"), "6|2|3");
}

TEST_F(OneRow, RunsAnUntimedOperationFirstOnADeviceOnly) {
  measure();
  EXPECT_EQ(communicator.events, "oooooow");
  on_devices = true;
  communicator.events.clear();
  measure();
  EXPECT_EQ(communicator.events, "owoooooow");
  EXPECT_EQ(cells("operations warmup_operations"), "6|0");  // as -w 0 asks for
  communicator.events.clear();
  measure(true);
  EXPECT_EQ(communicator.events, "owoooooowow");
}

TEST_F(OneRow, MeasuresAnOperationThatOutlastsTheBudgetFromTheSecondOn) {
  on_devices = true;
  communicator.operation_time = [](std::size_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return Seconds{10};
  };
  options.operations.reset();
  options.warmup_operations.reset();
  options.time_budget = Seconds{0.001};
  measure();
  EXPECT_EQ(cells("samples warmup_operations"), "2|0");
  EXPECT_EQ(operations(), 3U);
}

TEST_F(OneRow, HoldsTheDeviceForIsolatedOperationsUnlessTheyBlock) {
  on_devices = true;
  communicator.can_hold = true;
  options.operations = 2;
  options.cadence = Cadence::Isolated;
  measure();
  EXPECT_EQ(communicator.events, "owhoswhosw");
  for (const Blocking blocking :
       {Blocking::WaitAndBarrier, Blocking::Wait, Blocking::UntimedBarrier}) {
    communicator.events.clear();
    options.blocking = blocking;
    measure();
    EXPECT_EQ(communicator.events.find('h'), std::string::npos) << communicator.events;
  }
}

TEST_F(OneRow, FlagsARowOfADeviceWhoseTimeIsThatOfIssuing) {
  struct Issuing {
    bool on_devices;
    Blocking blocking;  // issuing includes the waits
    double seconds;
    bool launch_bound;
  };
  for (const Issuing& c : {Issuing{false, Blocking::Off, 1e-3, false},
                           {true, Blocking::Off, 1e-3, true},
                           {true, Blocking::Wait, 1e-3, false},
                           {true, Blocking::Off, 1, false}}) {
    communicator.operation_time = [&](std::size_t) {
      std::this_thread::sleep_for(Seconds{1e-3});
      return Seconds{c.seconds};
    };
    on_devices = c.on_devices;
    options.blocking = c.blocking;
    measure();
    EXPECT_EQ(has_flag(record, Flag::LaunchBound), c.launch_bound) << record.flags;
  }
}

TEST_F(OneRow, LaunchesAGraphOfAllOperationsForOneSampleAndCountsEveryLaunchAsWarmup) {
  on_devices = true;
  options.graph_launches = 4;
  measure();
  EXPECT_EQ(communicator.events, "ow[oooooo]ggggw");
  EXPECT_EQ(cells("samples operations batch"), "1|24|6");
  EXPECT_NEAR(record.time_median_us.value_or(0), 1000, 1e-9);
  options.graph_launches = 3;
  options.warmup_operations = 2;
  measure();
  EXPECT_EQ(record.warmup_operations, 6U);
}

TEST_F(OneRow, PutsTwentyOperationsIntoAGraphWhereNoneAreCounted) {
  options.graph_launches = 2;
  options.operations.reset();
  options.time_budget = Seconds{1000};
  measure();
  EXPECT_EQ(cells("batch samples operations"), "20|50|2000");
  EXPECT_EQ(std::count(communicator.events.begin(), communicator.events.end(), '['), 1);
}

TEST_F(OneRow, MakesNoBatchesOfIsolatedOperations) {
  communicator.operation_time = [](std::size_t) { return Seconds{1e-6}; };
  timer_cost_s = 40e-9;
  options.operations = 8;
  options.warmup_operations = 1;
  measure();
  EXPECT_EQ(record.batch, 4U);
  options.cadence = Cadence::Isolated;
  measure();
  EXPECT_EQ(record.batch, 1U);
}

}  // namespace
}  // namespace busbar

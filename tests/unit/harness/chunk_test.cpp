// SPDX-License-Identifier: BSD-3-Clause
#include "harness/chunk.hpp"

#include <numeric>

#include "harness/load.hpp"
#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/fake_communicator.hpp"
#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

using Batches = std::vector<std::uint64_t>;
using testing::DoubleNear;

TEST(ChunkShape, DividesOperationsIntoBatchesOfWhichTheFirstTakeARemainder) {
  EXPECT_EQ(ChunkShape::of(20, 1).batches, Batches(20, 1));
  EXPECT_EQ(ChunkShape::of(20, 5).batches, Batches(4, 5));
  EXPECT_EQ(ChunkShape::of(11, 4).batches, (Batches{6, 5}));
  EXPECT_EQ(ChunkShape::of(7, 3).batches, (Batches{4, 3}));
  EXPECT_EQ(ChunkShape::of(3, 100).batches, (Batches{3}));
}

TEST(ChunkShape, LosesNoOperation) {
  for (std::uint64_t operations = 1; operations < 60; ++operations) {
    for (std::uint64_t batch = 0; batch < 70; ++batch) {
      const Batches batches = ChunkShape::of(operations, batch).batches;
      EXPECT_EQ(std::accumulate(batches.begin(), batches.end(), std::uint64_t{0}), operations);
    }
  }
}

struct ChunkRun : testing::Test {
  ChunkResult run(const ChunkShape& shape, ChunkRunner::Settings settings) {
    return runner(settings).run(shape);
  }
  ChunkRunner runner(ChunkRunner::Settings settings) {
    return {{.world = bootstrap, .members = bootstrap}, communicator, calls, settings, tracker};
  }
  /// What the communicator is asked for in a run.
  std::string events_of(const ChunkShape& shape, ChunkRunner::Settings settings) {
    communicator.events.clear();
    (void)run(shape, settings);
    return communicator.events;
  }

  test::FakeBootstrap bootstrap;
  test::FakeCommunicator communicator;
  std::vector<Call> calls{Call{.collective = &test::collective("allreduce")}};
  StepTracker tracker;
};

TEST_F(ChunkRun, TimesEachBatchPerOperation) {
  EXPECT_EQ(run({.batches = {3, 2}}, {}).samples_us, (std::vector<double>{1000, 1000}));
  communicator.calls.clear();
  communicator.operation_time = [](std::size_t n) {
    return Seconds{static_cast<double>(n) * 1e-6};
  };
  const ChunkResult result = run(ChunkShape::of(4, 2), {});
  ASSERT_EQ(result.samples_us.size(), 2U);
  EXPECT_DOUBLE_EQ(result.samples_us[0], 1.5);  // operations of 1 and 2 us
  EXPECT_DOUBLE_EQ(result.samples_us[1], 3.5);
  EXPECT_EQ(result.operations, 4U);
  EXPECT_EQ(communicator.calls.size(), 4U);
}

TEST_F(ChunkRun, DividesTheHostsTimesByTheOperationsOfTheChunk) {
  communicator.operation_time = [](std::size_t n) {
    if (n > 1000) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Seconds{1e-6};
  };
  for (const Cadence cadence : {Cadence::Streaming, Cadence::Isolated}) {
    ChunkRunner chunks = runner({.cadence = cadence});
    communicator.calls.clear();
    (void)chunks.run(ChunkShape::of(1000, 1));
    const ChunkResult second = chunks.run(ChunkShape::of(2, 1));
    EXPECT_GE(second.enqueue_us, 1000);
    EXPECT_GE(second.host_us, 1000);
  }
}

TEST_F(ChunkRun, CountsDisturbancesFromItsBeginning) {
  const Disturbances before = disturbances();
  ASSERT_GT(before.minor_faults, 0);
  const ChunkResult result = run(ChunkShape::of(2, 1), {});
  EXPECT_LE(result.disturbances.minor_faults, disturbances().minor_faults - before.minor_faults);
  EXPECT_LE(result.disturbances.involuntary_switches,
            disturbances().involuntary_switches - before.involuntary_switches);
}

// Another rank starts 1, 2 and 3 ms later.
TEST_F(ChunkRun, MeasuresHowFarTheStartsOfEachOperationAreApart) {
  bootstrap.others = [](std::span<double> values, Combine how) {
    if (how != Combine::Max || values.size() != 7) return;  // the load, three starts and negatives
    for (std::size_t i = 0; i < 3; ++i) values[1 + 2 * i] += 1e-3 * static_cast<double>(i + 1);
  };
  const ChunkResult result = run(ChunkShape::of(3, 1), {.cadence = Cadence::Isolated});
  ASSERT_EQ(result.start_skew_us.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(result.start_skew_us[i], 1000 * static_cast<double>(i + 1), 0.1);
  }
}

// Rank r of 4 takes 5 + r us, but in the second sample rank 2 is the one that takes least.
TEST(ChunkRunOfSeveralRanks, AveragesTimesFindsWhoseIsTheShortestAndKeepsAll) {
  test::on_ranks(4, [](test::ThreadBootstrap& world) {
    test::FakeCommunicator communicator;
    StepTracker tracker;
    communicator.operation_time = [&](std::size_t n) {
      return Seconds{n == 2 && world.rank() == 2 ? 1e-6 : 1e-6 * (5 + world.rank())};
    };
    const std::vector<Call> calls{Call{.collective = &test::collective("allreduce")}};
    ChunkRunner runner({.world = world, .members = world}, communicator, calls,
                       {.aggregation = Aggregation::Mean, .arrivals = true, .rank_times = true},
                       tracker);
    const ChunkResult result = runner.run(ChunkShape::of(2, 1));
    EXPECT_THAT(result.samples_us, ElementsAre(DoubleNear(6.5, 1e-9), DoubleNear(5, 1e-9)));
    ASSERT_EQ(result.arrivals.size(), 2U);
    EXPECT_EQ(result.arrivals[0].last, 0);
    EXPECT_EQ(result.arrivals[1].last, 2);
    EXPECT_NEAR(result.arrivals[0].late_us, 3, 1e-6);
    EXPECT_NEAR(result.arrivals[1].late_us, 7, 1e-6);
    ASSERT_EQ(result.rank_times_us.size(), world.rank() == 0 ? 2U : 0U);
    if (world.rank() != 0) return;
    for (std::size_t rank = 0; rank < 4; ++rank) {
      EXPECT_NEAR(result.rank_times_us[0].at(rank), 5 + static_cast<double>(rank), 1e-9);
    }
    EXPECT_NEAR(result.rank_times_us[1].at(2), 1, 1e-9);
  });
}

TEST_F(ChunkRun, KeepsNeitherUnlessAsked) {
  const ChunkResult result = run(ChunkShape::of(2, 1), {});
  EXPECT_TRUE(result.arrivals.empty());
  EXPECT_TRUE(result.rank_times_us.empty());
  EXPECT_EQ(result.load_us, 0);
}

TEST_F(ChunkRun, WorksBeforeEachBatchOutsideItsTime) {
  const auto prepare = [this] {
    communicator.events += 'p';
    communicator.watch.advance(Seconds{250e-6});
  };
  for (const Cadence cadence : {Cadence::Streaming, Cadence::Isolated}) {
    communicator.events.clear();
    const ChunkResult result = run({.batches = {2, 2}}, {.cadence = cadence, .prepare = prepare});
    EXPECT_EQ(result.samples_us, (std::vector<double>{1000, 1000}));
    EXPECT_NEAR(result.load_us, 250, 1e-9);
    EXPECT_EQ(communicator.events, cadence == Cadence::Streaming ? "poopoow" : "poowpoow");
  }
}

TEST_F(ChunkRun, ObservesAnUntimedGroupAndRunsOneMoreUnobserved) {
  communicator.choice = LibraryChoice{.algorithm = "Ring"};
  ChunkRunner chunks = runner({.group = 2});
  EXPECT_EQ(chunks.observe()->algorithm, "Ring");
  EXPECT_EQ(communicator.events, "<(oo)w>(oo)w");
  EXPECT_EQ(chunks.operations(), 0U);  // what is timed begins with the first call
  communicator.choice.reset();
  communicator.events.clear();
  EXPECT_FALSE(runner({.graph_launches = 3}).observe());  // the recording of a graph
  EXPECT_EQ(communicator.events, "<[o]>ow");
}

TEST_F(ChunkRun, HasOneBarrierWhereItStreamsAndOneForEachIsolatedOperation) {
  const ChunkResult streamed = run(ChunkShape::of(20, 1), {.cadence = Cadence::Streaming});
  EXPECT_EQ(bootstrap.barriers, 1);
  EXPECT_EQ(streamed.start_skew_us.size(), 1U);
  EXPECT_EQ(communicator.waits, 1);
  const ChunkResult isolated = run(ChunkShape::of(20, 1), {.cadence = Cadence::Isolated});
  EXPECT_EQ(bootstrap.barriers, 1 + 20);
  EXPECT_EQ(isolated.start_skew_us.size(), 20U);
}

TEST_F(ChunkRun, WaitsOrMeetsAtEachOperationThatBlocks) {
  (void)run(ChunkShape::of(5, 1), {.blocking = Blocking::Wait});
  EXPECT_EQ(communicator.waits, 6);
  EXPECT_EQ(bootstrap.barriers, 1);
  (void)run(ChunkShape::of(5, 1), {.blocking = Blocking::WaitAndBarrier});
  EXPECT_EQ(bootstrap.barriers, 1 + 6);
  (void)run(ChunkShape::of(5, 1), {.blocking = Blocking::UntimedBarrier});
  EXPECT_GE(bootstrap.barriers, 7 + 5);
}

TEST_F(ChunkRun, CombinesSamplesOverRanksAsRequested) {
  for (const auto& [aggregation, combine] :
       {std::pair{Aggregation::Min, Combine::Min}, {Aggregation::Max, Combine::Max}}) {
    bootstrap.combined.clear();
    (void)run(ChunkShape::of(1, 1), {.aggregation = aggregation});
    EXPECT_EQ(bootstrap.combined.front(), combine);
  }
  bootstrap.broadcasts = 0;
  (void)run(ChunkShape::of(1, 1), {.aggregation = Aggregation::Rank0});
  EXPECT_EQ(bootstrap.broadcasts, 1);
  bootstrap.others = [](auto values, auto) { std::fill(values.begin(), values.end(), 1e9); };
  EXPECT_EQ(run(ChunkShape::of(1, 1), {.aggregation = Aggregation::Max}).enqueue_us, 1e9);
}

TEST_F(ChunkRun, TakesItsCallsInTurnButTheFirstAgainInEveryGraph) {
  calls.assign(5, calls.front());
  for (int i = 0; i < 5; ++i) calls[static_cast<std::size_t>(i)].root = i;
  ChunkRunner graphs = runner({.graph_launches = 2});
  (void)graphs.run({.batches = {2, 3}});
  EXPECT_EQ(graphs.operations(), 10U);
  EXPECT_EQ(graphs.calls_used(), 3U);
  ChunkRunner chunks = runner({});
  (void)chunks.run({.batches = {2, 2}});
  EXPECT_EQ(chunks.calls_used(), 4U);
  (void)chunks.run({.batches = {3}});
  EXPECT_EQ(chunks.calls_used(), 5U);
  EXPECT_THAT(mapped(communicator.calls, &Call::root),
              ElementsAre(0, 1, 0, 1, 0, 1, 2, 0, 1, 2, 0, 1, 2, 3, 4, 0, 1));
}

/// Where the scheduler takes the processor away it can only be more.
double least_of_five(const std::function<double()>& measure) {
  double least = measure();
  for (int i = 1; i < 5; ++i) least = std::min(least, measure());
  return least;
}

TEST_F(ChunkRun, LeavesAFullLaunchQueueOutOfTheTimeOfIssuing) {
  int issued = 0;
  communicator.operation_time = [&](std::size_t) {
    // From the 21st on the host waits for room in the queue.
    if (++issued > 20) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return Seconds{2e-3};
  };
  const auto enqueue_us = [&] {
    issued = 0;
    return run({.batches = {60, 60}}, {}).enqueue_us;
  };
  EXPECT_LT(least_of_five(enqueue_us), 1300);  // 80 ms over 60 would be 1333
}

TEST_F(ChunkRun, TimesTheIssuingOfWholeGroups) {
  communicator.operation_time = [](std::size_t n) {
    if (n == 24) std::this_thread::sleep_for(std::chrono::milliseconds(48));
    return Seconds{1e-3};
  };
  EXPECT_GE(run({.batches = {60}}, {.group = 8}).enqueue_us, 2000);  // 48 ms over 24 operations
}

TEST_F(ChunkRun, LeavesTheRecordingOfAStartOutOfTheHostsTimes) {
  communicator.watch.recording = Seconds{0.05};
  const auto least = [&](Cadence cadence, double ChunkResult::*time) {
    return least_of_five([&] { return run({.batches = {10}}, {.cadence = cadence}).*time; });
  };
  // 50 ms over 10 operations would be 5000.
  EXPECT_LT(least(Cadence::Streaming, &ChunkResult::enqueue_us), 4900);
  EXPECT_LT(least(Cadence::Isolated, &ChunkResult::enqueue_us), 4900);
  EXPECT_LT(least(Cadence::Streaming, &ChunkResult::host_us), 9900);  // one lap, no start
}

TEST_F(ChunkRun, IssuesIsolatedOperationsWhileTheDeviceIsHeldAndStartsItAfterABarrier) {
  communicator.can_hold = true;
  std::vector<int> barriers;
  std::vector<std::size_t> laps;
  communicator.on_start_held = [&] {
    barriers.push_back(bootstrap.barriers);
    laps.push_back(communicator.watch.intervals().size());
  };
  const ChunkResult result =
      run({.batches = {1, 1, 1}}, {.cadence = Cadence::Isolated, .hold = true});
  EXPECT_EQ(communicator.events, "hoswhoswhosw");
  EXPECT_EQ(barriers, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(laps, (std::vector<std::size_t>{1, 2, 3}));
  EXPECT_EQ(result.samples_us, std::vector<double>(3, 1000));
  EXPECT_EQ(result.start_skew_us.size(), 3U);
}

TEST_F(ChunkRun, TimesAHeldOperationOnTheHostFromItsRelease) {
  communicator.can_hold = true;
  communicator.operation_time = [](std::size_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return Seconds{1e-3};
  };
  EXPECT_LT(least_of_five([&] {
              const ChunkResult result =
                  run({.batches = {1}}, {.cadence = Cadence::Isolated, .hold = true});
              EXPECT_GE(result.enqueue_us, 20000);
              return result.host_us;
            }),
            19900);
}

TEST_F(ChunkRun, LetsTheDeviceGoWhereAnOperationFails) {
  communicator.can_hold = true;
  communicator.operation_time = [](std::size_t) -> Seconds { throw runtime_failure("broken"); };
  EXPECT_THROW((void)run({.batches = {1}}, {.cadence = Cadence::Isolated, .hold = true}), Error);
  EXPECT_EQ(communicator.events, "hos");
}

TEST_F(ChunkRun, ShowsWhichOperationItIsIn) {
  tracker.step("all-reduce");
  std::vector<std::string> seen;
  communicator.operation_time = [&](std::size_t) {
    seen.push_back(to_string(tracker.position()));
    return Seconds{0};
  };
  ChunkRunner chunks = runner({});
  (void)chunks.run({.batches = {1}});
  seen.push_back(to_string(tracker.position()));
  chunks.begin_phase("timing");
  (void)chunks.run({.batches = {2}});
  EXPECT_EQ(seen, (std::vector<std::string>{
                      "all-reduce, in operation 1", "all-reduce, after operation 1",
                      "all-reduce, timing, in operation 2", "all-reduce, timing, in operation 3"}));
  ChunkRunner graphs = runner({.group = 2, .graph_launches = 3});
  (void)graphs.run({.batches = {4}});
  EXPECT_EQ(tracker.position().point, 24U);  // after operation 12
}

TEST_F(ChunkRun, GroupsAndHoldsOperationsAsConfiguredButHoldsNoMoreThanALaunchQueueTakes) {
  const ChunkRunner::Settings held{.cadence = Cadence::Isolated, .hold = true};
  EXPECT_EQ(events_of({.batches = {1, 1}}, held), "owow");  // a device that cannot be held
  communicator.can_hold = true;
  struct Case {
    std::string events;
    Batches batches;
    ChunkRunner::Settings settings;
  };
  for (const Case& each :
       std::vector<Case>{{"(ooo)(ooo)w", {3, 3}, {.group = 3}},
                         {"(oo)(oo)(o)w", {5}, {.group = 2}},
                         {"ooow", {1, 1, 1}, {.group = 1}},
                         {"(oo)w(oo)ww", {2, 2}, {.blocking = Blocking::Wait, .group = 2}},
                         {"[(oo)(oo)(o)]gw", {5}, {.group = 2, .graph_launches = 1}},
                         {"owow", {1, 1}, {.cadence = Cadence::Isolated}},
                         {"oow", {1, 1}, {.cadence = Cadence::Streaming, .hold = true}},
                         {"h" + std::string(20, 'o') + "sw", {20}, held},
                         {std::string(21, 'o') + "w", {21}, held},
                         {"[o]" + std::string(21, 'g') + "w",
                          {1},
                          {.cadence = Cadence::Isolated, .graph_launches = 21, .hold = true}}}) {
    EXPECT_EQ(events_of({.batches = each.batches}, each.settings), each.events);
  }
}

TEST_F(ChunkRun, RecordsEachLengthOfBatchOnceAndLaunchesItAsOftenAsConfigured) {
  ChunkRunner graphs = runner({.graph_launches = 3});
  (void)graphs.run({.batches = {6, 5, 5}});
  EXPECT_EQ(communicator.events, "[oooooo][ooooo]gggggggggw");
  communicator.events.clear();
  (void)graphs.run({.batches = {5, 6}});
  EXPECT_EQ(communicator.events, "ggggggw");
}

TEST_F(ChunkRun, DividesAGraphsTimeByItsOperationsAndLaunches) {
  communicator.operation_time = [](std::size_t) { return Seconds{7e-6}; };
  ChunkRunner graphs = runner({.graph_launches = 4});
  const ChunkResult result = graphs.run({.batches = {5, 5}});
  EXPECT_THAT(result.samples_us, ElementsAre(DoubleNear(7, 1e-9), DoubleNear(7, 1e-9)));
  EXPECT_EQ(result.operations, 40U);
  EXPECT_EQ(graphs.operations(), 40U);
}

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "harness/chunk.hpp"

#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

using Batches = std::vector<std::uint64_t>;

TEST(ChunkShape, DividesOperationsIntoBatches) {
  EXPECT_EQ(ChunkShape::of(20, 1).batches, Batches(20, 1));
  EXPECT_EQ(ChunkShape::of(20, 5).batches, Batches(4, 5));
}

TEST(ChunkShape, GivesARemainderToTheFirstBatches) {
  EXPECT_EQ(ChunkShape::of(11, 4).batches, (Batches{6, 5}));
  EXPECT_EQ(ChunkShape::of(7, 3).batches, (Batches{4, 3}));
}

TEST(ChunkShape, IsOneBatchWhereThereAreFewerOperations) {
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

class ChunkRun : public testing::Test {
 protected:
  ChunkResult run(const ChunkShape& shape, ChunkRunner::Settings settings) {
    return runner(settings).run(shape);
  }
  ChunkRunner runner(ChunkRunner::Settings settings) {
    return {{.world = bootstrap_, .members = bootstrap_}, communicator_, calls_, settings, [this] {
              ++progress_;
            }};
  }
  test::FakeBootstrap& bootstrap() { return bootstrap_; }
  test::FakeCommunicator& communicator() { return communicator_; }
  std::vector<Call>& calls() { return calls_; }
  [[nodiscard]] int progress() const { return progress_; }

 private:
  test::FakeBootstrap bootstrap_;
  test::FakeCommunicator communicator_;
  std::vector<Call> calls_{Call{.collective = &test::collective("allreduce")}};
  int progress_ = 0;
};

TEST_F(ChunkRun, TimesEachBatchPerOperation) {
  communicator().operation_time = [](std::size_t n) {
    return Seconds{static_cast<double>(n) * 1e-6};
  };
  const ChunkResult result = run(ChunkShape::of(4, 2), {});
  ASSERT_EQ(result.samples_us.size(), 2U);
  EXPECT_DOUBLE_EQ(result.samples_us[0], 1.5);  // operations of 1 and 2 us
  EXPECT_DOUBLE_EQ(result.samples_us[1], 3.5);
  EXPECT_EQ(result.operations, 4U);
  EXPECT_EQ(communicator().calls.size(), 4U);
}

TEST_F(ChunkRun, DividesEachBatchByItsOwnOperations) {
  EXPECT_EQ(run({.batches = {3, 2}}, {}).samples_us, (std::vector<double>{1000, 1000}));
}

TEST_F(ChunkRun, DividesTheHostsTimesByTheOperationsOfTheChunk) {
  communicator().operation_time = [](std::size_t n) {
    if (n > 1000) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Seconds{1e-6};
  };
  for (const Cadence cadence : {Cadence::Streaming, Cadence::Isolated}) {
    ChunkRunner chunks = runner({.cadence = cadence});
    communicator().calls.clear();
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
TEST_F(ChunkRun, TellsHowFarTheStartsOfEachOperationAreApart) {
  bootstrap().others = [](std::span<double> values, Combine how) {
    if (how != Combine::Max || values.size() != 6) return;  // three starts and their negatives
    for (std::size_t i = 0; i < 3; ++i) values[i] += 1e-3 * static_cast<double>(i + 1);
  };
  const ChunkResult result = run(ChunkShape::of(3, 1), {.cadence = Cadence::Isolated});
  ASSERT_EQ(result.start_skew_us.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(result.start_skew_us[i], 1000 * static_cast<double>(i + 1), 0.1);
  }
}

TEST_F(ChunkRun, ObservesAnUntimedGroupAndRunsOneMoreUnobserved) {
  communicator().choice = LibraryChoice{.algorithm = "Ring"};
  ChunkRunner chunks = runner({.group = 2});
  EXPECT_EQ(chunks.observe()->algorithm, "Ring");
  EXPECT_EQ(communicator().events, "<(oo)w>(oo)w");
  EXPECT_EQ(chunks.operations(), 0U);  // what is timed begins with the first call
  EXPECT_EQ(progress(), 2);
}

TEST_F(ChunkRun, ObservesTheRecordingOfAGraph) {
  ChunkRunner chunks = runner({.graph_launches = 3});
  EXPECT_FALSE(chunks.observe());
  EXPECT_EQ(communicator().events, "<[o]>ow");
}

TEST_F(ChunkRun, HasOneBarrierWhereItStreams) {
  const ChunkResult result = run(ChunkShape::of(20, 1), {.cadence = Cadence::Streaming});
  EXPECT_EQ(bootstrap().barriers, 1);
  EXPECT_EQ(result.start_skew_us.size(), 1U);
  EXPECT_EQ(communicator().waits, 1);
}

TEST_F(ChunkRun, HasABarrierBeforeEachOperationWhereTheyAreIsolated) {
  const ChunkResult result = run(ChunkShape::of(20, 1), {.cadence = Cadence::Isolated});
  EXPECT_EQ(bootstrap().barriers, 20);
  EXPECT_EQ(result.start_skew_us.size(), 20U);
}

TEST_F(ChunkRun, WaitsAndMeetsAfterEachOperationWhereTold) {
  (void)run(ChunkShape::of(5, 1), {.blocking = Blocking::Wait});
  EXPECT_EQ(communicator().waits, 6);
  EXPECT_EQ(bootstrap().barriers, 1);
}

TEST_F(ChunkRun, MeetsAfterEachOperationWhereTold) {
  (void)run(ChunkShape::of(5, 1), {.blocking = Blocking::WaitAndBarrier});
  EXPECT_EQ(bootstrap().barriers, 6);
}

TEST_F(ChunkRun, MeetsBeforeEachOperationWhereTold) {
  (void)run(ChunkShape::of(5, 1), {.blocking = Blocking::UntimedBarrier});
  EXPECT_GE(bootstrap().barriers, 5);
}

TEST_F(ChunkRun, TellsTheWatchdogOfEveryBatch) {
  (void)run(ChunkShape::of(20, 5), {});
  EXPECT_EQ(progress(), 4);
}

TEST_F(ChunkRun, CombinesSamplesOverRanksAsAsked) {
  (void)run(ChunkShape::of(1, 1), {.aggregation = Aggregation::Min});
  EXPECT_EQ(bootstrap().combined.front(), Combine::Min);
  bootstrap().combined.clear();
  (void)run(ChunkShape::of(1, 1), {.aggregation = Aggregation::Max});
  EXPECT_EQ(bootstrap().combined.front(), Combine::Max);
  bootstrap().broadcasts = 0;
  (void)run(ChunkShape::of(1, 1), {.aggregation = Aggregation::Rank0});
  EXPECT_EQ(bootstrap().broadcasts, 1);
}

TEST(ChunkRunOfManyRanks, AveragesOverThem) {
  test::FakeBootstrap bootstrap(0, 4);  // all four ranks take the same time
  test::FakeCommunicator communicator;
  const std::vector<Call> calls{Call{.collective = &test::collective("allreduce")}};
  ChunkRunner runner({.world = bootstrap, .members = bootstrap}, communicator, calls,
                     {.aggregation = Aggregation::Mean}, [] {});
  const ChunkResult result = runner.run(ChunkShape::of(2, 1));
  EXPECT_EQ(bootstrap.combined.front(), Combine::Sum);
  EXPECT_DOUBLE_EQ(result.samples_us.at(0), 1000);
}

TEST_F(ChunkRun, TakesItsCallsInTurn) {
  calls().assign(3, calls().front());
  for (int i = 0; i < 3; ++i) calls()[static_cast<std::size_t>(i)].root = i;
  (void)run(ChunkShape::of(7, 1), {});
  std::vector<int> roots;
  for (const Call& call : communicator().calls) roots.push_back(call.root);
  EXPECT_EQ(roots, (std::vector<int>{0, 1, 2, 0, 1, 2, 0}));
}

TEST_F(ChunkRun, TellsWhatIssuingTookTheHostPerOperation) {
  communicator().operation_time = [](std::size_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return Seconds{5e-6};  // as the stopwatch has it
  };
  const ChunkResult result = run(ChunkShape::of(6, 3), {});
  EXPECT_GE(result.enqueue_us, 1000);
  EXPECT_GE(result.host_us, 1000);
}

TEST_F(ChunkRun, LeavesAFullLaunchQueueOutOfTheTimeOfIssuing) {
  communicator().operation_time = [](std::size_t n) {
    // From the 21st on the host waits for room in the queue.
    if (n > 20) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    return Seconds{2e-3};
  };
  EXPECT_LT(run({.batches = {60, 60}}, {}).enqueue_us, 1300);  // 80 ms over 60 would be 1333
}

TEST_F(ChunkRun, TimesTheIssuingOfWholeGroups) {
  communicator().operation_time = [](std::size_t n) {
    if (n == 24) std::this_thread::sleep_for(std::chrono::milliseconds(48));
    return Seconds{1e-3};
  };
  EXPECT_GE(run({.batches = {60}}, {.group = 8}).enqueue_us, 2000);  // 48 ms over 24 operations
}

TEST_F(ChunkRun, LeavesTheRecordingOfAStartOutOfTheHostsTimes) {
  communicator().watch.recording = Seconds{0.05};
  const ChunkResult streamed = run({.batches = {10}}, {});
  EXPECT_LT(streamed.enqueue_us, 4900);  // 50 ms over 10 operations would be 5000
  EXPECT_LT(streamed.host_us, 9900);     // one lap, not a start and a lap
  EXPECT_LT(run({.batches = {10}}, {.cadence = Cadence::Isolated}).enqueue_us, 4900);
}

TEST_F(ChunkRun, IssuesIsolatedOperationsWhileTheDeviceIsHeldAndStartsItAfterABarrier) {
  communicator().can_hold = true;
  std::vector<int> barriers;
  std::vector<std::size_t> laps;
  communicator().on_start_held = [&] {
    barriers.push_back(bootstrap().barriers);
    laps.push_back(communicator().watch.intervals().size());
  };
  const ChunkResult result =
      run({.batches = {1, 1, 1}}, {.cadence = Cadence::Isolated, .hold = true});
  EXPECT_EQ(communicator().events, "hoswhoswhosw");
  EXPECT_EQ(barriers, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(laps, (std::vector<std::size_t>{1, 2, 3}));
  EXPECT_EQ(result.samples_us, std::vector<double>(3, 1000));
  EXPECT_EQ(result.start_skew_us.size(), 3U);
}

TEST_F(ChunkRun, TimesAHeldOperationOnTheHostFromItsRelease) {
  communicator().can_hold = true;
  communicator().operation_time = [](std::size_t) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return Seconds{1e-3};
  };
  const ChunkResult result = run({.batches = {1}}, {.cadence = Cadence::Isolated, .hold = true});
  EXPECT_GE(result.enqueue_us, 20000);
  EXPECT_LT(result.host_us, 19900);
}

TEST_F(ChunkRun, HoldsNoMoreThanALaunchQueueTakes) {
  communicator().can_hold = true;
  (void)run({.batches = {20}}, {.cadence = Cadence::Isolated, .hold = true});
  EXPECT_EQ(communicator().events.front(), 'h');
  communicator().events.clear();
  (void)run({.batches = {21}}, {.cadence = Cadence::Isolated, .hold = true});
  EXPECT_EQ(communicator().events.front(), 'o');
  communicator().events.clear();
  (void)run({.batches = {1}}, {.cadence = Cadence::Isolated, .graph_launches = 21, .hold = true});
  EXPECT_EQ(communicator().events.find('h'), std::string::npos);
}

TEST_F(ChunkRun, StartsAtABarrierWhereTheDeviceCannotBeHeld) {
  (void)run({.batches = {1, 1}}, {.cadence = Cadence::Isolated, .hold = true});
  EXPECT_EQ(communicator().events, "owow");
  communicator().events.clear();
  communicator().can_hold = true;
  (void)run({.batches = {1, 1}}, {.cadence = Cadence::Isolated, .hold = false});
  EXPECT_EQ(communicator().events, "owow");
  communicator().events.clear();
  (void)run({.batches = {1, 1}}, {.cadence = Cadence::Streaming, .hold = true});
  EXPECT_EQ(communicator().events, "oow");
}

TEST_F(ChunkRun, LetsTheDeviceGoWhereAnOperationFails) {
  communicator().can_hold = true;
  communicator().operation_time = [](std::size_t) -> Seconds { throw runtime_failure("broken"); };
  EXPECT_THROW((void)run({.batches = {1}}, {.cadence = Cadence::Isolated, .hold = true}), Error);
  EXPECT_EQ(communicator().events, "hos");
}

TEST_F(ChunkRun, TimesTheHostFromTheFirstStartToTheLastCompletion) {
  ChunkRunner slow({.world = bootstrap(), .members = bootstrap()}, communicator(), calls(), {},
                   [] { std::this_thread::sleep_for(std::chrono::milliseconds(4)); });
  EXPECT_GE(slow.run(ChunkShape::of(2, 1)).host_us, 4000);  // 8 ms over 2 operations
}

TEST_F(ChunkRun, GivesAsManyOperationsAsOneAsItWasTold) {
  (void)run(ChunkShape::of(6, 3), {.group = 3});
  EXPECT_EQ(communicator().events, "(ooo)(ooo)w");
}

TEST_F(ChunkRun, HasSeveralGroupsInABatchAndTheRestInAGroupOfItsOwn) {
  (void)run({.batches = {5}}, {.group = 2});
  EXPECT_EQ(communicator().events, "(oo)(oo)(o)w");
}

TEST_F(ChunkRun, HasNoGroupsOfOneOperation) {
  (void)run(ChunkShape::of(3, 1), {.group = 1});
  EXPECT_EQ(communicator().events, "ooow");
}

TEST_F(ChunkRun, WaitsAfterWholeGroupsOnly) {
  (void)run(ChunkShape::of(4, 2), {.blocking = Blocking::Wait, .group = 2});
  EXPECT_EQ(communicator().events, "(oo)w(oo)ww");
}

TEST_F(ChunkRun, RecordsEachLengthOfBatchOnceAndLaunchesItAsOftenAsTold) {
  ChunkRunner graphs = runner({.graph_launches = 3});
  (void)graphs.run({.batches = {6, 5, 5}});
  EXPECT_EQ(communicator().events, "[oooooo][ooooo]gggggggggw");
  communicator().events.clear();
  (void)graphs.run({.batches = {5, 6}});
  EXPECT_EQ(communicator().events, "ggggggw");
}

TEST_F(ChunkRun, RecordsTheGroupsOfAGraph) {
  (void)run({.batches = {5}}, {.group = 2, .graph_launches = 1});
  EXPECT_EQ(communicator().events, "[(oo)(oo)(o)]gw");
}

TEST_F(ChunkRun, RecordsNothingWithoutGraphs) {
  (void)run(ChunkShape::of(2, 1), {.graph_launches = 0});
  EXPECT_EQ(communicator().events, "oow");
  (void)run(ChunkShape::of(2, 1), {.graph_launches = 1});
  EXPECT_EQ(communicator().events, "oow[o]ggw") << "one launch is a graph, too";
}

TEST_F(ChunkRun, DividesAGraphsTimeByItsOperationsAndLaunches) {
  communicator().operation_time = [](std::size_t) { return Seconds{7e-6}; };
  ChunkRunner graphs = runner({.graph_launches = 4});
  const ChunkResult result = graphs.run({.batches = {5, 5}});
  ASSERT_EQ(result.samples_us.size(), 2U);
  EXPECT_NEAR(result.samples_us[0], 7, 1e-9);
  EXPECT_NEAR(result.samples_us[1], 7, 1e-9);
  EXPECT_EQ(result.operations, 40U);
  EXPECT_EQ(graphs.operations(), 40U);
}

TEST_F(ChunkRun, UsesTheFirstCallsAgainInEveryGraph) {
  calls().assign(9, calls().front());
  ChunkRunner graphs = runner({.graph_launches = 2});
  (void)graphs.run({.batches = {3, 3}});
  EXPECT_EQ(graphs.operations(), 12U);
  EXPECT_EQ(graphs.calls_used(), 3U);
}

TEST_F(ChunkRun, UsesAllCallsInTurn) {
  calls().assign(9, calls().front());
  ChunkRunner chunks = runner({});
  (void)chunks.run({.batches = {3, 3}});
  EXPECT_EQ(chunks.calls_used(), 6U);
  (void)chunks.run({.batches = {3, 3}});
  EXPECT_EQ(chunks.calls_used(), 9U);
}

TEST_F(ChunkRun, PutsTheCallsIntoAGraphInTurn) {
  calls().assign(3, calls().front());
  for (int i = 0; i < 3; ++i) calls()[static_cast<std::size_t>(i)].root = i;
  (void)run({.batches = {4}}, {.graph_launches = 1});
  std::vector<int> roots;
  for (const Call& call : communicator().calls) roots.push_back(call.root);
  EXPECT_EQ(roots, (std::vector<int>{0, 1, 2, 0}));
}

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "harness/chunk.hpp"

#include <numeric>

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
    ChunkRunner runner(bootstrap_, communicator_, calls_, settings, [this] { ++progress_; });
    return runner.run(shape);
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
  ChunkRunner runner(bootstrap, communicator, calls, {.aggregation = Aggregation::Mean}, [] {});
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

}  // namespace
}  // namespace busbar

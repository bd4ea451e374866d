// SPDX-License-Identifier: BSD-3-Clause
#include "harness/together.hpp"

#include <atomic>
#include <limits>
#include <random>
#include <set>
#include <thread>

#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

TEST(OrderOfIssue, IsByTheTimeAtWhichOperationsAreDue) {
  const std::vector<Pace> paces{{.time_us = 30, .operations = 2},
                                {},
                                {.start_us = 5, .gap_us = 4, .time_us = 6, .operations = 4}};
  // Due at 0 and 30, and at 5, 15, 25, 35.
  EXPECT_EQ(order_of_issue(paces),
            (std::vector<Issue>{{0, 0}, {2, 0}, {2, 1}, {2, 2}, {0, 1}, {2, 3}}));
}

TEST(OrderOfIssue, HasEachOperationOnceAndInTurnWhereAllAreDueAtOnce) {
  const std::vector<Pace> paces{{.operations = 2}, {.operations = 1}};
  EXPECT_EQ(order_of_issue(paces), (std::vector<Issue>{{0, 0}, {0, 1}, {1, 0}}));
}

/// Ranks that block in each operation until all ranks of its group are in it: whether all end.
bool all_end(const std::vector<std::vector<Issue>>& orders,
             const std::vector<std::set<std::size_t>>& ranks_of_group) {
  std::vector<std::size_t> next(orders.size());
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t group = 0; group < ranks_of_group.size(); ++group) {
      const auto& ranks = ranks_of_group[group];
      const bool ready = std::ranges::all_of(ranks, [&](std::size_t rank) {
        return next[rank] < orders[rank].size() && orders[rank][next[rank]].party == group;
      });
      if (!ready) continue;
      moved = true;
      for (const std::size_t rank : ranks) ++next[rank];
    }
  }
  for (std::size_t rank = 0; rank < orders.size(); ++rank) {
    if (next[rank] < orders[rank].size()) return false;
  }
  return true;
}

TEST(OrderOfIssue, EndsAlsoWhereEveryOperationBlocks) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Pace> paces(4);
    std::vector<std::set<std::size_t>> ranks_of_group(paces.size());
    for (std::size_t group = 0; group < paces.size(); ++group) {
      paces[group] = {.start_us = static_cast<double>(random() % 50),
                      .gap_us = static_cast<double>(random() % 9),
                      .time_us = static_cast<double>(random() % 9),
                      .operations = 1 + random() % 20};
      while (ranks_of_group[group].size() < 3) ranks_of_group[group].insert(random() % 6);
    }
    std::vector<std::vector<Issue>> orders(6);
    for (std::size_t rank = 0; rank < orders.size(); ++rank) {
      for (const Issue& issue : order_of_issue(paces)) {
        if (ranks_of_group[issue.party].contains(rank)) orders[rank].push_back(issue);
      }
    }
    EXPECT_TRUE(all_end(orders, ranks_of_group)) << trial;
  }
  // Opposite orders do not.
  EXPECT_FALSE(all_end({{{0, 0}, {1, 0}}, {{1, 0}, {0, 0}}}, {{0, 1}, {0, 1}}));
}

TEST(Pace, FitsAtLeastFiveOperationsIntoAWindow) {
  EXPECT_EQ((Pace{.gap_us = 5, .time_us = 20}.that_fit(1000)), 40U);
  EXPECT_EQ((Pace{.time_us = 20}.that_fit(50)), 5U);
  EXPECT_EQ((Pace{.time_us = 1}.that_fit(1e6)), 2000U);
  EXPECT_EQ(Pace{}.that_fit(1e6), 5U);
}

TEST(SharedTimes, AreOfOperationsWhileAllPartiesWereAtWork) {
  const std::vector<PartyTimes> groups{{.start_us = {0, 10, 20, 30}, .time_us = {9, 8, 7, 6}},
                                       {.start_us = {12, 17}, .time_us = {4, 5}}};
  // All are at work from 12 to 22.
  EXPECT_EQ(shared_times(groups), (std::vector<std::vector<double>>{{8}, {4, 5}}));
  // One is over before the other begins.
  const std::vector<PartyTimes> apart{{.start_us = {0}, .time_us = {5}},
                                      {.start_us = {50}, .time_us = {6}}};
  EXPECT_EQ(shared_times(apart), (std::vector<std::vector<double>>{{5}, {6}}));
}

TEST(SlowdownOf, IsTheMedianOfTheTurnsRatiosWithAnIntervalOfSix) {
  const std::vector<double> alone{10, 20, 10, 10, 20, 10, 10, 10};
  // 2, 2.05, 2.1, 1.9, 2.1, 2, 2.2, 2: the textbook's interval is from the first to the last.
  const auto slower = slowdown_of(alone, std::vector<double>{20, 41, 21, 19, 42, 20, 22, 20});
  EXPECT_NEAR(slower->factor, 2.025, 1e-9);
  EXPECT_NEAR(slower->interval->first, 1.9, 1e-9);
  EXPECT_NEAR(slower->interval->second, 2.2, 1e-9);
  // Of 12, the third and the tenth.
  const std::vector<double> ones(12, 1);
  const std::vector<double> ratios{12, 1, 11, 2, 10, 3, 9, 4, 8, 5, 7, 6};
  EXPECT_EQ(slowdown_of(ones, ratios)->interval, std::pair(3.0, 10.0));
  EXPECT_FALSE(slowdown_of(std::vector<double>(5, 1), std::vector<double>(5, 2))->interval);
}

TEST(SlowdownOf, IsNoneOfWhatComesToAHaltInHalfOfTheTurns) {
  const double halted = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(slowdown_of(std::vector<double>{1, 1}, std::vector<double>{2, halted}));
  EXPECT_EQ(slowdown_of(std::vector<double>{1, 1, 1}, std::vector<double>{2, halted, 2})->factor,
            2);
}

/// A load that is seen to run or not.
class SeenWork final : public SideWork {
 public:
  explicit SeenWork(std::atomic<bool>& runs) : runs_(runs) {}
  void attach() override { runs_ = true; }
  void pass() override { std::this_thread::sleep_for(Seconds{1e-5}); }
  void drain() override { runs_ = false; }

 private:
  std::atomic<bool>& runs_;
};

TEST(Together, RunsTheLoadDuringOperationsOfItsWindowsOnly) {
  std::atomic<bool> runs = false;
  SideLoad load(std::make_unique<SeenWork>(runs));
  test::FakeBootstrap world;
  test::FakeCommunicator communicator;
  std::size_t beside = 0;
  communicator.operation_time = [&](std::size_t) {
    beside += runs ? 1U : 0U;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
    return Seconds{1e-4};
  };
  const Options options;
  const GroupPlan plan = world_plan(1);
  const RankMap rank_map;
  Watchdog watchdog{std::nullopt, {}};
  const Job job{.options = options,
                .collective = test::collective("allreduce"),
                .world = world,
                .plan = plan,
                .rank_map = rank_map,
                .watchdog = watchdog};
  const Party party{
      .communicator = &communicator, .call = {.collective = &job.collective}, .batch = 2};
  Together together(job, world, {party}, true, &load);
  together.warm_up();
  EXPECT_EQ(beside, 10U);  // five times two
  EXPECT_EQ(communicator.calls.size(), 20U);
  Evidence evidence;
  for (const bool backwards : {false, true}) {
    together.take_turn(100, backwards, {&evidence, 1});
    EXPECT_FALSE(runs);
  }
  EXPECT_EQ(beside, 30U);
  EXPECT_EQ(communicator.calls.size(), 60U);
  EXPECT_EQ(evidence.times_us.size(), 10U);
  EXPECT_EQ(evidence.operations, 20U);
  ASSERT_EQ(evidence.turns.size(), 2U);
  EXPECT_GE(evidence.turns[1].alone_us, 100);
  EXPECT_GT(evidence.turns[1].load_alone, 0);
  EXPECT_GT(evidence.turns[1].load_together, 0);
}

}  // namespace
}  // namespace busbar

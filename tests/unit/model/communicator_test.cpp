// SPDX-License-Identifier: BSD-3-Clause
#include "model/communicator.hpp"

#include <gtest/gtest-spi.h>

#include "model/agreement.hpp"
#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

TEST(Buffer, GoesBackOnceWhenItIsReplacedOrEndsAndNotWhenItMoves) {
  std::array<std::byte, 8> memory{};
  std::array<std::byte, 4> other{};
  std::string released;
  {
    Buffer first(memory.data(), memory.size(), [&](std::byte*) { released += 'm'; });
    Buffer second(std::move(first));
    EXPECT_EQ(released, "");
    EXPECT_EQ(std::pair(second.data(), second.size()), std::pair(memory.data(), memory.size()));
    second = Buffer(other.data(), other.size(), [&](std::byte*) { released += 'o'; });
    EXPECT_EQ(released, "m");
    EXPECT_EQ(second.data(), other.data());
  }
  EXPECT_EQ(released, "mo");
}

TEST(Difference, CountsWrongElementsOfAllRunsAndKeepsTheFirst) {
  Difference total;
  total.add({}, 0);
  total.add({.wrong = 2, .first_wrong = 5, .expected = "1", .got = "2"}, 100);
  total.add({.wrong = 3, .first_wrong = 0, .expected = "8", .got = "9"}, 200);
  EXPECT_EQ(std::tuple(total.wrong, total.first_wrong, total.expected, total.got),
            std::tuple(5U, 105U, "1", "2"));
}

TEST(DeviceMemoryUse, IsInTotalAllThatWasTaken) {
  EXPECT_EQ((DeviceMemoryUse{.initialization = 100, .user = 20, .collective = 3}.total()), 123U);
}

TEST(AgreeOn, AllThrowTheErrorOfTheLowestRankThatHasOne) {
  test::on_ranks(3, [](test::ThreadBootstrap& world) {
    const auto fails_from = [&](int first) {
      agree_on(world, [&] {
        if (world.rank() >= first) throw usage_error("no {}", world.rank());
      });
      return std::string("none");
    };
    EXPECT_EQ(fails_from(3), "none");
    for (const auto& [first, text] : {std::pair{0, "no 0"}, std::pair{1, "rank 1: no 1"}}) {
      EXPECT_THROW((void)fails_from(first), AgreedError);
      EXPECT_EQ(test::refusal_of([&, from = first] { (void)fails_from(from); }), text);
    }
  });
}

TEST(ThreadTeam, ARankThatThrowsFailsTheTestAndTheOthersLeaveAlsoASplit) {
  EXPECT_NONFATAL_FAILURE_ON_ALL_THREADS(test::on_ranks(4,
                                                        [](test::ThreadBootstrap& world) {
                                                          const auto part =
                                                              world.split(world.rank() % 2);
                                                          if (world.rank() == 3)
                                                            throw Error{Status::Runtime, "broken"};
                                                          part->barrier();
                                                          world.barrier();
                                                        }),
                                         "rank 3: broken");
}

constexpr Seconds kPause{0.002};

TEST(HostStopwatch, TimesConsecutiveIntervals) {
  HostStopwatch stopwatch;
  stopwatch.reset(2);
  stopwatch.start();
  std::this_thread::sleep_for(kPause);
  stopwatch.lap();
  stopwatch.lap();
  ASSERT_EQ(stopwatch.intervals().size(), 2U);
  EXPECT_GE(stopwatch.intervals()[0], kPause);
  EXPECT_GE(stopwatch.intervals()[1].count(), 0);
}

TEST(HostStopwatch, LeavesOutWhatPassesBeforeStart) {
  HostStopwatch stopwatch;
  stopwatch.reset(1);
  const Clock::time_point before = Clock::now();
  std::this_thread::sleep_for(kPause);
  stopwatch.start();
  stopwatch.lap();
  EXPECT_LT(stopwatch.intervals().front(), Seconds(Clock::now() - before));
}

TEST(HostStopwatch, KeepsItsIntervalsWhileItsCostIsMeasuredUntilItIsReset) {
  HostStopwatch stopwatch;
  stopwatch.reset(1);
  stopwatch.start();
  stopwatch.lap();
  const Seconds cost = stopwatch.cost();
  EXPECT_GT(cost, Seconds{1e-9}) << "no clock is read as fast";
  EXPECT_LT(cost, Seconds{1e-3});
  EXPECT_EQ(stopwatch.intervals().size(), 1U);
  stopwatch.reset(1);
  EXPECT_TRUE(stopwatch.intervals().empty());
}

}  // namespace
}  // namespace busbar

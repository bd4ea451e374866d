// SPDX-License-Identifier: BSD-3-Clause
#include "harness/prime.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"
#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/fake_communicator.hpp"
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
  test::on_ranks(static_cast<int>(groups.size()), [&](test::ThreadBootstrap& everyone) {
    const auto rank = static_cast<std::size_t>(everyone.rank());
    const auto part = everyone.split(groups[rank]);
    test::FakeCommunicator communicator;
    const bool refuses =
        std::find(refusing.begin(), refusing.end(), everyone.rank()) != refusing.end();
    if (refuses) communicator.operation_time = refuse;
    ranks[rank].failure = test::failure_of([&] {
      ranks[rank].refusal = prime({.everyone = everyone, .sharers = *part}, communicator, call());
    });
    ranks[rank].events = communicator.events;
  });
  return ranks;
}

TEST(Prime, RunsTheOperationOnceAfterABarrier) {
  test::FakeBootstrap bootstrap;
  test::FakeCommunicator communicator;
  EXPECT_EQ(prime({.everyone = bootstrap, .sharers = bootstrap}, communicator, call()), "");
  EXPECT_EQ(communicator.events, "ow");
  EXPECT_EQ(bootstrap.barriers, 1);
}

TEST(Prime, ReturnsTheLibrarysWordsOnEveryRankWhereAllAreRefused) {
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
  const test::Failure failure = test::failure_of(
      [&] { (void)prime({.everyone = bootstrap, .sharers = bootstrap}, communicator, call()); });
  EXPECT_EQ(failure.status, Status::Runtime);
  EXPECT_TRUE(failure.says("no cable"));
}

TEST(FirstText, IsTheLowestRanksThatHasOne) {
  test::on_ranks(3, [](test::ThreadBootstrap& everyone) {
    const std::string mine =
        everyone.rank() == 0 ? "" : std::string("of rank ") + std::to_string(everyone.rank());
    EXPECT_EQ(first_text(everyone, mine), "of rank 1");
    EXPECT_EQ(first_text(everyone, ""), "");
  });
}

}  // namespace
}  // namespace busbar

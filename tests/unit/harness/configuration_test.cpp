// SPDX-License-Identifier: BSD-3-Clause
#include "harness/configuration.hpp"

#include "tests/unit/support/fake_communicator.hpp"
#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

/// What each of three ranks fails with.
std::array<test::Failure, 3> failures_of(const std::array<RankCommand, 3>& commands) {
  std::array<test::Failure, 3> failures;
  test::on_ranks(3, [&](Bootstrap& world) {
    const auto rank = static_cast<std::size_t>(world.rank());
    failures.at(rank) = test::failure_of([&] { require_same_command(world, commands.at(rank)); });
  });
  return failures;
}

TEST(RequireSameCommand, NamesTheOptionsThatDiffer) {
  RankCommand usual{.program = "allreduce_perf", .version = "1.2", .words = {"-n 5", "-T 600"}};
  RankCommand other = usual;
  other.words = {"-n 6", "-T 5"};
  const auto failures = failures_of({usual, other, usual});
  for (const test::Failure& failure : failures) {
    EXPECT_EQ(failure.status, Status::Usage);
    EXPECT_EQ(
        failure.message,
        "rank 1 was started with -n 6, -T 5 and rank 0 with -n 5, -T 600; every rank needs the "
        "same command line");
  }
  usual.words = {"no --groups"};
  other.words = {"--groups mod:2"};
  EXPECT_TRUE(failures_of({usual, usual, other})[0].says("same command line and NCCL_TESTS_SPLIT"));
}

TEST(RequireSameCommand, LeavesToEachRankItsDevices) {
  Options other;
  other.first_device = 4;
  EXPECT_EQ(configuration_of(other).back(), "first-device=4");
  const Collective& collective = test::collective("allreduce");
  const RankCommand usual = rank_command({}, collective);
  for (const test::Failure& failure :
       failures_of({usual, rank_command(other, collective), usual})) {
    EXPECT_EQ(failure.status, Status::Ok);
  }
}

TEST(RequireSameCommand, NamesTheRanksWithAnotherProgramVersionOrMistake) {
  const RankCommand usual{.program = "allreduce_perf", .version = "1.2", .words = {"-n 5"}};
  RankCommand other = usual;
  other.program = "reduce_perf";
  other.words = {"-n 6"};
  EXPECT_EQ(
      failures_of({usual, other, other})[0].message,
      "ranks 1-2 run reduce_perf and rank 0 allreduce_perf; every rank needs the same program");
  other = usual;
  other.version = "1.1";
  EXPECT_EQ(failures_of({usual, usual, other})[0].message,
            "rank 2 runs busbar 1.1 and rank 0 busbar 1.2; every rank needs the same version");
  const RankCommand mistaken{.mistake = "-b nan"};
  EXPECT_EQ(failures_of({usual, usual, mistaken})[0].message, "rank 2: -b nan");
  EXPECT_EQ(failures_of({mistaken, usual, usual})[0].message, "rank 0: -b nan");
  EXPECT_EQ(failures_of({mistaken, mistaken, mistaken})[0].message, "-b nan");
  EXPECT_EQ(failures_of({mistaken, mistaken, mistaken})[2].status, Status::Usage);
}

}  // namespace
}  // namespace busbar

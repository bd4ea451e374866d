// SPDX-License-Identifier: BSD-3-Clause
#include "harness/configuration.hpp"

#include <array>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "tests/unit/support/failure.hpp"
#include "tests/unit/support/fake_communicator.hpp"
#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

TEST(Configuration, IsOfTheDefaultsInAFixedOrder) {
  EXPECT_EQ(
      join(configuration_of(Options{}), " "),
      "sizes=1048576-1073741824x2 types=float ops=sum root=0 placement=both operations=auto "
      "warmup=auto aggregated=1 cycles=1 visits=1 aggregation=max checks=1 blocking=0 "
      "cadence=streaming "
      "ci-width=0.02 time-budget=3 progress=auto cache=warm pages=huge bind=auto devices=free "
      "seed=1 graph=0 registration=0 cta-policy=auto unalign=0 pairs=off split=none share-gpus=off "
      "host-limits=auto memory-limit=none first-device=0");
}

TEST(Configuration, DiffersForEverythingThatMakesRowsIncomparable) {
  std::vector<Options> variants(34);
  variants[1].sweep.first = 8;
  variants[2].sweep.last = 8;
  variants[3].sweep.factor = 1;
  variants[4].types = {DataType::Float, DataType::Double};
  variants[5].ops = {ReduceOp::Max};
  variants[6].root = std::nullopt;
  variants[7].placement = Placement::In;
  variants[8].operations = 20;
  variants[9].warmup_operations = 0;
  variants[10].aggregated = 2;
  variants[11].aggregation = Aggregation::Mean;
  variants[12].checks = 0;
  variants[13].blocking = Blocking::Wait;
  variants[14].cadence = Cadence::Isolated;
  variants[15].ci_width = 0.05;
  variants[16].time_budget = Seconds{1};
  variants[17].progress = ProgressChoice::Yield;
  variants[18].cache = Cache::Rotate;
  variants[19].seed = 7;
  variants[20].graph_launches = 1;
  variants[21].registration = Registration::Local;
  variants[22].registration = Registration::Symmetric;
  variants[23].cta_policy = 0;
  variants[24].unalign = 1;
  variants[25].pairs = Pairs::All;
  variants[26].split = Split{.rule = Split::Rule::Mod, .operand = 2};
  variants[27].split = Split{.rule = Split::Rule::Div, .operand = 2};
  variants[28].split = Split{.rule = Split::Rule::Mod, .operand = 3};
  variants[29].pages = Pages::Small;
  variants[30].share_devices = true;
  variants[31].host_limits = false;
  variants[32].memory_limit = kGiB;
  variants[33].first_device = 4;
  std::set<std::string> texts;
  for (const Options& options : variants) texts.insert(join(configuration_of(options), " "));
  EXPECT_EQ(texts.size(), variants.size());
}

TEST(Configuration, IsTheSameWhereverTheOutputsGo) {
  Options options;
  options.csv_path = "x.csv";
  options.json_path = "x.json";
  options.samples_path = "s.csv";
  options.resume = true;
  options.timestamps = true;
  options.timeout = Seconds{5};
  options.enqueue_times = true;
  options.per_operation = true;
  options.skipped_samples = 2;
  options.memory_use = true;
  EXPECT_EQ(configuration_of(options), configuration_of(Options{}));
}

/// What each of three ranks fails with.
std::array<test::Failure, 3> failures_of(const std::array<RankCommand, 3>& commands) {
  std::array<test::Failure, 3> failures;
  test::on_ranks(3, [&](Bootstrap& world) {
    const auto rank = static_cast<std::size_t>(world.rank());
    failures.at(rank) = test::failure_of([&] { require_same_command(world, commands.at(rank)); });
  });
  return failures;
}

RankCommand command_of(const Options& options) {
  return rank_command(options, test::collective("allreduce"));
}

/// A change of rank 1's default options, and its words and those of rank 0.
struct Difference {
  void (*change)(Options& options);
  const char* theirs;
  const char* mine;
};
using O = Options;

class RankDifference : public testing::TestWithParam<Difference> {};

TEST_P(RankDifference, IsRefusedOnAllRanksAndNamedByRankZero) {
  Options other;
  GetParam().change(other);
  const auto failures = failures_of({command_of({}), command_of(other), command_of({})});
  for (const test::Failure& failure : failures) EXPECT_EQ(failure.status, Status::Usage);
  EXPECT_EQ(failures[0].message.find(fmt::format("rank 1 was started with {} and rank 0 with {}; ",
                                                 GetParam().theirs, GetParam().mine)),
            0U)
      << failures[0].message;
  EXPECT_EQ(failures[1].message + failures[2].message, "");
}

INSTANTIATE_TEST_SUITE_P(
    Options, RankDifference,
    testing::Values(
        Difference{[](O& o) { o.backend = "gloo"; }, "--backend gloo", "--backend auto"},
        Difference{[](O& o) { o.sweep.first = 1000; }, "-b 1000", "-b 1MiB"},
        Difference{[](O& o) { o.sweep.first = 70000004; }, "-b 70000004", "-b 1MiB"},
        Difference{[](O& o) { o.sweep.first = 3 * kMiB / 2; }, "-b 1536KiB", "-b 1MiB"},
        Difference{[](O& o) { o.sweep.last = 2 * kGiB; }, "-e 2GiB", "-e 1GiB"},
        Difference{[](O& o) { o.sweep.factor = 4; }, "-f 4", "-f 2"},
        Difference{[](O& o) { o.sweep.factor = 1, o.sweep.step = kMiB; }, "-i 1MiB", "-f 2"},
        Difference{[](O& o) { o.types = {DataType::Double}; }, "-d double", "-d float"},
        Difference{[](O& o) {
                     o.ops = {ReduceOp::Sum, ReduceOp::Max};
                   },
                   "-o all", "-o sum"},
        Difference{[](O& o) { o.root = 1; }, "-r 1", "-r 0"},
        Difference{[](O& o) { o.placement = Placement::In; }, "--placement in", "--placement both"},
        Difference{[](O& o) { o.operations = 9; }, "-n 9", "-n auto"},
        Difference{[](O& o) { o.warmup_operations = 1; }, "-w 1", "-w auto"},
        Difference{[](O& o) { o.aggregated = 2; }, "-m 2", "-m 1"},
        Difference{[](O& o) { o.cycles = 0; }, "-N 0", "-N 1"},
        Difference{[](O& o) { o.visits = 6; }, "--visits 6", "--visits 1"},
        Difference{[](O& o) { o.aggregation = Aggregation::Mean; }, "-a 1", "-a 3"},
        Difference{[](O& o) { o.checks = 0; }, "-c 0", "-c 1"},
        Difference{[](O& o) { o.blocking = Blocking::Wait; }, "-z 2", "-z 0"},
        Difference{[](O& o) { o.cadence = Cadence::Isolated; }, "--cadence isolated",
                   "--cadence streaming"},
        Difference{[](O& o) { o.ci_width = 0.05; }, "--ci-width 5", "--ci-width 2"},
        Difference{[](O& o) { o.seed = 7; }, "--seed 7", "--seed 1"},
        Difference{[](O& o) { o.devices = topo::Selection{}; }, "--devices", "no --devices"},
        Difference{[](O& o) { o.graph_launches = 2; }, "-G 2", "-G 0"},
        Difference{[](O& o) { o.registration = Registration::Local; }, "-R 1", "-R 0"},
        Difference{[](O& o) { o.cta_policy = 1; }, "-x 1", "no -x"},
        Difference{[](O& o) { o.pairs = Pairs::All; }, "--pairs all", "--pairs off"},
        Difference{[](O& o) { o.memory_limit = kGiB; }, "--memory-limit 1GiB", "no --memory-limit"},
        Difference{[](O& o) { o.host_limits = false; }, "--host-limits off", "--host-limits auto"},
        Difference{[](O& o) { o.nccl_choice = true; }, "--nccl-choice", "no --nccl-choice"},
        Difference{[](O& o) { o.memory_use = true; }, "-M 1", "-M 0"},
        Difference{[](O& o) { o.inject_fault = Fault{.rank = 1, .index = 7}; },
                   "--inject-fault 1:7", "no --inject-fault"},
        Difference{[](O& o) { o.timeout = Seconds{5}; }, "-T 5", "no -T"},
        Difference{[](O& o) { o.split = parse_split("%2"); }, "NCCL_TESTS_SPLIT='MOD 2'",
                   "no NCCL_TESTS_SPLIT"},
        Difference{[](O& o) { o.types = {DataType::Double}, o.operations = 9; }, "-d double, -n 9",
                   "-d float, -n auto"}));

TEST(RequireSameCommand, LeavesToEachRankWhatOnlyItUses) {
  Options other;
  other.csv_path = "x.csv";
  other.json_path = "x.json";
  other.samples_path = "s.csv";
  other.resume = true;
  other.timestamps = other.enqueue_times = other.per_operation = true;
  other.rank = 1;
  other.rendezvous = "localhost:29500";
  other.nvidia_smi = "/opt/bin/nvidia-smi";
  other.first_device = 4;
  const auto failures = failures_of({command_of({}), command_of(other), command_of({})});
  for (const test::Failure& failure : failures) EXPECT_EQ(failure.status, Status::Ok);
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

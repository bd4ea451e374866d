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

/// Options that make rows incomparable.
const std::vector<Difference> kOfTheConfiguration{
    {[](O& o) { o.sweep.first = 1000; }, "-b 1000", "-b 1MiB"},
    {[](O& o) { o.sweep.first = 70000004; }, "-b 70000004", "-b 1MiB"},
    {[](O& o) { o.sweep.first = 3 * kMiB / 2; }, "-b 1536KiB", "-b 1MiB"},
    {[](O& o) { o.sweep.last = 2 * kGiB; }, "-e 2GiB", "-e 1GiB"},
    {[](O& o) { o.sweep.factor = 4; }, "-f 4", "-f 2"},
    {[](O& o) { o.sweep.factor = 1, o.sweep.step = kMiB; }, "-i 1MiB", "-f 2"},
    {[](O& o) { o.types = {DataType::Double}; }, "-d double", "-d float"},
    {[](O& o) {
       o.ops = {ReduceOp::Sum, ReduceOp::Max};
     },
     "-o all", "-o sum"},
    {[](O& o) { o.root = 1; }, "-r 1", "-r 0"},
    {[](O& o) { o.placement = Placement::In; }, "--placement in", "--placement both"},
    {[](O& o) { o.operations = 9; }, "-n 9", "-n auto"},
    {[](O& o) { o.warmup_operations = 1; }, "-w 1", "-w auto"},
    {[](O& o) { o.aggregated = 2; }, "-m 2", "-m 1"},
    {[](O& o) { o.cycles = 0; }, "-N 0", "-N 1"},
    {[](O& o) { o.visits = 6; }, "--visits 6", "--visits 1"},
    {[](O& o) {
       o.vary = Vary{"x", {"a", "b"}};
     },
     "--vary x=a,b", "no --vary"},
    {[](O& o) { o.duration = Seconds{90}; }, "--duration 90s", "no --duration"},
    {[](O& o) { o.aggregation = Aggregation::Mean; }, "-a 1", "-a 3"},
    {[](O& o) { o.checks = 0; }, "-c 0", "-c 1"},
    {[](O& o) { o.blocking = Blocking::Wait; }, "-z 2", "-z 0"},
    {[](O& o) { o.cadence = Cadence::Isolated; }, "--cadence isolated", "--cadence streaming"},
    {[](O& o) { o.ci_width = 0.05; }, "--ci-width 5", "--ci-width 2"},
    {[](O& o) { o.seed = 7; }, "--seed 7", "--seed 1"},
    {[](O& o) { o.devices = topo::Selection{}; }, "--devices", "no --devices"},
    {[](O& o) { o.graph_launches = 2; }, "-G 2", "-G 0"},
    {[](O& o) { o.registration = Registration::Local; }, "-R 1", "-R 0"},
    {[](O& o) { o.cta_policy = 1; }, "-x 1", "no -x"},
    {[](O& o) { o.pairs = Pairs::All; }, "--pairs all", "--pairs off"},
    {[](O& o) { o.groups = parse_split("%2"); }, "--groups mod:2", "no --groups"},
    {[](O& o) { o.levels_path = "h.csv"; }, "--levels h.csv", "no --levels"},
    {[](O& o) { o.types = {DataType::Double}, o.operations = 9; }, "-d double, -n 9",
     "-d float, -n auto"},
    {[](O& o) { o.time_budget = Seconds{1}; }, "--time-budget 1", "--time-budget 3"},
    {[](O& o) { o.progress = ProgressChoice::Yield; }, "--progress yield", "--progress auto"},
    {[](O& o) { o.cache = Cache::Rotate; }, "--cache rotate", "--cache warm"},
    {[](O& o) { o.pages = Pages::Small; }, "--pages small", "--pages huge"},
    {[](O& o) { o.unalign = 1; }, "-u 1", "-u 0"},
    {[](O& o) { o.root.reset(); }, "-r all", "-r 0"},
    {[](O& o) { o.registration = Registration::Symmetric; }, "-R 2", "-R 0"},
    {[](O& o) { o.groups = parse_split("/2"); }, "--groups div:2", "no --groups"},
    {[](O& o) { o.groups = parse_group_spec("", "0,0,0 2"); }, "--groups 0,0,0 2", "no --groups"},
    {[](O& o) { o.share_devices = true; }, "--share-gpus", "no --share-gpus"},
    {[](O& o) { o.memory_limit = kGiB; }, "--memory-limit 1GiB", "no --memory-limit"},
    {[](O& o) { o.load = Load{.copy = 64 * kMiB}; }, "--load copy:64MiB", "no --load"},
    {[](O& o) { o.load = Load{.spin = Seconds{200e-6}}; }, "--load spin:200", "no --load"},
    {[](O& o) { o.load = Load{.copy = kMiB, .beside = true}; }, "--load beside:copy:1MiB",
     "no --load"},
    {[](O& o) { o.inject_delay = Delay{.rank = 3, .time = Seconds{50e-6}}; }, "--inject-delay 3:50",
     "no --inject-delay"},
    {[](O& o) { o.host_limits = false; }, "--host-limits off", "--host-limits auto"}};

/// Options that all ranks need, and no row depends on.
const std::vector<Difference> kOfTheRun{
    {[](O& o) { o.backend = "gloo"; }, "--backend gloo", "--backend auto"},
    {[](O& o) {
       o.variables = {{"A", "1"}, {"B", "x y"}};
     },
     "--env A=1 B=x y", "no --env"},
    {[](O& o) { o.interval = Seconds{2}; }, "--interval 2s", "--interval 1s"},
    {[](O& o) { o.facts_path = "f.csv"; }, "--facts", "no --facts"},
    {[](O& o) { o.per_rank_path = "r.csv"; }, "--per-rank", "no --per-rank"},
    {[](O& o) { o.nccl_choice = true; }, "--nccl-choice", "no --nccl-choice"},
    {[](O& o) { o.memory_use = true; }, "-M 1", "-M 0"},
    {[](O& o) { o.inject_fault = Fault{.rank = 1, .index = 7}; }, "--inject-fault 1:7",
     "no --inject-fault"},
    {[](O& o) { o.timeout = Seconds{5}; }, "-T 5", "-T 600"}};

class RankDifference : public testing::TestWithParam<Difference> {};

TEST_P(RankDifference, IsRefusedOnAllRanksAlike) {
  Options other;
  GetParam().change(other);
  const auto failures = failures_of({command_of({}), command_of(other), command_of({})});
  for (const test::Failure& failure : failures) EXPECT_EQ(failure.status, Status::Usage);
  EXPECT_EQ(failures[0].message.find(fmt::format("rank 1 was started with {} and rank 0 with {}; ",
                                                 GetParam().theirs, GetParam().mine)),
            0U)
      << failures[0].message;
  EXPECT_EQ(failures[1].message, failures[0].message);
}

INSTANTIATE_TEST_SUITE_P(Configuration, RankDifference, testing::ValuesIn(kOfTheConfiguration));
INSTANTIATE_TEST_SUITE_P(Run, RankDifference, testing::ValuesIn(kOfTheRun));

TEST(Configuration, DiffersForEverythingThatMakesRowsIncomparable) {
  std::set<std::string> texts{join(configuration_of({}), " ")};
  for (const Difference& difference : kOfTheConfiguration) {
    Options other;
    difference.change(other);
    EXPECT_TRUE(texts.insert(join(configuration_of(other), " ")).second) << difference.theirs;
  }
}

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
  EXPECT_EQ(configuration_of(other).back(), "first-device=4");
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

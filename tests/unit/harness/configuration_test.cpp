// SPDX-License-Identifier: BSD-3-Clause
#include "harness/configuration.hpp"

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

/// What rank 1 is started with, between bars, as it is said; what is said of rank 0; and the
/// command line where only part of it is said.
struct Difference {
  const char* theirs;
  const char* mine;
  const char* line = nullptr;

  [[nodiscard]] Options options() const {
    std::vector<std::string> words;
    for (const std::string& option : split(line != nullptr ? line : theirs, '|')) {
      const std::size_t blank = option.find(' ');
      words.push_back(option.substr(0, blank));
      if (blank != std::string::npos) words.push_back(option.substr(blank + 1));
    }
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    return parse_command_line(pointers).options;
  }
  [[nodiscard]] std::string text() const {
    return fmt::format("rank 1 was started with {} and rank 0 with {}; ",
                       join(split(theirs, '|'), ", "), mine);
  }
};

/// Options that make rows incomparable.
const std::vector<Difference> kOfTheConfiguration{
    {"-b 1000", "-b 1MiB"},
    {"-b 70000004", "-b 1MiB"},
    {"-b 1536KiB", "-b 1MiB"},
    {"-e 2GiB", "-e 1GiB"},
    {"-f 4", "-f 2"},
    {"-i 1MiB", "-f 2"},
    {"-d double", "-d float"},
    {"-o all", "-o sum"},
    {"-r 1", "-r 0"},
    {"--placement in", "--placement both"},
    {"-n 9", "-n auto"},
    {"-w 1", "-w auto"},
    {"-m 2", "-m 1"},
    {"-N 0", "-N 1"},
    {"--visits 6", "--visits 1"},
    {"--vary x=a,b|--visits 6", "no --vary, --visits 1"},
    {"-e 1MiB|--placement out|--duration 90s", "-e 1GiB, --placement both, no --duration"},
    {"-a 1", "-a 3"},
    {"-c 0", "-c 1"},
    {"-z 2", "-z 0"},
    {"--cadence isolated", "--cadence streaming"},
    {"--ci-width 5", "--ci-width 2"},
    {"--seed 7", "--seed 1"},
    {"--devices", "no --devices", "--devices best"},
    {"-G 2", "-G 0"},
    {"-R 1", "-R 0"},
    {"-x 1", "no -x"},
    {"--pairs all", "--pairs off"},
    {"--groups mod:2", "no --groups"},
    {"--groups levels:2|--levels h.csv", "no --groups, no --levels"},
    {"-d double|-n 9", "-d float, -n auto"},
    {"--time-budget 1", "--time-budget 3"},
    {"--progress yield", "--progress auto"},
    {"--cache rotate", "--cache warm"},
    {"--pages small", "--pages huge"},
    {"-u 1", "-u 0"},
    {"-r all", "-r 0"},
    {"-R 2", "-R 0"},
    {"--groups div:2", "no --groups"},
    {"--groups 0,0,0 2", "no --groups"},
    {"--share-gpus", "no --share-gpus"},
    {"--memory-limit 1GiB", "no --memory-limit"},
    {"--load copy:64MiB", "no --load"},
    {"--load spin:200", "no --load"},
    {"--load beside:copy:1MiB", "no --load"},
    {"--inject-delay 3:50", "no --inject-delay"},
    {"--host-limits off", "--host-limits auto"}};

/// Options that all ranks need, and no row depends on.
const std::vector<Difference> kOfTheRun{{"--backend gloo", "--backend auto"},
                                        {"--env A=1 B=x y", "no --env", "--env A=1|--env B=x y"},
                                        {"-e 1MiB|--placement out|--duration 90s|--interval 2s",
                                         "-e 1GiB, --placement both, no --duration, --interval 1s"},
                                        {"--facts", "no --facts", "--facts f.csv"},
                                        {"--per-rank", "no --per-rank", "--per-rank r.csv"},
                                        {"--nccl-choice", "no --nccl-choice"},
                                        {"-M 1", "-M 0"},
                                        {"--inject-fault 1:7", "no --inject-fault"},
                                        {"-T 5", "-T 600"}};

class RankDifference : public testing::TestWithParam<Difference> {};

TEST_P(RankDifference, IsRefusedOnAllRanksAlike) {
  const RankCommand other = command_of(GetParam().options());
  const auto failures = failures_of({command_of({}), other, command_of({})});
  for (const test::Failure& failure : failures) EXPECT_EQ(failure.status, Status::Usage);
  EXPECT_TRUE(failures[0].message.starts_with(GetParam().text())) << failures[0].message;
  EXPECT_EQ(failures[1].message, failures[0].message);
}

INSTANTIATE_TEST_SUITE_P(Configuration, RankDifference, testing::ValuesIn(kOfTheConfiguration));
INSTANTIATE_TEST_SUITE_P(Run, RankDifference, testing::ValuesIn(kOfTheRun));

TEST(Configuration, DiffersForEverythingThatMakesRowsIncomparable) {
  std::set<std::string> texts{join(configuration_of({}), " ")};
  for (const Difference& difference : kOfTheConfiguration) {
    EXPECT_TRUE(texts.insert(join(configuration_of(difference.options()), " ")).second)
        << difference.theirs;
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

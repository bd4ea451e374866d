// SPDX-License-Identifier: BSD-3-Clause
#include "harness/options.hpp"

#include "base/embedded_text.hpp"
#include "harness/configuration.hpp"
#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

/// Reads a command line that is written as one text; '' is an empty word.
CommandLine parse(const std::string& line) {
  std::vector<std::string> words;
  for (const std::string& word : split(line, ' ')) {
    if (!word.empty()) words.push_back(word == "''" ? "" : word);
  }
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  return parse_command_line(pointers);
}

Options options_of(const std::string& line) { return parse(line).options; }

/// A command line, and what the refusal of it mentions; nothing: it is accepted.
struct Case {
  const char* token;
  std::string line;
};

class CheckedOptions : public testing::TestWithParam<Case> {};

TEST_P(CheckedOptions, AreRefusedByNameOrAccepted) {
  const std::string token = GetParam().token;
  const test::Failure failure = test::failure_of([&] { (void)parse(GetParam().line); });
  EXPECT_EQ(failure.status, token.empty() ? Status::Ok : Status::Usage) << token << failure.message;
  EXPECT_TRUE(failure.says(token)) << token << ": " << failure.message;
}

/// A soak that nothing is wrong with, less what is behind it.
const std::string kSoak = "-b 1M -e 1M --duration 60 ";

INSTANTIATE_TEST_SUITE_P(
    Options, CheckedOptions,
    testing::Values(
        Case{"-b 16 is larger than -e 8", "-b 16 -e 8"},
        Case{"-i 8: more than 100000 sizes", "-b 1 -e 1G -i 8"},
        Case{"--ranks needs --rendezvous HOST:PORT or --backend sim", "--ranks 4"},
        Case{"-g and --rendezvous are mutually exclusive", "-g 2 --rendezvous h1:9"},
        Case{"--system", "--system dgx-2"}, Case{"--flows", "--flows 4"},
        Case{"--algorithm", "--algorithm ring"}, Case{"--system", "--backend sim"},
        Case{"", "--backend sim --system dgx-2 --ranks 4"}, Case{"--resume", "--resume"},
        Case{"--resume", "--resume --csv -"},
        Case{"--samples and --csv", "--csv x.csv --samples x.csv"},
        Case{"-J and --csv", "--csv x.json -J x.json"},
        Case{"-J and --samples", "--samples x.json -J x.json"},
        Case{"--per-rank and --samples", "--samples x.csv --per-rank x.csv"},
        Case{"-G and --load", "-G 1 --load copy:1"}, Case{"", "-G 1 --load beside:copy:1"},
        Case{"-G and --inject-delay", "-G 1 --inject-delay 0:1"},
        Case{"-K has no effect without -I 1", "-K 2"}, Case{"-K 20", "-I 1 -n 20 -K 20"},
        Case{"", "-I 1 -n 20 -K 19"}, Case{"-z 0 or -z 3", "-G 1 -z 1"},
        Case{"-z 0 or -z 3", "-G 1 -z 2"}, Case{"", "-G 1 -z 3"}, Case{"-G and -I", "-G 1 -I 1"},
        Case{"--visits 1: values of --vary", "--vary x=a,b --visits 1"},
        Case{"--duration and --vary", kSoak + "--vary x=a,b"},
        Case{"'3' for --visits", "--visits 3"}, Case{"", "--visits 4 -n 4"},
        Case{"--visits and -N", "--visits 4 -N 0"}, Case{"--visits 4: -n 3", "--visits 4 -n 3"},
        Case{"--visits and -G with -n", "--visits 4 -n 20 -G 2"}, Case{"", "--visits 4 -G 2"},
        Case{"--interval needs --duration", "--interval 2"},
        Case{"--timeline needs --duration", "--timeline t.csv"},
        Case{"--interval is longer", kSoak + "--interval 61"},
        Case{"--timeline and --csv", kSoak + "--timeline t.csv --csv t.csv"},
        Case{"one size (-b and -e alike)", kSoak + "-e 2M"},
        Case{"--placement in or out", kSoak + "--placement both"}, Case{"one -d", kSoak + "-d all"},
        Case{"-o and -r", kSoak + "-o all"}, Case{"-o and -r", kSoak + "-r all"},
        Case{"--duration and -n", kSoak + "-n 9"}, Case{"--duration and -N", kSoak + "-N 0"},
        Case{"--duration and --visits", kSoak + "--visits 4"},
        Case{"--duration and --pairs", kSoak + "--pairs all"},
        Case{"--duration and -G", kSoak + "-G 2"}, Case{"--duration and -I", kSoak + "-I 1"},
        Case{"--duration and --samples", kSoak + "--samples s.csv"},
        Case{"--duration and --per-rank", kSoak + "--per-rank s.csv"},
        Case{"--duration and --resume", kSoak + "--csv a.csv --resume"},
        Case{"--duration and --load beside", kSoak + "--load beside:copy:1"},
        Case{"--duration and --groups", kSoak + "--groups mod:2"},
        Case{"--groups levels:4: missing --levels FILE", "--groups levels:4"},
        Case{"--levels has no effect", "--groups pairs --levels h.csv"},
        Case{"--devices and --bind none", "--devices best --bind none"},
        Case{"--pairs all and --groups", "--pairs all --groups mod:2"}));

/// Options that only a run of operations has a use for.
class MeasurementOption : public testing::TestWithParam<const char*> {};

TEST_P(MeasurementOption, IsRefusedBySimulations) {
  const std::string line = GetParam();
  const test::Failure failure =
      test::failure_of([&] { (void)parse("--backend sim --system dgx-2 " + line); });
  EXPECT_TRUE(failure.message.starts_with(split(line, ' ').front())) << failure.message;
  EXPECT_TRUE(failure.says("--backend sim")) << failure.message;
}

INSTANTIATE_TEST_SUITE_P(Options, MeasurementOption,
                         testing::Values("--samples x.csv", "--resume", "--visits 4",
                                         "--duration 60 -b 1M -e 1M", "--inject-fault 0:0",
                                         "--inject-delay 0:1", "--load copy:1", "--per-rank x.csv",
                                         "--pairs all", "-g 2", "--groups mod:2", "-I 1", "-C 1",
                                         "-M 1", "--nccl-choice", "-G 1"));

/// Options that only one kind of buffers has a use for.
class BackendOption : public testing::TestWithParam<Case> {};

TEST_P(BackendOption, IsRefusedByOtherBackends) {
  const Options options = options_of(GetParam().line);
  const std::string token = GetParam().token;
  for (const Backend* backend : registered_backends()) {
    const test::Failure failure = test::failure_of(
        [&] { check_applicable(options, *backend, test::collective("allreduce")); });
    const bool refused = !token.empty() && backend->has_devices() == (token == "--pages");
    EXPECT_EQ(failure.status, refused ? Status::Usage : Status::Ok) << failure.message;
    EXPECT_EQ(failure.says(token + " has no effect on the " + std::string(backend->name())),
              refused);
  }
}

INSTANTIATE_TEST_SUITE_P(Options, BackendOption,
                         testing::Values(Case{"", ""}, Case{"--pages", "--pages small"},
                                         Case{"-G", "-G 1"}, Case{"-R", "-R 1"}, Case{"-x", "-x 0"},
                                         Case{"-M", "-M 1"}, Case{"--nccl-choice", "--nccl-choice"},
                                         Case{"--nvidia-smi", "--nvidia-smi smi"},
                                         Case{"--share-gpus", "--share-gpus"}));

TEST(CheckApplicable, RefusesPairsOfACollectiveThatHasNone) {
  Options options;
  options.pairs = Pairs::All;
  for (const char* collective : {"allreduce", "sendrecv"}) {
    const Backend& mpi = test::backend_named("mpi");
    const test::Failure failure =
        test::failure_of([&] { check_applicable(options, mpi, test::collective(collective)); });
    EXPECT_EQ(failure.says("--pairs"), std::string(collective) == "allreduce") << failure.message;
  }
}

using Environment = std::map<std::string, std::string>;

Options options_in(const Environment& variables) {
  Options options;
  apply_environment(options, [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
  return options;
}

test::Failure refusal_in(const Environment& variables) {
  return test::failure_of([&] { (void)options_in(variables); });
}

TEST(ApplyEnvironment, SplitsRanksByAMaskBeforeARule) {
  EXPECT_FALSE(options_in({}).groups.has_value());
  const Environment split{{"NCCL_TESTS_SPLIT", "MOD 8"}};
  EXPECT_EQ(options_in(split).groups, parse_group_spec("--groups", "mod:8"));
  EXPECT_EQ(options_in({{"NCCL_TESTS_SPLIT", "MOD 8"}, {"NCCL_TESTS_SPLIT_MASK", "0x7"}}).groups,
            parse_group_spec("--groups", "and:7"));
}

TEST(ApplyEnvironment, RefusesASplitBesideOtherGroups) {
  for (const char* spec : {"mod:8", "mod:0x8", "rails"}) {
    Options options = options_of(std::string("--groups ") + spec);
    const test::Failure failure = test::failure_of([&] {
      apply_environment(options, [](const char* name) {
        return std::string_view(name) == "NCCL_TESTS_SPLIT" ? "%8" : nullptr;
      });
    });
    EXPECT_EQ(failure.says("--groups rails and NCCL_TESTS_SPLIT, which is mod:8"),
              std::string_view(spec) == "rails");
  }
}

TEST(ApplyEnvironment, ChoosesTheFirstDevice) {
  EXPECT_EQ(options_in({}).first_device, 0);
  EXPECT_EQ(options_in({{"NCCL_TESTS_DEVICE", "3"}}).first_device, 3);
}

TEST(ApplyEnvironment, RefusesBadTextByTheVariablesName) {
  for (const Environment& variables :
       {Environment{{"NCCL_TESTS_SPLIT", "XOR 1"}}, Environment{{"NCCL_TESTS_SPLIT_MASK", "x"}},
        Environment{{"NCCL_TESTS_DEVICE", "one"}}, Environment{{"NCCL_TESTS_DEVICE", "-1"}}}) {
    const test::Failure failure = refusal_in(variables);
    EXPECT_EQ(failure.status, Status::Usage);
    EXPECT_TRUE(failure.message.starts_with(variables.begin()->first + ": ")) << failure.message;
    EXPECT_TRUE(failure.is_one_line()) << failure.message;
  }
}

TEST(VariedOptionsTest, AreTheProgramsOwnOrTheLibrarys) {
  Options options;
  EXPECT_EQ(variants_of(options).size(), 1U);
  options.vary = Vary{"cadence", {"default", "isolated"}};
  const std::vector<Options> cadences = variants_of(options);
  ASSERT_EQ(cadences.size(), 2U);
  EXPECT_EQ(cadences[0].cadence, Cadence::Streaming);
  EXPECT_EQ(cadences[1].cadence, Cadence::Isolated);
  options.vary = Vary{"blocking", {"0", "3"}};
  EXPECT_EQ(variants_of(options)[1].blocking, Blocking::UntimedBarrier);
  options.vary = Vary{"agg_iters", {"1", "4"}};
  EXPECT_EQ(variants_of(options)[1].aggregated, 4U);
  options.vary = Vary{"cudagraph", {"default", "2"}};
  EXPECT_EQ(variants_of(options)[1].graph_launches, 2U);
  options.vary = Vary{"inject-delay", {"0:1", "1:2"}};
  EXPECT_EQ(variants_of(options)[1].inject_delay->rank, 1);
  // Sizes and outputs are a run's, not a row's.
  options.vary = Vary{"minbytes", {"1K", "2K"}};
  EXPECT_EQ(variants_of(options).size(), 1U);
}

struct Effect {
  const char* lines;  ///< with this effect, by semicolons
  std::function<bool(const Options&)> seen;
};

const std::vector<Effect>& effects() {
  using O = const Options&;
  static const std::vector<Effect> all{
      {"-b 8; --minbytes 8", [](O o) { return o.sweep.first == 8; }},
      {"-e 2M; --maxbytes=2M", [](O o) { return o.sweep.last == 2097152; }},
      {"-f 4; --stepfactor 4", [](O o) { return o.sweep.factor == 4; }},
      {"-i 2M", [](O o) { return o.sweep.step == 2097152 && o.sweep.factor == 1; }},
      {"--stepbytes 64M -f 2", [](O o) { return o.sweep.factor == 2; }},
      {"-f 1", [](O o) { return o.sweep.factor == 1 && o.sweep.step == 1048576; }},
      {"-n 20; --iters 20", [](O o) { return o.operations == 20; }},
      {"-n 20 -n auto", [](O o) { return !o.operations; }},
      {"-w 0; --warmup_iters 0", [](O o) { return o.warmup_operations == 0; }},
      {"-w auto", [](O o) { return !o.warmup_operations; }},
      {"-m 4; --agg_iters 4", [](O o) { return o.aggregated == 4; }},
      {"--visits 6", [](O o) { return o.visits == 6; }},
      {"--vary x=a,b", [](O o) { return to_text(*o.vary) == "x=a,b" && o.visits == 10; }},
      {"--visits 6 --vary x=a,b", [](O o) { return o.visits == 6; }},
      {"-b 1M -e 1M --duration 90; -b 1M -e 1M --duration 1.5m",
       [](O o) { return o.duration == Seconds{90} && o.placement == Placement::Out; }},
      {"-b 1M -e 1M --duration 5m --interval 500ms --placement in --timeline t.csv",
       [](O o) {
         return o.interval == Seconds{0.5} && o.placement == Placement::In &&
                o.timeline_path == "t.csv";
       }},
      {"-N 0; --run_cycles 0", [](O o) { return o.cycles == 0; }},
      {"-a 0", [](O o) { return o.aggregation == Aggregation::Rank0; }},
      {"-a 1; --average 1", [](O o) { return o.aggregation == Aggregation::Mean; }},
      {"--average 2", [](O o) { return o.aggregation == Aggregation::Min; }},
      {"-a 3", [](O o) { return o.aggregation == Aggregation::Max; }},
      {"-c 0; --check 0", [](O o) { return o.checks == 0; }},
      {"-o prod", [](O o) { return o.ops == std::vector{ReduceOp::Prod}; }},
      {"--op all", [](O o) { return o.ops.size() == 5; }},
      {"-d uint8", [](O o) { return o.types == std::vector{DataType::Uint8}; }},
      {"--datatype all", [](O o) { return o.types.size() == kTypes.size(); }},
      {"-r 3", [](O o) { return o.root == 3; }},
      {"--root all", [](O o) { return !o.root; }},
      {"-z 1", [](O o) { return o.blocking == Blocking::WaitAndBarrier; }},
      {"-z 2", [](O o) { return o.blocking == Blocking::Wait; }},
      {"--blocking 3", [](O o) { return o.blocking == Blocking::UntimedBarrier; }},
      {"-S 1", [](O o) { return o.timestamps; }},
      {"--report_timestamps 0", [](O o) { return !o.timestamps; }},
      {"-T 1.5", [](O o) { return o.timeout == Seconds{1.5}; }},
      {"--timeout 0", [](O o) { return o.timeout == Seconds{0}; }},
      {"-J x.json; --output_file x.json", [](O o) { return o.json_path == "x.json"; }},
      {"-g 4; --ngpus 4", [](O o) { return o.launch_ranks == 4; }},
      {"--backend mpi", [](O o) { return o.backend == "mpi"; }},
      {"--csv x.csv", [](O o) { return o.csv_path == "x.csv"; }},
      {"--samples s.csv", [](O o) { return o.samples_path == "s.csv"; }},
      {"--csv x.csv --resume", [](O o) { return o.resume; }},
      {"--cadence isolated", [](O o) { return o.cadence == Cadence::Isolated; }},
      {"--ci-width 5", [](O o) { return o.ci_width == 0.05; }},
      {"--ci-width 1%", [](O o) { return o.ci_width == 0.01; }},
      {"--time-budget 0.5", [](O o) { return o.time_budget == Seconds{0.5}; }},
      {"--progress block", [](O o) { return o.progress == ProgressChoice::Block; }},
      {"--progress yield", [](O o) { return o.progress == ProgressChoice::Yield; }},
      {"--cache rotate", [](O o) { return o.cache == Cache::Rotate; }},
      {"--pages small", [](O o) { return o.pages == Pages::Small; }},
      {"--bind none", [](O o) { return o.bind == Bind::None; }},
      {"--bind core", [](O o) { return o.bind == Bind::Core; }},
      {"--bind numa", [](O o) { return o.bind == Bind::Numa; }},
      {"--memory-limit 1G", [](O o) { return o.memory_limit == 1073741824; }},
      {"--placement in", [](O o) { return o.placement == Placement::In; }},
      {"--placement out", [](O o) { return o.placement == Placement::Out; }},
      {"--seed 42", [](O o) { return o.seed == 42; }},
      {"--per-rank p.csv", [](O o) { return o.per_rank_path == "p.csv"; }},
      {"--load copy:64M", [](O o) { return o.load && o.load->copy == 64 * kMiB; }},
      {"--load spin:200",
       [](O o) { return o.load && o.load->copy == 0 && o.load->spin == 1e-6 * Seconds{200}; }},
      {"--load beside:spin:200",
       [](O o) { return o.loads_beside() && o.load->spin == 1e-6 * Seconds{200}; }},
      {"--inject-delay 3:2.5",
       [](O o) {
         return o.inject_delay && o.inject_delay->rank == 3 &&
                o.inject_delay->time == 1e-6 * Seconds{2.5};
       }},
      {"--inject-fault 1:12345",
       [](O o) {
         return o.inject_fault && o.inject_fault->rank == 1 && o.inject_fault->index == 12345;
       }},
      {"-G 4", [](O o) { return o.graph_launches == 4; }},
      {"-G 4 --cudagraph 0", [](O o) { return o.graph_launches == 0; }},
      {"-R 1; --local_register 1", [](O o) { return o.registration == Registration::Local; }},
      {"--local_register 2", [](O o) { return o.registration == Registration::Symmetric; }},
      {"-x 0; --cta_policy 0", [](O o) { return o.cta_policy == 0; }},
      {"--cta_policy 2", [](O o) { return o.cta_policy == 2; }},
      {"-C 1", [](O o) { return o.enqueue_times; }},
      {"-C 1 --report_cputime 0", [](O o) { return !o.enqueue_times; }},
      {"-M 1", [](O o) { return o.memory_use; }},
      {"-M 1 --memory 0", [](O o) { return !o.memory_use; }},
      {"-u 4; --unalign 4", [](O o) { return o.unalign == 4; }},
      {"-I 1", [](O o) { return o.per_operation; }},
      {"-I 1 --per_iter_timing 0", [](O o) { return !o.per_operation; }},
      {"-I 1 -K 5; -I 1 --per_iter_skip 5", [](O o) { return o.skipped_samples == 5; }},
      {"--share-gpus", [](O o) { return o.share_devices; }},
      {"--groups rails", [](O o) { return o.groups->rule == GroupRule::Rails; }},
      {"--groups levels:8 --levels h.csv", [](O o) { return o.levels_path == "h.csv"; }},
      {"--env A=b,c=d --env X= --env A=e; --env=X= --env=A=e",
       [](O o) {
         return o.variables == Variables{{"X", ""}, {"A", "e"}};
       }},
      {"--pairs all", [](O o) { return o.pairs == Pairs::All; }},
      {"--pairs all --pairs off", [](O o) { return o.pairs == Pairs::Off; }},
  };
  return all;
}

TEST(ParseCommandLine, HasAnEffectForEveryOption) {
  for (const Effect& effect : effects()) {
    for (const std::string& line : split(effect.lines, ';')) {
      EXPECT_TRUE(effect.seen(options_of(line))) << line;
    }
  }
  for (const Backend* backend : registered_backends()) {
    EXPECT_EQ(options_of("--backend " + std::string(backend->name())).backend, backend->name());
  }
}

TEST(ParseCommandLine, TakesNcclTestsHabits) {
  EXPECT_EQ(options_of("-b8 -e1M").sweep.first, 8U);
  EXPECT_EQ(options_of("-b 8 -b 16").sweep.first, 16U);  // the last one counts
  EXPECT_EQ(configuration_of(options_of("-p 1")), configuration_of(options_of("")));
  EXPECT_EQ(configuration_of(options_of("--parallel_init 0")), configuration_of(options_of("")));
}

TEST(ParseCommandLine, GivesDefaultsForAnEmptyLine) {
  Options defaults;
  defaults.sweep.step = 1048576;
  EXPECT_EQ(configuration_of(options_of("")), configuration_of(defaults));
}

TEST(ParseCommandLine, PrintsHelpOrVersion) {
  EXPECT_EQ(parse("-b 8 --help").print_and_exit, embedded_text("docs/options.md"));
  EXPECT_EQ(parse("--version").print_and_exit, version_text());
  EXPECT_FALSE(parse("-b 8").print_and_exit.has_value());
}

class RefusedCommandLine : public testing::TestWithParam<const char*> {};

TEST_P(RefusedCommandLine, NamesTheOptionOnOneLine) {
  test::expect_failure(Status::Usage, split(GetParam(), ' ').front(),
                       [] { (void)parse(GetParam()); });
}

INSTANTIATE_TEST_SUITE_P(
    Values, RefusedCommandLine,
    testing::Values("-b nan", "-b 0", "-b ''", "-e 0", "-i 0", "-f 0", "-f x", "-n 0", "-n x",
                    "-w -1", "-w x", "-m 0", "-m x", "-N -1", "-N x", "-a 4", "-a max", "-c -1",
                    "-c x", "-o mulsum", "-d f16", "-r -1", "-r x", "-z 4", "-z x", "-S 2", "-T -1",
                    "-T x", "-J x.txt", "-g 0", "-g x", "--cadence fast", "--ci-width 0",
                    "--ci-width 51", "--time-budget 0", "--progress spin", "--cache cold",
                    "--pages 2M", "--bind socket", "--memory-limit 0", "--memory-limit lots",
                    "--placement under", "--seed -1", "--seed x", "--inject-fault 1",
                    "--inject-fault 1:2:3", "--inject-fault a:b", "--inject-fault -1:0",
                    "--load copy", "--load copy:0", "--load spin:x", "--load nap:3",
                    "--load beside:spin:20000", "--inject-delay 3", "--inject-delay 3:0",
                    "--inject-delay x:5", "--csv ''", "--samples ''", "--backend ''",
                    "--backend rccl", "-p 2", "-p x", "-G -1", "-G x", "-R 3", "-x 3", "-x auto",
                    "-C 2", "-M 2", "-u -1", "-I 2", "-K -1", "-K x", "-K 2", "--pairs some",
                    "--env A", "--env =b", "--env ''"));

INSTANTIATE_TEST_SUITE_P(Lines, RefusedCommandLine,
                         testing::Values("stray -b 8", "-t 2", "--nthreads 2", "-y 1",
                                         "--stream_null 1", "-D 1", "-V 8", "--cadance isolated",
                                         "-q", "-b 2M -e 1M", "--seed"));

}  // namespace
}  // namespace busbar

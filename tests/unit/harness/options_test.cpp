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

/// An option on lines that mean the same, by semicolons, and how the commands of a rank with it and
/// of one without it differ, as they are said.
struct Effect {
  const char* lines;
  const char* theirs;
  const char* ours;
};

/// Options that make rows incomparable.
const std::vector<Effect> kOfRows{
    {"-b 1000; --minbytes 1000; -b1000; -b 16 -b 1000", "-b 1000", "-b 1MiB"},
    {"-b 70000004", "-b 70000004", "-b 1MiB"},
    {"-b 1536K", "-b 1536KiB", "-b 1MiB"},
    {"-e 2M; --maxbytes=2M", "-e 2MiB", "-e 1GiB"},
    {"-f 4; --stepfactor 4", "-f 4", "-f 2"},
    {"-i 2M", "-i 2MiB", "-f 2"},
    {"-f 1", "-i 1MiB", "-f 2"},
    {"-d uint8; --datatype uint8", "-d uint8", "-d float"},
    {"-d all", "-d all", "-d float"},
    {"-o prod", "-o prod", "-o sum"},
    {"-o all; --op all", "-o all", "-o sum"},
    {"-r 3; --root 3", "-r 3", "-r 0"},
    {"-r all", "-r all", "-r 0"},
    {"--placement in", "--placement in", "--placement both"},
    {"--placement out", "--placement out", "--placement both"},
    {"-n 20; --iters 20", "-n 20", "-n auto"},
    {"-w 0; --warmup_iters 0", "-w 0", "-w auto"},
    {"-m 4; --agg_iters 4", "-m 4", "-m 1"},
    {"-N 0; --run_cycles 0", "-N 0", "-N 1"},
    {"--visits 6", "--visits 6", "--visits 1"},
    {"--vary x=a,b; --vary x=a,b --visits 10", "--vary x=a,b, --visits 10",
     "no --vary, --visits 1"},
    {"--visits 6 --vary x=a,b", "--vary x=a,b, --visits 6", "no --vary, --visits 1"},
    {"-e 1M --duration 90; -e 1M --duration 1.5m", "-e 1MiB, --placement out, --duration 90s",
     "-e 1GiB, --placement both, no --duration"},
    {"-a 0; --average 0", "-a 0", "-a 3"},
    {"-a 1", "-a 1", "-a 3"},
    {"-a 2", "-a 2", "-a 3"},
    {"-c 0; --check 0", "-c 0", "-c 1"},
    {"-z 1", "-z 1", "-z 0"},
    {"-z 2", "-z 2", "-z 0"},
    {"-z 3; --blocking 3", "-z 3", "-z 0"},
    {"--cadence isolated", "--cadence isolated", "--cadence streaming"},
    {"--ci-width 5; --ci-width 5%", "--ci-width 5", "--ci-width 2"},
    {"--time-budget 0.5", "--time-budget 0.5", "--time-budget 3"},
    {"--progress block", "--progress block", "--progress auto"},
    {"--progress yield", "--progress yield", "--progress auto"},
    {"--cache rotate", "--cache rotate", "--cache warm"},
    {"--pages small", "--pages small", "--pages huge"},
    {"--bind none", "--bind none", "--bind auto"},
    {"--bind core", "--bind core", "--bind auto"},
    {"--bind numa", "--bind numa", "--bind auto"},
    {"--devices best", "--devices", "no --devices"},
    {"--seed 42", "--seed 42", "--seed 1"},
    {"-G 4; --cudagraph 4", "-G 4", "-G 0"},
    {"-R 1; --local_register 1", "-R 1", "-R 0"},
    {"-R 2", "-R 2", "-R 0"},
    {"-x 0; --cta_policy 0", "-x 0", "no -x"},
    {"-x 2", "-x 2", "no -x"},
    {"-u 4; --unalign 4", "-u 4", "-u 0"},
    {"--pairs all", "--pairs all", "--pairs off"},
    {"--groups mod:2", "--groups mod:2", "no --groups"},
    {"--groups rails", "--groups rails", "no --groups"},
    {"--groups levels:8 --levels h.csv", "--groups levels:8, --levels h.csv",
     "no --groups, no --levels"},
    {"--share-gpus", "--share-gpus", "no --share-gpus"},
    {"--host-limits off", "--host-limits off", "--host-limits auto"},
    {"--memory-limit 1G", "--memory-limit 1GiB", "no --memory-limit"},
    {"--load copy:64M", "--load copy:64MiB", "no --load"},
    {"--load spin:200", "--load spin:200", "no --load"},
    {"--load beside:spin:200", "--load beside:spin:200", "no --load"},
    {"--inject-delay 3:2.5", "--inject-delay 3:2.5", "no --inject-delay"},
    {"--mix m.toml", "--placement out, --visits 12, --mix m.toml",
     "--placement both, --visits 1, no --mix"},
    {"--skew zipf:1", "--skew zipf:1", "no --skew"},
    {"--moe 8,16,2,4", "--skew moe:8:16:2:4", "no --skew"},
    {"-d double -n 9", "-d double, -n 9", "-d float, -n auto"},
};

/// Options that all ranks need, and no row depends on.
const std::vector<Effect> kOfTheRun{
    {"--backend gloo", "--backend gloo", "--backend auto"},
    {"--env A=b,c=d --env X= --env A=e; --env=X= --env=A=e", "--env X= A=e", "no --env"},
    {"--facts f.csv", "--facts", "no --facts"},
    {"--per-rank p.csv", "--per-rank", "no --per-rank"},
    {"--nccl-choice", "--nccl-choice", "no --nccl-choice"},
    {"-M 1; --memory 1", "-M 1", "-M 0"},
    {"--inject-fault 1:12345", "--inject-fault 1:12345", "no --inject-fault"},
    {"-T 1.5; --timeout 1.5", "-T 1.5", "-T 600"},
    {"-T 0", "-T 0", "-T 600"},
    {"--json-style nccl-tests -J x.json", "--json-style nccl-tests", "--json-style busbar"},
    {"-n 20 -n auto; -w 3 -w auto; -f 4 -f 2; -G 4 --cudagraph 0; -M 1 --memory 0; --stepbytes 1M "
     "-f 2; --pairs all --pairs off; -p 1; --parallel_init 0",
     "", ""},
};

/// Options that a rank may have of its own.
struct OwnEffect {
  const char* lines;
  bool (*seen)(const Options&);
};
using O = const Options&;
const std::vector<OwnEffect> kOfARank{
    {"-S 1", [](O o) { return o.timestamps; }},
    {"--report_timestamps 0", [](O o) { return !o.timestamps; }},
    {"-J x.json; --output_file x.json", [](O o) { return o.json_path == "x.json"; }},
    {"-g 4; --ngpus 4", [](O o) { return o.launch_ranks == 4; }},
    {"-g 4 --hosts a,b --launcher ssh",
     [](O o) { return o.hosts[1] == "b" && o.launcher == "ssh"; }},
    {"--csv x.csv", [](O o) { return o.csv_path == "x.csv"; }},
    {"--samples s.csv", [](O o) { return o.samples_path == "s.csv"; }},
    {"--csv x.csv --resume", [](O o) { return o.resume; }},
    {"-C 1", [](O o) { return o.enqueue_times; }},
    {"-C 1 --report_cputime 0", [](O o) { return !o.enqueue_times; }},
    {"-I 1", [](O o) { return o.per_operation; }},
    {"-I 1 --per_iter_timing 0", [](O o) { return !o.per_operation; }},
    {"-I 1 -K 5; -I 1 --per_iter_skip 5", [](O o) { return o.skipped_samples == 5; }},
    {"--nvidia-smi /opt/smi", [](O o) { return o.nvidia_smi == "/opt/smi"; }},
    {"--rendezvous h:1 --rank 1 --ranks 2",
     [](O o) { return o.rendezvous == "h:1" && o.rank == 1; }},
};

/// The words of these that are not of those.
std::string difference(const Options& these, const Options& those) {
  const std::vector<std::string> others = agreed_words(those);
  std::vector<std::string> words = agreed_words(these);
  std::erase_if(words, [&](const std::string& word) { return contains(others, word); });
  return join(words, ", ");
}

TEST(ParseCommandLine, HasAnEffectForEveryOption) {
  std::string lines = " --timeline --interval --version --system --flows --algorithm --nic ";
  std::set<std::string> configurations{join(configuration_of({}), " ")};
  for (const auto* effects : {&kOfRows, &kOfTheRun}) {
    for (const Effect& effect : *effects) {
      std::string configuration;
      lines.append(effect.lines) += ' ';
      for (const std::string& line : split(effect.lines, ';')) {
        const Options options = options_of(line);
        EXPECT_EQ(difference(options, {}), effect.theirs) << line;
        EXPECT_EQ(difference({}, options), effect.ours) << line;
        configuration = join(configuration_of(options), " ");
      }
      EXPECT_EQ(configurations.insert(configuration).second, effects == &kOfRows) << effect.lines;
    }
  }
  for (const OwnEffect& effect : kOfARank) {
    lines.append(effect.lines) += ' ';
    for (const std::string& line : split(effect.lines, ';')) {
      const Options options = options_of(line);
      EXPECT_TRUE(effect.seen(options)) << line;
      EXPECT_EQ(agreed_words(options), agreed_words({})) << line;
      EXPECT_EQ(configuration_of(options), configuration_of({})) << line;
    }
  }
  for (const auto& option : perf_options().options) {
    const std::string name(option.names.substr(0, option.names.find(',')));
    EXPECT_NE(lines.find(" " + name + " "), std::string::npos) << name;
  }
  const Options soak =
      options_of("-e 1M --duration 5m --interval 500ms --placement in --timeline t.csv");
  EXPECT_EQ(soak.interval, Seconds{0.5});
  EXPECT_EQ(soak.placement, Placement::In);
  EXPECT_EQ(soak.timeline_path, "t.csv");
  EXPECT_EQ(configuration_of(soak),
            configuration_of(options_of("-e 1M --duration 5m --placement in")));
  for (const Backend* backend : registered_backends()) {
    EXPECT_EQ(options_of("--backend " + std::string(backend->name())).backend, backend->name());
  }
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

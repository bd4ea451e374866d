// SPDX-License-Identifier: BSD-3-Clause
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "base/embedded_text.hpp"
#include "base/text.hpp"
#include "harness/configuration.hpp"
#include "tests/unit/support/failure.hpp"

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
                    "--inject-delay 3", "--inject-delay 3:0", "--inject-delay x:5", "--csv ''",
                    "--samples ''", "--backend ''", "--backend rccl", "-p 2", "-p x", "-G -1",
                    "-G x", "-R 3", "-x 3", "-x auto", "-C 2", "-M 2", "-u -1", "-I 2", "-K -1",
                    "-K x", "-K 2", "--pairs some", "--env A", "--env =b", "--env ''"));

INSTANTIATE_TEST_SUITE_P(Lines, RefusedCommandLine,
                         testing::Values("stray -b 8", "-t 2", "--nthreads 2", "-y 1",
                                         "--stream_null 1", "-D 1", "-V 8", "--cadance isolated",
                                         "-q", "-b 2M -e 1M", "--seed"));

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "harness/options.hpp"

#include <map>

#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"
#include "tests/unit/support/fake_communicator.hpp"

namespace busbar {
namespace {

Options with_step_of_default() {
  Options options;
  options.sweep.step = kMiB;
  return options;
}

/// A change of the default options, and what the refusal of it mentions; nothing: it is accepted.
struct Case {
  const char* token;
  void (*change)(Options& options);
};
using O = Options;

class CheckedOptions : public testing::TestWithParam<Case> {};

TEST_P(CheckedOptions, AreRefusedByNameOrAccepted) {
  const std::string token = GetParam().token;
  Options options = with_step_of_default();
  GetParam().change(options);
  const test::Failure failure = test::failure_of([&] { check_options(options); });
  EXPECT_EQ(failure.status, token.empty() ? Status::Ok : Status::Usage) << token << failure.message;
  EXPECT_TRUE(failure.says(token)) << token << ": " << failure.message;
}

void group(O& o, const char* spec) { o.groups = parse_group_spec("--groups", spec); }

void resume_into(O& o, const char* csv) { o.resume = true, o.csv_path = csv; }
void skip_samples(O& o, std::uint64_t count) {
  o.per_operation = true;
  o.operations = 20;
  o.skipped_samples = count;
}
void launch_graphs(O& o, Blocking blocking) { o.graph_launches = 1, o.blocking = blocking; }
/// A soak that nothing is wrong with.
void soak(O& o) {
  o.duration = Seconds{60};
  o.sweep = {.first = kMiB, .last = kMiB, .step = kMiB};
  o.placement = Placement::Out;
}
void simulate(O& o, int ranks) { o.backend = "sim", o.system = "dgx-2", o.ranks = ranks; }

INSTANTIATE_TEST_SUITE_P(
    Options, CheckedOptions,
    testing::Values(
        Case{"", [](O&) {}},
        Case{"-b 16 is larger than -e 8", [](O& o) { o.sweep = {.first = 16, .last = 8}; }},
        Case{"-i 8: more than 100000 sizes",
             [](O& o) { o.sweep = {.first = 1, .last = kGiB, .step = 8, .factor = 1}; }},
        Case{"--ranks needs --rendezvous HOST:PORT or --backend sim", [](O& o) { o.ranks = 4; }},
        Case{"-g and --rendezvous are mutually exclusive",
             [](O& o) {
               o.launch_ranks = 2;
               o.rendezvous = "h1:9";
             }},
        Case{"--system", [](O& o) { o.system = "dgx-2"; }},
        Case{"--flows", [](O& o) { o.flows = 4; }},
        Case{"--algorithm", [](O& o) { o.algorithm = topo::Algorithm::Ring; }},
        Case{"--system", [](O& o) { o.backend = "sim"; }}, Case{"", [](O& o) { simulate(o, 4); }},
        Case{"--resume", [](O& o) { o.resume = true; }},
        Case{"--resume", [](O& o) { resume_into(o, "-"); }},
        Case{"", [](O& o) { resume_into(o, "x.csv"); }},
        Case{"--samples and --csv", [](O& o) { o.csv_path = o.samples_path = "x.csv"; }},
        Case{"-J and --csv", [](O& o) { o.csv_path = o.json_path = "x.json"; }},
        Case{"-J and --samples", [](O& o) { o.samples_path = o.json_path = "x.json"; }},
        Case{"--per-rank and --samples", [](O& o) { o.samples_path = o.per_rank_path = "x.csv"; }},
        Case{"-G and --load", [](O& o) { o.graph_launches = 1, o.load = Load{.copy = 1}; }},
        Case{"", [](O& o) { o.graph_launches = 1, o.load = Load{.copy = 1, .beside = true}; }},
        Case{"-G and --inject-delay", [](O& o) { o.graph_launches = 1, o.inject_delay = Delay{}; }},
        Case{"-K has no effect without -I 1", [](O& o) { o.skipped_samples = 2; }},
        Case{"-K 20", [](O& o) { skip_samples(o, 20); }},
        Case{"", [](O& o) { skip_samples(o, 19); }},
        Case{"-z 0 or -z 3", [](O& o) { launch_graphs(o, Blocking::WaitAndBarrier); }},
        Case{"-z 0 or -z 3", [](O& o) { launch_graphs(o, Blocking::Wait); }},
        Case{"", [](O& o) { launch_graphs(o, Blocking::UntimedBarrier); }},
        Case{"-G and -I", [](O& o) { o.graph_launches = 1, o.per_operation = true; }},
        Case{"--visits 1: values of --vary",
             [](O& o) {
               o.vary = Vary{"x", {"a", "b"}};
             }},
        Case{"--duration and --vary",
             [](O& o) {
               soak(o), o.vary = Vary{"x", {"a", "b"}};
             }},
        Case{"'3' for --visits", [](O& o) { o.visits = 3; }},
        Case{"", [](O& o) { o.visits = 4, o.operations = 4; }},
        Case{"--visits and -N", [](O& o) { o.visits = 4, o.cycles = 0; }},
        Case{"--visits 4: -n 3", [](O& o) { o.visits = 4, o.operations = 3; }},
        Case{"--visits and -G with -n",
             [](O& o) { o.visits = 4, o.operations = 20, o.graph_launches = 2; }},
        Case{"", [](O& o) { o.visits = 4, o.graph_launches = 2; }}, Case{"", soak},
        Case{"", [](O& o) { soak(o), o.timeline_path = "t.csv"; }},
        Case{"--interval needs --duration", [](O& o) { o.interval = Seconds{2}; }},
        Case{"--timeline needs --duration", [](O& o) { o.timeline_path = "t.csv"; }},
        Case{"--interval is longer", [](O& o) { soak(o), o.interval = Seconds{61}; }},
        Case{"--timeline and --csv", [](O& o) { soak(o), o.timeline_path = o.csv_path = "t.csv"; }},
        Case{"one size (-b and -e alike)", [](O& o) { soak(o), o.sweep.last = 2 * kMiB; }},
        Case{"--placement in or out", [](O& o) { soak(o), o.placement = Placement::Both; }},
        Case{"one -d",
             [](O& o) {
               soak(o), o.types = {DataType::Float, DataType::Half};
             }},
        Case{"-o and -r",
             [](O& o) {
               soak(o), o.ops = {ReduceOp::Sum, ReduceOp::Max};
             }},
        Case{"-o and -r", [](O& o) { soak(o), o.root.reset(); }},
        Case{"--duration and -n", [](O& o) { soak(o), o.operations = 9; }},
        Case{"--duration and -N", [](O& o) { soak(o), o.cycles = 0; }},
        Case{"--duration and --visits", [](O& o) { soak(o), o.visits = 4; }},
        Case{"--duration and --pairs", [](O& o) { soak(o), o.pairs = Pairs::All; }},
        Case{"--duration and -G", [](O& o) { soak(o), o.graph_launches = 2; }},
        Case{"--duration and -I", [](O& o) { soak(o), o.per_operation = true; }},
        Case{"--duration and --samples", [](O& o) { soak(o), o.samples_path = "s.csv"; }},
        Case{"--duration and --per-rank", [](O& o) { soak(o), o.per_rank_path = "s.csv"; }},
        Case{"--duration and --resume", [](O& o) { soak(o), resume_into(o, "a.csv"); }},
        Case{"--duration and --load beside",
             [](O& o) { soak(o), o.load = Load{.copy = 1, .beside = true}; }},
        Case{"--duration and --groups", [](O& o) { soak(o), o.groups = parse_split("MOD 2"); }},
        Case{"--groups levels:4: missing --levels FILE", [](O& o) { group(o, "levels:4"); }},
        Case{"", [](O& o) { group(o, "levels:4"), o.levels_path = "h.csv"; }},
        Case{"--levels has no effect", [](O& o) { group(o, "pairs"), o.levels_path = "h.csv"; }},
        Case{"--devices and --bind none",
             [](O& o) { o.devices = topo::Selection{}, o.bind = Bind::None; }},
        Case{"", [](O& o) { o.pairs = Pairs::All; }},
        Case{"--pairs all and --groups", [](O& o) { o.pairs = Pairs::All, group(o, "mod:2"); }}));

/// Options that only a run of operations has a use for.
class MeasurementOption : public testing::TestWithParam<Case> {};

TEST_P(MeasurementOption, IsRefusedBySimulations) {
  Options options = with_step_of_default();
  options.backend = "sim";
  options.system = "dgx-2";
  GetParam().change(options);
  const test::Failure failure = test::failure_of([&] { check_options(options); });
  EXPECT_TRUE(failure.message.starts_with(GetParam().token)) << failure.message;
  EXPECT_TRUE(failure.says("--backend sim")) << failure.message;
}

INSTANTIATE_TEST_SUITE_P(
    Options, MeasurementOption,
    testing::Values(Case{"--samples", [](O& o) { o.samples_path = "x.csv"; }},
                    Case{"--resume", [](O& o) { o.resume = true; }},
                    Case{"--visits", [](O& o) { o.visits = 4; }}, Case{"--duration", soak},
                    Case{"--inject-fault", [](O& o) { o.inject_fault = Fault{}; }},
                    Case{"--inject-delay", [](O& o) { o.inject_delay = Delay{}; }},
                    Case{"--load", [](O& o) { o.load = Load{.copy = 1}; }},
                    Case{"--per-rank", [](O& o) { o.per_rank_path = "x.csv"; }},
                    Case{"--pairs", [](O& o) { o.pairs = Pairs::All; }},
                    Case{"-g", [](O& o) { o.launch_ranks = 2; }},
                    Case{"--groups", [](O& o) { group(o, "mod:2"); }},
                    Case{"-I", [](O& o) { o.per_operation = true; }},
                    Case{"-C", [](O& o) { o.enqueue_times = true; }},
                    Case{"-M", [](O& o) { o.memory_use = true; }},
                    Case{"--nccl-choice", [](O& o) { o.nccl_choice = true; }},
                    Case{"-G", [](O& o) { o.graph_launches = 1; }}));

/// Options that only one kind of buffers has a use for.
class BackendOption : public testing::TestWithParam<Case> {};

TEST_P(BackendOption, IsRefusedByOtherBackends) {
  Options options;
  GetParam().change(options);
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

INSTANTIATE_TEST_SUITE_P(
    Options, BackendOption,
    testing::Values(Case{"", [](O&) {}}, Case{"--pages", [](O& o) { o.pages = Pages::Small; }},
                    Case{"-G", [](O& o) { o.graph_launches = 1; }},
                    Case{"-R", [](O& o) { o.registration = Registration::Local; }},
                    Case{"-x", [](O& o) { o.cta_policy = 0; }},
                    Case{"-M", [](O& o) { o.memory_use = true; }},
                    Case{"--nccl-choice", [](O& o) { o.nccl_choice = true; }},
                    Case{"--nvidia-smi", [](O& o) { o.nvidia_smi = "smi"; }},
                    Case{"--share-gpus", [](O& o) { o.share_devices = true; }}));

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

using Variables = std::map<std::string, std::string>;

Options options_in(const Variables& variables) {
  Options options;
  apply_environment(options, [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
  return options;
}

test::Failure refusal_in(const Variables& variables) {
  return test::failure_of([&] { (void)options_in(variables); });
}

TEST(ApplyEnvironment, SplitsRanksByAMaskBeforeARule) {
  EXPECT_FALSE(options_in({}).groups.has_value());
  const Variables split{{"NCCL_TESTS_SPLIT", "MOD 8"}};
  EXPECT_EQ(options_in(split).groups, parse_group_spec("--groups", "mod:8"));
  EXPECT_EQ(options_in({{"NCCL_TESTS_SPLIT", "MOD 8"}, {"NCCL_TESTS_SPLIT_MASK", "0x7"}}).groups,
            parse_group_spec("--groups", "and:7"));
}

TEST(ApplyEnvironment, RefusesASplitBesideOtherGroups) {
  for (const char* spec : {"mod:8", "mod:0x8", "rails"}) {
    Options options;
    group(options, spec);
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
  for (const Variables& variables :
       {Variables{{"NCCL_TESTS_SPLIT", "XOR 1"}}, Variables{{"NCCL_TESTS_SPLIT_MASK", "x"}},
        Variables{{"NCCL_TESTS_DEVICE", "one"}}, Variables{{"NCCL_TESTS_DEVICE", "-1"}}}) {
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

}  // namespace
}  // namespace busbar

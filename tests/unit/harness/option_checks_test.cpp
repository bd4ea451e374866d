// SPDX-License-Identifier: BSD-3-Clause
#include "harness/option_checks.hpp"

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

test::Failure refusal(const Options& options) {
  return test::failure_of([&] { check_options(options); });
}

TEST(CheckOptions, AcceptsTheDefaults) { EXPECT_EQ(refusal(with_step_of_default()).message, ""); }

TEST(CheckOptions, RefusesAFirstSizeAboveTheLast) {
  Options options = with_step_of_default();
  options.sweep.first = 16;
  options.sweep.last = 8;
  EXPECT_EQ(refusal(options).status, Status::Usage);
  EXPECT_EQ(refusal(options).message, "-b 16 is larger than -e 8: give a larger -e");
}

TEST(CheckOptions, RefusesAStepThatGivesMoreSizesThanAnyoneReads) {
  Options options = with_step_of_default();
  options.sweep = {.first = 1, .last = kGiB, .step = 8, .factor = 1};
  EXPECT_TRUE(refusal(options).message.starts_with("-i 8: more than 100000 sizes"))
      << refusal(options).message;
}

TEST(CheckOptions, TakesOptionsOfASimulationOnlyWithOne) {
  Options options = with_step_of_default();
  options.ranks = 4;
  EXPECT_TRUE(refusal(options).message.starts_with("--ranks: only a simulation takes it"));
  options.backend = "sim";
  EXPECT_TRUE(refusal(options).message.starts_with("--backend sim: name the machine"));
  options.system = "dgx-2";
  EXPECT_EQ(refusal(options).message, "");
  options.samples_path = "x.csv";
  EXPECT_TRUE(refusal(options).message.starts_with("--samples: a simulation"));
}

TEST(CheckOptions, RefusesToResumeWithoutAFile) {
  Options options = with_step_of_default();
  options.resume = true;
  EXPECT_TRUE(refusal(options).message.starts_with("--resume: ")) << refusal(options).message;
  options.csv_path = "x.csv";
  EXPECT_EQ(refusal(options).message, "");
}

TEST(CheckOptions, RefusesTwoOutputsInOneFile) {
  Options options = with_step_of_default();
  options.csv_path = options.samples_path = "x.csv";
  EXPECT_EQ(refusal(options).status, Status::Usage);
  options.samples_path.clear();
  options.csv_path = options.json_path = "x.json";
  EXPECT_EQ(refusal(options).status, Status::Usage);
  options.csv_path.clear();
  options.samples_path = "x.json";
  EXPECT_EQ(refusal(options).status, Status::Usage);
}

TEST(CheckOptions, RefusesToSkipWhatIsNotReported) {
  Options options = with_step_of_default();
  options.skipped_samples = 2;
  EXPECT_EQ(refusal(options).message, "-K: it shortens what -I reports; give -I 1 too");
  options.per_operation = true;
  EXPECT_EQ(refusal(options).message, "");
}

TEST(CheckOptions, RefusesToSkipEveryOperation) {
  Options options = with_step_of_default();
  options.per_operation = true;
  options.operations = 20;
  options.skipped_samples = 20;
  EXPECT_EQ(refusal(options).message, "-K 20: of 20 operations (-n) none would be left");
  options.skipped_samples = 19;
  EXPECT_EQ(refusal(options).message, "");
}

TEST(CheckOptions, RefusesToWaitInsideAGraph) {
  Options options = with_step_of_default();
  options.graph_launches = 1;
  for (const Blocking blocking : {Blocking::WaitAndBarrier, Blocking::Wait}) {
    options.blocking = blocking;
    EXPECT_EQ(refusal(options).message, "-G: nothing can wait inside a graph; give -z 0 or -z 3");
  }
  for (const Blocking blocking : {Blocking::Off, Blocking::UntimedBarrier}) {
    options.blocking = blocking;
    EXPECT_EQ(refusal(options).message, "");
  }
}

TEST(CheckOptions, RefusesToTimeTheOperationsOfAGraphOneByOne) {
  Options options = with_step_of_default();
  options.graph_launches = 1;
  options.per_operation = true;
  EXPECT_EQ(refusal(options).message, "-I: a graph is timed as a whole; leave -G or -I out");
}

TEST(CheckOptions, RefusesPairsOfSplitRanks) {
  Options options = with_step_of_default();
  options.pairs = Pairs::All;
  EXPECT_EQ(refusal(options).message, "");
  options.split = parse_split("MOD 2");
  EXPECT_EQ(refusal(options).message, "--pairs all: it measures all ranks; unset NCCL_TESTS_SPLIT");
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

TEST(ApplyEnvironment, ChangesNothingWithoutVariables) {
  const Options options = options_in({});
  EXPECT_FALSE(options.split.has_value());
  EXPECT_EQ(options.first_device, 0);
}

TEST(ApplyEnvironment, SplitsRanks) {
  const Options options = options_in({{"NCCL_TESTS_SPLIT", "MOD 8"}});
  ASSERT_TRUE(options.split.has_value());
  EXPECT_EQ(options.split->rule, Split::Rule::Mod);
  EXPECT_EQ(options.split->operand, 8U);
}

TEST(ApplyEnvironment, TakesAMaskBeforeARule) {
  const Options options =
      options_in({{"NCCL_TESTS_SPLIT", "MOD 8"}, {"NCCL_TESTS_SPLIT_MASK", "0x7"}});
  ASSERT_TRUE(options.split.has_value());
  EXPECT_EQ(options.split->rule, Split::Rule::And);
  EXPECT_EQ(options.split->operand, 7U);
}

TEST(ApplyEnvironment, ChoosesTheFirstDevice) {
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

test::Failure refusal_on_hosts(const Options& options, const char* collective = "allreduce") {
  const Backend& mpi = *choose_backend("mpi").backend;
  return test::failure_of([&] { check_applicable(options, mpi, test::collective(collective)); });
}

TEST(CheckApplicable, AcceptsTheDefaultsOnEveryBackend) {
  for (const Backend* backend : registered_backends()) {
    check_applicable(Options{}, *backend, test::collective("allreduce"));
  }
}

TEST(CheckApplicable, RefusesPagesWhereBuffersAreMemoryOfDevices) {
  Options options;
  options.pages = Pages::Small;
  for (const Backend* backend : registered_backends()) {
    const test::Failure failure = test::failure_of(
        [&] { check_applicable(options, *backend, test::collective("allreduce")); });
    EXPECT_EQ(failure.says("--pages"), backend->has_devices()) << backend->name();
  }
}

TEST(CheckApplicable, RefusesOptionsOfDevicesWhereThereAreNone) {
  std::map<std::string, Options> options;
  options["-G: there are no CUDA graphs"].graph_launches = 1;
  options["-R: there is no buffer registration"].registration = Registration::Local;
  options["-x: there are no CTAs"].cta_policy = 0;
  options["-M: there is no GPU memory, and the memory plan is in the header"].memory_use = true;
  options["--share-gpus: there are no GPUs"].share_devices = true;
  for (const auto& [words, given] : options) {
    EXPECT_EQ(refusal_on_hosts(given).status, Status::Usage) << words;
    EXPECT_EQ(refusal_on_hosts(given).message,
              words + " on the mpi backend; use --backend nccl, or leave it out");
  }
}

TEST(CheckApplicable, AcceptsOptionsOfDevicesWhereThereAreSome) {
  Options options;
  options.graph_launches = 1;
  options.registration = Registration::Symmetric;
  options.cta_policy = 2;
  options.memory_use = options.share_devices = true;
  bool any = false;
  for (const Backend* backend : registered_backends()) {
    if (!backend->has_devices()) continue;
    any = true;
    check_applicable(options, *backend, test::collective("allreduce"));
  }
  if (!any) GTEST_SKIP() << "no backend with devices is in this build";
}

TEST(CheckApplicable, RefusesPairsOfACollectiveThatHasNone) {
  Options options;
  options.pairs = Pairs::All;
  EXPECT_EQ(refusal_on_hosts(options).message,
            "--pairs: all-reduce has no pairs of ranks; use sendrecv_perf");
  EXPECT_EQ(refusal_on_hosts(options, "sendrecv").message, "");
}

}  // namespace
}  // namespace busbar

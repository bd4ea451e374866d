// SPDX-License-Identifier: BSD-3-Clause
// Defects of acceptance checks in the field that let bad machines pass, each as a test that would
// see it here. What concerns lint (floors above the ceiling, bandwidth rules on tiny sizes) and
// launching (programs that run with no arguments) has further tests there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "judge/observation.hpp"
#include "tests/unit/judge/judge_case.hpp"
#include "tests/unit/support/temporary_folder.hpp"

namespace busbar::judge {
namespace {

using ::testing::HasSubstr;

TEST(FailOpen, Defect1NoHiddenFactorAndNoMeanOverSizes) {
  JudgeCase one;
  one.rule().bounds = {.fail_below = 0.97};
  one.steady({"h1"}, 450 * 0.96);  // passes where 0.9 is multiplied in secret
  EXPECT_EQ(one.first().outcome, Outcome::Fail);
  JudgeCase two;
  two.rule().sizes = {kMiB, 2 * kMiB};
  two.steady({"h1"}, 460);
  for (Observation& o : two.observations) o.records[0].busbw_GBps = 390;
  EXPECT_EQ(two.judged().verdicts.at(0).outcome, Outcome::Fail) << "the mean of 390 and 460 is 425";
  EXPECT_EQ(two.judged().overall(), Outcome::Fail);
}

TEST(FailOpen, Defect2ABandwidthThatCannotBeReadIsNoPass) {
  JudgeCase one;
  one.steady({"h1"}, 450);
  for (Observation& o : one.observations) o.records[0].busbw_GBps.reset();
  EXPECT_EQ(one.first().outcome, Outcome::Error);
  EXPECT_EQ(one.first().reason, "the row has no value in column busbw_GBps");
}

TEST(FailOpen, Defect3ARuleWithoutAThresholdIsNoPass) {
  JudgeCase one;
  one.steady({"h1"}, 1);
  one.rule().bounds = {};
  EXPECT_EQ(one.first().outcome, Outcome::Error);
  one.rule().bounds = {.fail_below = 0.9};
  one.rule().value.reset();
  EXPECT_EQ(one.first().outcome, Outcome::Error);
  one.rule().value = 0;
  EXPECT_EQ(one.first().outcome, Outcome::Error);
}

TEST(FailOpen, Defect4ACrashIsNoLessThanASlowRun) {
  JudgeCase one;
  for (int i = 0; i < 3; ++i) {
    one.launch({"h1"}, 450, i).failure = "exit 139: segmentation fault";
    one.observations.back().records.clear();
  }
  EXPECT_EQ(one.first().outcome, Outcome::Error);
  EXPECT_EQ(exit_code_of(one.judged(), false), 4);
}

TEST(FailOpen, Defect5ALatencyRuleNeedsNoBandwidthRule) {
  JudgeCase one;
  one.rule().metric = Metric::Time;
  one.rule().value = 50;
  one.rule().bounds = {.fail_above = 1.25};
  one.steady({"h1"}, 450);
  EXPECT_EQ(one.first().outcome, Outcome::Fail);
}

TEST(FailOpen, Defect6NoTruncationAndNoMaximumOfAColumn) {
  JudgeCase one;
  one.steady({"h1"}, 404.9);  // 90 % of 450 is 405
  EXPECT_EQ(one.first().outcome, Outcome::Fail);
  EXPECT_EQ(exit_code_of(one.judged(), false), 1);
  JudgeCase two;
  two.specification.noise.max_cv = 1;
  two.launches({"h1"}, {300, 310, 450});
  EXPECT_EQ(two.first().outcome, Outcome::Fail) << "the best launch would pass";
}

TEST(FailOpen, Defect7AFloorOfAnotherMachineIsAnErrorAndNotAPass) {
  JudgeCase one;
  one.steady({"h1"}, 450);
  one.specification.system.fingerprint = {{"gpu", {"NVIDIA H200"}}};
  EXPECT_THAT(one.first().reason, HasSubstr("does not report gpu"));
  for (Observation& o : one.observations) {
    o.facts["rank-0"] = "host h1 node 0 device 0 bus 0000:07:00.0 uuid GPU-1 name NVIDIA H100";
  }
  EXPECT_EQ(one.first().outcome, Outcome::Error);
  EXPECT_THAT(one.first().reason, HasSubstr("gpu is 'NVIDIA H100' where 'NVIDIA H200' is wanted"));
}

TEST(FailOpen, Defect8ARunOfOtherSizesOrOfNothingIsNoPass) {
  JudgeCase one;
  one.rule().sizes = {32 * kMiB};
  one.steady({"h1"}, 450);
  one.rule().sizes = {8 * kGiB};
  EXPECT_EQ(one.first().outcome, Outcome::Error);
  EXPECT_EQ(one.first().reason, "no row of 8 GiB: there is 32 MiB");
  JudgeCase none;
  none.nodes = {"h1"};
  EXPECT_EQ(exit_code_of(none.judged(), false), 4);
}

TEST(FailOpen, Defect9AValueInGigabitsIsTooGood) {
  JudgeCase one;
  one.steady({"h1"}, 450 * 8);
  EXPECT_EQ(one.first().outcome, Outcome::Fail);
  EXPECT_EQ(one.first().reason, "too good: 3600 GB/s is 800 % of 450 GB/s, above 105 %");
  JudgeCase tiny;  // and a row of the default 8 bytes answers no rule of 1 MiB
  tiny.rule().sizes = {8};
  tiny.steady({"h1"}, 450);
  tiny.rule().sizes = {kMiB};
  EXPECT_EQ(tiny.first().outcome, Outcome::Error);
}

TEST(FailOpen, Defect10NoReferenceIsNoPass) {
  JudgeCase one;
  one.steady({"h1"}, 450);
  one.rule().compare = Comparison::Baseline;
  EXPECT_EQ(one.first().reason, "there is no baseline");
  const Baseline other{.file = "b.csv",
                       .made_on = "2026-11-01",
                       .rows = {{.key = {.device_set = "set",
                                         .instance = "h2",
                                         .collective = "allreduce",
                                         .type = "float",
                                         .size = kMiB},
                                 .median = 450}}};
  one.baseline = &other;
  EXPECT_EQ(one.first().outcome, Outcome::Error);
  EXPECT_EQ(one.first().reason, "baseline b.csv has no median busbw of 1 MiB on set h1");
}

TEST(FailOpen, Defect11OneRankIsNoBandwidth) {
  JudgeCase one;
  one.specification.device_sets[0].ranks_per_node = 1;
  one.rule().collectives = {"broadcast"};
  one.rule().bounds = {.fail_below = 0.9};
  one.steady({"h1"}, 1999891);
  for (Observation& o : one.observations) {
    o.collective = o.records[0].collective = "broadcast";
    o.records[0].ranks = 1;
  }
  EXPECT_EQ(one.first().outcome, Outcome::Skip);
  EXPECT_EQ(exit_code_of(one.judged(), false), 77);
}

TEST(FailOpen, Defect12ADecimalSizeIsNotTheBinaryOne) {
  JudgeCase one;
  one.rule().sizes = {65000};
  one.steady({"h1"}, 450);
  one.rule().sizes = {64 * kKiB};
  EXPECT_EQ(one.first().outcome, Outcome::Error);
  EXPECT_EQ(one.first().reason, "no row of 64 KiB: there is 63.48 KiB");
}

TEST(FailOpen, LowFirstAndHighThenIsNoPassByLuck) {
  JudgeCase one;
  one.launches({"h1"}, {300, 301, 300});
  one.launches({"h1"}, {450, 451, 450}, 1);
  EXPECT_EQ(one.first().outcome, Outcome::Inconclusive);
  one.specification.noise.max_cv = 0.5;
  EXPECT_EQ(one.first().outcome, Outcome::Fail) << "375.5 of all six";
}

TEST(FailOpen, TwiceTheCeilingIsAFail) {
  JudgeCase one;
  one.rule().compare = Comparison::Theoretical;
  one.rule().bounds = {.fail_below = 0.9, .fail_above = 1.0};
  one.specification.ceiling.scale_up = 450;
  one.steady({"h1"}, 900);
  EXPECT_EQ(one.first().outcome, Outcome::Fail);
  EXPECT_THAT(one.first().reason, HasSubstr("too good: 900 GB/s is 200 %"));
}

TEST(FailOpen, ACsvThatEndsInTheMiddleIsAFailure) {
  const test::TemporaryFolder folder;
  const auto write = [&](const std::string& name, const std::string& text) {
    folder.write(name, text);
    return folder.path(name);
  };
  const std::string head =
      "# configuration: collective=allreduce backend=mpi ranks=8 nodes=1 split=none\n# hosts: h1\n";
  const std::string rows = "collective,size_bytes,ranks\nallreduce,1024,8\n";
  const std::string whole = write("whole.csv", head + rows + "# finished: 2026-11-21 12:00:00\n");
  EXPECT_EQ(read_observation_file(whole).failure, "");
  const std::string cut = write("cut.csv", head + rows);
  EXPECT_THAT(read_observation_file(cut).failure, HasSubstr("cut off: the run did not finish"));
  const std::string half = write("half.csv", head + rows + "allreduce,20");
  EXPECT_THAT(read_observation_file(half).failure, HasSubstr("its last line has no end"));
  const std::string none =
      write("none.csv", head + "collective,size_bytes,ranks\n# finished: 2026-11-21 12:00:00\n");
  EXPECT_THAT(read_observation_file(none).failure, HasSubstr("no row in it"));
  EXPECT_THROW(static_cast<void>(read_observation_file(write("empty.csv", ""))), Error);
  const std::string word = write("word.csv", "collective,size_bytes,ranks\nallreduce,1024,eight\n");
  EXPECT_THROW(static_cast<void>(read_observation_file(word)), Error);
}

}  // namespace
}  // namespace busbar::judge

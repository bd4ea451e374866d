// SPDX-License-Identifier: BSD-3-Clause
#include "harness/option_values.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "harness/cli.hpp"
#include "tests/unit/support/failure.hpp"

namespace busbar {
namespace {

test::Failure refusal(const Options& options) {
  return test::failure_of([&] { check_options(options); });
}

Options with_step_of_default() {
  Options options;
  options.sweep.step = kMiB;
  return options;
}

TEST(OptionSpecs, HaveNamesThatNoTwoShare) {
  std::set<std::string> names;
  for (const OptionSpec& spec : option_specs()) {
    for (const std::string& spelled : split(spec.names, ',')) {
      EXPECT_TRUE(spelled.starts_with('-')) << spelled;
      EXPECT_TRUE(names.insert(spelled).second) << spelled;
    }
  }
}

TEST(OptionSpecs, AreAllInTheHelp) {
  const std::string help(help_text());
  for (const OptionSpec& spec : option_specs()) {
    for (const std::string& spelled : split(spec.names, ',')) {
      EXPECT_NE(help.find(spelled), std::string::npos) << spelled;
    }
  }
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

TEST(ForeignOptionHint, KnowsBothSpellingsOfNcclTestsOptions) {
  EXPECT_NE(foreign_option_hint("-t"), "");
  EXPECT_EQ(foreign_option_hint("-t"), foreign_option_hint("--nthreads"));
  EXPECT_EQ(foreign_option_hint("-q"), "");
  EXPECT_EQ(foreign_option_hint("-b"), "");
}

TEST(ForeignOptionHint, IsForNoOptionOfOurs) {
  for (const OptionSpec& spec : option_specs()) {
    for (const std::string& spelled : split(spec.names, ','))
      EXPECT_EQ(foreign_option_hint(spelled), "") << spelled;
  }
}

}  // namespace
}  // namespace busbar

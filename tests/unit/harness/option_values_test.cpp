// SPDX-License-Identifier: BSD-3-Clause
#include "harness/option_values.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "harness/cli.hpp"

namespace busbar {
namespace {

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

// SPDX-License-Identifier: BSD-3-Clause
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judge/spec/reader.hpp"
#include "tests/unit/support/failure.hpp"

namespace busbar::judge {
namespace {

using testing::HasSubstr;

// Eight lines; the sets begin in line 9, the rules where `rule` puts them.
const std::string kHead =
    "schema = 1\n"
    "[system]\n"
    "name = \"pod\"\n"
    "[run]\n"
    "launches = 5\nmin_launches = 3\ntimeout_s = 60\n"
    "[noise]\nmax_cv = 0.02\non_noisy = \"inconclusive\"\n";
const std::string kSet = "[[device_set]]\nid = \"node\"\nkind = \"per_node\"\ngpus = \"0-7\"\n";
const std::string kPairs =
    "[[device_set]]\nid = \"pairs\"\nkind = \"pairwise\"\nranks_per_node = 1\n";
const std::string kRule =
    "[[expect]]\nid = \"one\"\ncollective = \"allreduce\"\ndevice_set = \"node\"\nsize = \"1GiB\"\n"
    "compare = \"absolute\"\nvalue = 400\nfail_below = 0.9\n";

Specification read(const std::string& text, const std::string& profile = {}) {
  return parse_specification(text, "pod.toml", profile);
}

std::string refusal(const std::string& text, const std::string& profile = {}) {
  const test::Failure failure = test::failure_of([&] { static_cast<void>(read(text, profile)); });
  EXPECT_EQ(failure.status, Status::Usage) << text;
  EXPECT_TRUE(failure.is_one_line());
  return failure.message;
}

/// A text with one part changed, which must be there.
std::string with(std::string text, const std::string& part, const std::string& other) {
  const std::size_t at = text.find(part);
  EXPECT_NE(at, std::string::npos) << part;
  return at == std::string::npos ? text : text.replace(at, part.size(), other);
}

const std::string kProfiles =
    kHead + kSet + kPairs + kRule + with(with(kRule, "one", "two"), "node", "pairs") +
    "[profile.quick]\ndevice_sets = [\"node\"]\nlaunches = 3\nmax_cv = 0.05\nvalues = { one = 390 "
    "}\n[profile.full]\nlaunches = 9\n";

TEST(SpecProfile, ProfileTakesItsRulesAndNumbers) {
  const Specification quick = read(kProfiles, "quick");
  EXPECT_EQ(quick.profile, "quick");
  ASSERT_EQ(quick.expectations.size(), 1U);
  EXPECT_EQ(quick.expectations[0].value, 390);
  EXPECT_EQ(quick.device_sets.size(), 1U);
  EXPECT_EQ(quick.run.launches, 3);
  EXPECT_EQ(quick.noise.max_cv, 0.05);
  const Specification full = read(kProfiles, "full");
  EXPECT_EQ(full.expectations.size(), 2U);
  EXPECT_EQ(full.run.launches, 9);
  EXPECT_EQ(full.expectations[0].value, 400);
}

TEST(SpecProfile, WithoutAProfileStandardIsTakenOrAll) {
  EXPECT_EQ(read(kProfiles).profile, "");
  EXPECT_EQ(read(kProfiles).run.launches, 5);
  const Specification standard = read(kProfiles + "[profile.standard]\nlaunches = 4\n");
  EXPECT_EQ(standard.profile, "standard");
  EXPECT_EQ(standard.run.launches, 4);
}

TEST(SpecProfile, UnknownProfileIsToldWhichThereAre) {
  EXPECT_THAT(refusal(kProfiles, "quik"),
              HasSubstr("there is no [profile.quik]; --profile takes one of: quick, full"));
  EXPECT_THAT(refusal(kHead + kSet + kRule, "quick"), HasSubstr("run it without --profile"));
}

TEST(SpecProfile, EveryProfileIsCheckedWhicheverIsChosen) {
  EXPECT_THAT(refusal(kProfiles + "[profile.standard]\nmin_launches = 9\n", "quick"),
              HasSubstr("min_launches (9) is more than launches (5)"));
  EXPECT_THAT(refusal(kProfiles + "[profile.standard]\nmax_size = \"1MiB\"\n", "quick"),
              HasSubstr("max_size leaves no size of rule \"one\""));
  EXPECT_THAT(refusal(kProfiles + "[profile.standard]\nexpect = [\"tow\"]\n"),
              HasSubstr("did you mean \"two\"?"));
  EXPECT_THAT(
      refusal(kProfiles + "[profile.standard]\nexpect = [\"two\"]\ndevice_sets = [\"node\"]\n"),
      HasSubstr("rule \"two\" needs device_set \"pairs\""));
}

}  // namespace
}  // namespace busbar::judge

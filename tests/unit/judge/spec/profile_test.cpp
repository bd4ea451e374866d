// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/judge/spec/specification_text.hpp"

namespace busbar::judge {
namespace {

const std::string kProfiles = kHead + kSet + kPairs + kRule +
                              with(with(kRule, "one", "two"), "node", "pairs") +
                              "[profile.quick]\nexpect = [\"one\"]\nlaunches = 3\nmax_cv = "
                              "0.05\n[profile.full]\nlaunches = 9\n";

TEST(SpecProfile, ProfileTakesItsRulesAndNumbers) {
  const Specification quick = read(kProfiles, "quick");
  EXPECT_EQ(quick.profile, "quick");
  ASSERT_EQ(quick.rules.size(), 1U);
  EXPECT_EQ(quick.rules[0].id, "one");
  EXPECT_EQ(quick.device_sets.size(), 1U);
  EXPECT_EQ(quick.run.launches, 3);
  EXPECT_EQ(quick.noise.max_cv, 0.05);
  const Specification full = read(kProfiles, "full");
  EXPECT_EQ(full.rules.size(), 2U);
  EXPECT_EQ(full.run.launches, 9);
}

TEST(SpecProfile, WithoutAProfileStandardIsTakenOrAll) {
  EXPECT_EQ(read(kProfiles).profile, "");
  EXPECT_EQ(read(kProfiles).run.launches, 5);
  const Specification standard = read(kProfiles + "[profile.standard]\nlaunches = 4\n");
  EXPECT_EQ(standard.profile, "standard");
  EXPECT_EQ(standard.run.launches, 4);
}

TEST(SpecProfile, AnUnknownProfileIsRefusedWithThoseThatThereAre) {
  EXPECT_THAT(refusal(kProfiles, "quik"),
              HasSubstr("there is no [profile.quik]; --profile takes one of: quick, full"));
  EXPECT_THAT(refusal(kHead + kSet + kRule, "quick"), HasSubstr("run it without --profile"));
}

TEST(SpecProfile, EveryProfileIsCheckedWhicheverIsChosen) {
  const std::string standard = kProfiles + "[profile.standard]\n";
  for (const auto& [keys, profile, token] :
       {std::tuple{"min_launches = 9\n", "quick", "(9) is more than launches (5)"},
        {"expect = [\"tow\"]\n", "", "did you mean \"two\"?"}}) {
    EXPECT_THAT(refusal(standard + keys, profile), HasSubstr(token));
  }
}

/// The ids of the rules that stay.
std::vector<std::string> only(const std::vector<std::string>& rules,
                              const std::string& profile = {}) {
  const Specification spec = parse_specification(kProfiles, "pod.toml", profile, rules);
  EXPECT_EQ(spec.run.launches, profile == "quick" ? 3 : 5);
  EXPECT_EQ(spec.device_sets.size(), spec.rules.size());
  return spec.only;
}

TEST(SpecProfile, RulesThatAreAskedForStayWhicheverTheProfileHas) {
  EXPECT_THAT(only({"two"}), ElementsAre("two"));
  EXPECT_THAT(only({"two"}, "quick"), ElementsAre("two")) << "quick is for rule one";
  EXPECT_THAT(only({"two", "one"}), ElementsAre("one", "two"));
}

TEST(SpecProfile, ARuleThatThereIsNotIsRefusedWithThoseThatThereAre) {
  const test::Failure failure = test::failure_of([] { static_cast<void>(only({"tow"})); });
  EXPECT_EQ(failure.status, Status::Usage);
  EXPECT_THAT(failure.message, HasSubstr("one, two; did you mean two?"));
}

}  // namespace
}  // namespace busbar::judge

// SPDX-License-Identifier: BSD-3-Clause
#include "judge/suspects.hpp"

#include "tests/unit/judge/judge_case.hpp"

namespace busbar::judge {
namespace {

TEST(DropExplained, DropsLinksOfABlamedNodeWhicheverEndItIsUnlessTheirDefectIsWorse) {
  std::vector<Suspect> suspects{{.nodes = {"h1", "h2"}},
                                {.nodes = {"h1"}, .defect = Defect::FailedLaunches},
                                {.nodes = {"h4", "h1"}},
                                {.nodes = {"h1", "h3"}, .defect = Defect::WrongData}};
  drop_explained(suspects);
  EXPECT_THAT(nodes_of(suspects), ElementsAre(Names{"h1", "h3"}, Names{"h1"}));
}

/// Of h1 to h3 all launches of h2 crash.
JudgeCase crashed(int exit_code = 4) {
  JudgeCase one;
  for (Observation& o : one.steady_nodes(3).observations) {
    if (o.instance != "h2") continue;
    o.failure = "exit 4: allreduce_perf: rank 8 on h2 does not answer";
    o.exit_code = exit_code;
    o.records.clear();
  }
  return one;
}

TEST(SuspectsOfFailedLaunches, HaveTheNameOfALogThatIsKept) {
  const test::TemporaryFolder folder;
  JudgeCase one = crashed();
  for (Observation& o : one.observations) o.file = folder.path("004-h2.csv");
  EXPECT_THAT(one.judged().suspects.at(0).evidence, Not(HasSubstr("log:")));
  folder.write("004-h2.log", "no");
  EXPECT_THAT(one.judged().suspects.at(0).evidence, HasSubstr("; its log: 004-h2.log"));
}

TEST(SuspectsOfFailedLaunches, AreNotThoseOfProgramsThatRefuseOrOfInterruptedRuns) {
  for (const int code : {kNotMade, 2, 3, 77}) {
    const Acceptance acceptance = crashed(code).judged();
    EXPECT_TRUE(acceptance.suspects.empty()) << code;
    EXPECT_EQ(acceptance.overall(), Outcome::Error) << code;
  }
}

TEST(SuspectsOfFailedLaunches, AreNotWaived) {
  JudgeCase one = crashed();
  one.rule().known_issue = {.reason = "ticket 1", .until = "2027-01-01"};
  EXPECT_EQ(one.overall(), Outcome::Fail);
}

}  // namespace
}  // namespace busbar::judge

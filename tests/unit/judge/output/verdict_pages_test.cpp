// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "judge/output/describe.hpp"
#include "judge/output/verdict_output.hpp"
#include "tests/unit/judge/output/sample_acceptance.hpp"

namespace busbar::judge {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(VerdictMarkdown, BeginsWithTheOverallOutcome) {
  const std::string text = verdict_markdown(sample_acceptance(6), sample_specification(6));
  EXPECT_THAT(text, StartsWith("# FAIL: interconnect acceptance of pod "));
  EXPECT_THAT(text, HasSubstr("| FAIL | intra | h2 | allreduce | 8 GiB | 301.5 GB/s |"));
  EXPECT_THAT(text, Not(HasSubstr("| PASS |")));
  EXPECT_THAT(text, HasSubstr("6 of 6 nodes accounted for."));
  EXPECT_THAT(text, HasSubstr("| timed operations of a launch | 100 |"));
}

TEST(VerdictMarkdown, SaysThatNothingIsWrongOnlyWhereSomethingWasJudged) {
  Acceptance good = sample_acceptance(6);
  good.verdicts.resize(1);
  EXPECT_THAT(verdict_markdown(good, sample_specification(6)), HasSubstr("every verdict is PASS"));
  EXPECT_THAT(verdict_markdown({}, {}), HasSubstr("No rule was judged."));
}

TEST(VerdictMarkdown, DoesNotSayThatNoNodeIsBlamedBesideAFail) {
  Acceptance acceptance = sample_acceptance(6);
  acceptance.suspects.clear();
  const std::string text = verdict_markdown(acceptance, sample_specification(6));
  EXPECT_THAT(text, Not(HasSubstr("No node and no link is blamed.")));
  EXPECT_THAT(text, HasSubstr("Rules fail, and no single node or link stands out"));
}

TEST(VerdictMarkdown, HasTheSourceOfARule) {
  Specification specification = sample_specification(6);
  specification.rules[0].source = "a guide";
  EXPECT_THAT(verdict_markdown(sample_acceptance(6), specification), HasSubstr("| a guide |"));
  EXPECT_THAT(verdict_html(sample_acceptance(6), specification),
              AllOf(HasSubstr(">a guide<"), HasSubstr("Reference: absolute. Source: a guide")));
}

TEST(VerdictHtml, NeedsNothingBesidesItself) {
  const std::string page = verdict_html(sample_acceptance(6), sample_specification(6));
  EXPECT_THAT(page, Not(HasSubstr("<script")));
  EXPECT_THAT(page, Not(HasSubstr("http://")));
  EXPECT_THAT(page, Not(HasSubstr("https://")));
  EXPECT_THAT(page, HasSubstr("<h1>FAIL: interconnect acceptance of pod &quot;a&quot; &lt;1&gt;"));
}

TEST(VerdictHtml, HasEveryOutcomeBesideItsShape) {
  const std::string page = verdict_html(sample_acceptance(6), sample_specification(6));
  for (const char* words : {">PASS 476.2 GB/s<", ">WARN 448 GB/s<", ">FAIL 301.5 GB/s<",
                            ">KNOWN 410 GB/s<", ">INCONCLUSIVE 471 GB/s<", ">ERROR<"}) {
    EXPECT_THAT(page, HasSubstr(words));
  }
  EXPECT_THAT(page, AllOf(HasSubstr(">fails beyond<"), HasSubstr(">warns beyond<")));
}

TEST(VerdictHtml, StaysBelowTwoMegabytesWithSixtyFourNodes) {
  const std::string page = verdict_html(sample_acceptance(64), sample_specification(64));
  EXPECT_LT(page.size(), 2'000'000U);
  EXPECT_THAT(page, HasSubstr("64 of 64 nodes"));
}

/// The heat map of pairs with these values in turn, by a reference of 1 GB/s.
Figure heat_map(const std::vector<double>& values, Outcome outcome) {
  Acceptance acceptance = sample_acceptance(6);
  std::size_t next = 0;
  for (CheckResult& verdict : acceptance.pairs) {
    verdict.reference = 1;
    verdict.outcome = outcome;
    verdict.value = values[next++ % values.size()];
  }
  return heat_maps(acceptance, sample_specification(6)).at(0);
}

TEST(HeatMaps, ShowDifferencesFarAboveTheReferenceAndNoMereNoise) {
  const ColourScale wide = *heat_map({20, 10, 15}, Outcome::Pass).chart.colours;
  EXPECT_DOUBLE_EQ(wide.low, 10);
  EXPECT_DOUBLE_EQ(wide.high, 20);
  EXPECT_DOUBLE_EQ(heat_map({20, 19.9}, Outcome::Pass).chart.colours->low, 18);
}

TEST(HeatMaps, ExplainTheMarksThatTheyHave) {
  EXPECT_THAT(heat_map({20}, Outcome::Fail).caption, HasSubstr("Red strokes"));
  EXPECT_THAT(heat_map({20}, Outcome::Pass).caption, Not(HasSubstr("Red strokes")));
  EXPECT_THAT(heat_map({20, std::nan("")}, Outcome::Pass).caption, HasSubstr("Hatched: no data"));
  EXPECT_THAT(heat_map({20}, Outcome::Pass).caption, Not(HasSubstr("Hatched")));
}

TEST(HeatMaps, AreOfPairsOnlyAndOfThreeNodesAtLeast) {
  EXPECT_EQ(heat_maps(sample_acceptance(6), sample_specification(6)).size(), 1U);
  Specification two = sample_specification(2);
  EXPECT_TRUE(heat_maps(sample_acceptance(6), two).empty());
}

TEST(Waterfalls, LeaveOutWhatWasNotMeasured) {
  const Acceptance acceptance = sample_acceptance(6);
  EXPECT_EQ(waterfalls(acceptance, "intra").size(), 1U);
  EXPECT_TRUE(waterfalls(acceptance, "one-rank").empty());
}

TEST(Waterfalls, OfManyShowWhatIsNotPassAndTheEndsOfTheOthers) {
  Acceptance acceptance;
  for (int i = 0; i < 30; ++i) {
    acceptance.verdicts.push_back(sample_verdict("r", "pairs", {fmt::format("p{}", i)}, 10 + i, 20,
                                                 i % 10 == 0 ? Outcome::Fail : Outcome::Pass));
  }
  const Figure figure = waterfalls(acceptance, "r").at(0);
  EXPECT_THAT(figure.chart.panels.at(0).y.names,
              testing::ElementsAre("p0", "p1", "p10", "p20", "p29"));
  EXPECT_THAT(figure.caption, HasSubstr("5 of 30 are shown"));
  acceptance.verdicts.resize(24);
  EXPECT_EQ(waterfalls(acceptance, "r").at(0).chart.panels.at(0).y.names.size(), 24U);
}

}  // namespace
}  // namespace busbar::judge

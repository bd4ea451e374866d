// SPDX-License-Identifier: BSD-3-Clause
#include "judge/output/describe.hpp"
#include "judge/output/verdict_output.hpp"
#include "tests/unit/judge/output/sample_acceptance.hpp"

namespace busbar::judge {
namespace {

TEST(VerdictMarkdown, BeginsWithTheOverallOutcome) {
  const std::string text = verdict_markdown(sample_acceptance(6), sample_specification(6));
  EXPECT_THAT(text, StartsWith("# FAIL: Interconnect acceptance of pod "));
  EXPECT_THAT(text, HasSubstr("| FAIL | intra | h2 | allreduce | 8 GiB | 301.5 GB/s |"));
  EXPECT_THAT(text, Not(HasSubstr("| PASS |")));
  EXPECT_THAT(text, HasSubstr("6 of 6 nodes accounted for."));
  EXPECT_THAT(text, HasSubstr("| timed operations of a launch | 100 |"));
}

TEST(VerdictMarkdown, SaysThatNothingIsWrong) {
  Acceptance good = sample_acceptance(6);
  good.verdicts.resize(1);
  EXPECT_THAT(verdict_markdown(good, sample_specification(6)), HasSubstr("every verdict is PASS"));
}

TEST(VerdictMarkdown, DoesNotSayThatNoNodeIsBlamedBesideAFail) {
  Acceptance acceptance = sample_acceptance(6);
  acceptance.suspects.clear();
  const std::string text = verdict_markdown(acceptance, sample_specification(6));
  EXPECT_THAT(text, Not(HasSubstr("No node and no link is blamed.")));
  EXPECT_THAT(text, HasSubstr("Rules fail, and no single node or link stands out"));
}

TEST(VerdictHtml, NeedsNothingBesidesItself) {
  const std::string page = verdict_html(sample_acceptance(6), sample_specification(6));
  for (const char* other : {"<script", "http://", "https://"}) {
    EXPECT_THAT(page, Not(HasSubstr(other)));
  }
  EXPECT_THAT(page,
              HasSubstr("<title>FAIL: Interconnect acceptance of pod &quot;a&quot; &lt;1&gt;"));
}

TEST(VerdictHtml, HasTheVerdictAndItsCauseThenSuspectsNodesAndAllElse) {
  const std::string page = verdict_html(sample_acceptance(6), sample_specification(6));
  std::size_t last = 0;
  for (const char* part : {"<header class=\"bad\">", "<span class=\"verdict\">FAIL</span>",
                           "<p class=\"answer\">h2 is slow: 5 of 5 pairs low", "id=\"suspects\"",
                           "class=\"strip named\"", "id=\"not-pass\"", "id=\"pairs\"",
                           "id=\"rules\"", "id=\"contract\"", "<nav "}) {
    const std::size_t at = page.find(part);
    ASSERT_NE(at, std::string::npos) << part;
    EXPECT_GT(at, std::exchange(last, at)) << part;
  }
}

TEST(VerdictHtml, HasACellForEachNodeWithItsStateAndEvidence) {
  Acceptance acceptance = sample_acceptance(6);
  acceptance.nodes.pop_back();
  const std::string page = verdict_html(acceptance, sample_specification(6));
  EXPECT_THAT(page, HasSubstr("<li class=\"bad\" title=\"h2: failed: pair-floor: 5 of 5\">"));
  EXPECT_THAT(page, HasSubstr("<li class=\"good\" title=\"h0: good\">h0</li>"));
  EXPECT_THAT(page, HasSubstr("<li class=\"unknown\" title=\"h4: inconclusive: intra: noisy"));
  EXPECT_THAT(page, HasSubstr("<li class=\"absent\" title=\"h5: missing\">"));
  EXPECT_THAT(page, HasSubstr("good (3): h0 h1 h3</li>"));
}

TEST(CauseText, NamesEachNodeOnceAndThoseThatDoNotAnswer) {
  Acceptance acceptance = many_faults();
  EXPECT_EQ(cause_text(acceptance),
            "h3 delivers wrong data: 1 byte. Also: h2 (slow), h5 (link flapped), h0 (mtu) and 1 "
            "more; h1 does not answer.");
  acceptance.suspects.resize(1);
  EXPECT_THAT(cause_text(acceptance), EndsWith(". Also: h1 does not answer."));
  acceptance.suspects.clear();
  EXPECT_THAT(cause_text(acceptance), EndsWith(" all that took part are suspect. h1 does not "
                                               "answer."));
  acceptance.verdicts.erase(acceptance.verdicts.begin() + 2, acceptance.verdicts.end());
  acceptance.verdicts[1].outcome = Outcome::Error;
  EXPECT_THAT(cause_text(acceptance), StartsWith("h1 does not answer: check power and network"));
}

TEST(SilentText, NamesAFewAndManyAsARange) {
  EXPECT_EQ(silent_text({}), "");
  EXPECT_EQ(silent_text({{"h1", "h2"}}), "h1 and h2 do not answer");
  EXPECT_EQ(silent_text({{"h1", "h2", "h3", "h4", "h5"}}), "h[1-5] do not answer");
}

TEST(CauseText, SaysByHowMuchATimeIsTooLong) {
  Acceptance acceptance = sample_acceptance(6);
  acceptance.verdicts[2].metric = Metric::Time;
  acceptance.verdicts[2].bounds = {.fail_above = 1.25};
  acceptance.verdicts[2].reference = 10;
  acceptance.verdicts[2].value = 13;
  acceptance.suspects = {{.nodes = {"h2"}, .rule = "intra", .evidence = "slow"}};
  EXPECT_THAT(cause_text(acceptance), HasSubstr(" takes 13 us; at most 12.5 is allowed."));
}

TEST(CauseText, OfNoSuspectIsTheFirstOfTheWorstResultsOrThatAllIsMet) {
  Acceptance acceptance = sample_acceptance(6);
  acceptance.suspects.clear();
  EXPECT_THAT(cause_text(acceptance),
              StartsWith("intra on h2: below 427.5 GB/s; and 6 more FAIL."));
  std::erase_if(acceptance.verdicts,
                [](const CheckResult& one) { return one.outcome != Outcome::Inconclusive; });
  EXPECT_EQ(cause_text(acceptance), "intra on h4: noisy: cv 6.1 % of 3 launches, 2 % allowed.");
  acceptance.verdicts.front().outcome = Outcome::Pass;
  EXPECT_THAT(cause_text(acceptance), HasSubstr("on 6 nodes met: no node and no link is blamed"));
  acceptance.head.refused = "another machine";
  EXPECT_EQ(cause_text(acceptance), "Nothing was judged: another machine.");
}

TEST(AdviceText, IsByWhatIsBlamedAndWhatFor) {
  const Acceptance acceptance = many_faults();
  std::set<std::string> texts;
  for (const Defect defect : all_values<Defect>()) {
    texts.insert(advice_text({.nodes = {"h1"}, .defect = defect}, acceptance));
  }
  for (const Suspect& other : {Suspect{.nodes = {"h1", "h2"}},
                               {.nodes = {"h1", "h2", "h3"}},
                               {.path = "uplink leaf2"},
                               {.path = "links h[0-2] - h[3-5]"}}) {
    texts.insert(advice_text(other, acceptance));
  }
  EXPECT_EQ(texts.size(), 8U);
  EXPECT_THAT(advice_text(acceptance.suspects[5], acceptance), HasSubstr("transceiver"));
  EXPECT_THAT(advice_text(acceptance.suspects[6], acceptance), HasSubstr("fix what differs"));
}

TEST(AdviceText, ClearsTheNodesOfALinkOnlyWhereAllElseOfThemIsGood) {
  const Suspect link{.nodes = {"a", "b"}};
  Acceptance acceptance{.suspects = {link}, .nodes = {{"a"}, {"b"}, {"c"}}};
  const auto advice = [&] { return advice_text(link, acceptance); };
  acceptance.verdicts = {sample_verdict("r", "pairs", {"a", "b"}, 1, 10, Outcome::Fail),
                         sample_verdict("r", "pairs", {"a"}, 10, 10, Outcome::Pass)};
  EXPECT_THAT(advice(), HasSubstr("and both nodes")) << "nothing is known of b";
  acceptance.verdicts.push_back(sample_verdict("r", "pairs", {"b"}, 10, 10, Outcome::Pass));
  EXPECT_THAT(advice(), HasSubstr("all else of both nodes is good"));
  acceptance.suspects.push_back({.nodes = {"b", "c"}});
  EXPECT_THAT(advice(), HasSubstr("and both nodes")) << "another link of b is blamed";
  acceptance.suspects.pop_back();
  acceptance.verdicts[2].outcome = Outcome::Inconclusive;
  EXPECT_THAT(advice(), HasSubstr("and both nodes"));
  acceptance.nodes.pop_back();
  EXPECT_THAT(advice(), HasSubstr("with a third node"));
}

TEST(VerdictHtml, HasNodesThatDoNotAnswerAmongTheSuspects) {
  const std::string page = verdict_html(many_faults(), sample_specification(6));
  EXPECT_THAT(page, AllOf(HasSubstr(">h1 does not answer (nothing within 6 s)<"),
                          HasSubstr(">check power and network, and that you can log in<"),
                          HasSubstr(">link flapped<")));
  EXPECT_EQ(listed_nodes<NodeState::Failed>(many_faults(), {}), "h2\n");
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
  const std::string failed = heat_map({20}, Outcome::Fail).caption;
  EXPECT_THAT(failed, AllOf(HasSubstr("Red strokes"), Not(HasSubstr("Hatched"))));
  const std::string missing = heat_map({20, std::nan("")}, Outcome::Pass).caption;
  EXPECT_THAT(missing, AllOf(HasSubstr("Hatched: no data"), Not(HasSubstr("Red strokes"))));
}

TEST(HeatMaps, AreOfPairsOnlyAndOfThreeNodesAtLeastAndWaterfallsOfWhatWasMeasured) {
  const Acceptance acceptance = sample_acceptance(6);
  EXPECT_EQ(heat_maps(acceptance, sample_specification(6)).size(), 1U);
  EXPECT_THAT(heat_maps(acceptance, sample_specification(2)), IsEmpty());
  EXPECT_EQ(waterfalls(acceptance, "intra").size(), 1U);
  EXPECT_THAT(waterfalls(acceptance, "one-rank"), IsEmpty());
}

TEST(Waterfalls, OfManyShowWhatIsNotPassAndTheEndsOfTheOthers) {
  Acceptance acceptance;
  for (int i = 0; i < 30; ++i) {
    acceptance.verdicts.push_back(sample_verdict("r", "pairs", {fmt::format("p{}", i)}, 10 + i, 20,
                                                 i % 10 == 0 ? Outcome::Fail : Outcome::Pass));
  }
  const Figure figure = waterfalls(acceptance, "r").at(0);
  EXPECT_THAT(figure.chart.panels.at(0).y.names, ElementsAre("p0", "p1", "p10", "p20", "p29"));
  EXPECT_THAT(figure.caption, HasSubstr("5 of 30 are shown"));
  acceptance.verdicts.resize(24);
  EXPECT_EQ(waterfalls(acceptance, "r").at(0).chart.panels.at(0).y.names.size(), 24U);
}

}  // namespace
}  // namespace busbar::judge

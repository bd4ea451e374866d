// SPDX-License-Identifier: BSD-3-Clause
#include <nlohmann/json.hpp>

#include "judge/output/describe.hpp"
#include "judge/output/verdict_output.hpp"
#include "tests/unit/judge/judge_case.hpp"
#include "tests/unit/judge/output/sample_acceptance.hpp"

namespace busbar::judge {
namespace {

const Specification kSpecification = sample_specification(6);

/// With text that breaks careless writers.
Acceptance nasty_acceptance() {
  Acceptance acceptance = sample_acceptance(6);
  acceptance.verdicts.front().outcome = Outcome::Error;
  acceptance.verdicts.front().reason = "a \"b\", <c> & \x01\x1b[31m \xff\nsecond line \\";
  acceptance.verdicts.front().value = std::numeric_limits<double>::quiet_NaN();
  return acceptance;
}

std::vector<std::string> lines_with(const std::string& text, const std::string& start) {
  return filtered(split(text, '\n'), [&](const std::string& l) { return l.starts_with(start); });
}

std::size_t times(const std::string& text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) {
    ++count;
  }
  return count;
}

TEST(VerdictCsv, HasTheColumnsThatReadersKnowThenOursAndNothingInCellsWithoutAValue) {
  const std::string text = verdict_csv(sample_acceptance(6), kSpecification);
  EXPECT_THAT(text, StartsWith("# system: pod \"a\" <1>\n# specification: accept.toml\n"
                               "# profile: standard\n# busbar: 0.6.0\n"));
  EXPECT_THAT(text, HasSubstr("\n# overall: FAIL\n"));
  EXPECT_THAT(text,
              HasSubstr("\nrule,device_set,collective,dtype,size_bytes,metric,unit,statistic,"
                        "n_launches,value,cv,reference,reference_kind,ratio,fail_below,fail_above,"
                        "verdict,reason,attempts,instance,nodes,warn_below,warn_above,values\n"));
  EXPECT_THAT(text, HasSubstr("\none-rank,all,allreduce,float,8,time_us,us,p99,0,,,,baseline "
                              "runs/october,,,,SKIP,one rank has no bus bandwidth,3,all,"
                              "h0 h1 h2 h3 h4 h5,,,\n"));
  EXPECT_THAT(verdict_csv(nasty_acceptance(), kSpecification), Not(HasSubstr("nan")));
}

TEST(VerdictCsv, QuotesAsRfc4180WantsItAndKeepsOneLine) {
  const std::string text = verdict_csv(nasty_acceptance(), kSpecification);
  EXPECT_THAT(text, HasSubstr(",ERROR,\"a \"\"b\"\", <c> & "));
  EXPECT_THAT(text, HasSubstr(" second line \\\","));
}

TEST(VerdictJson, HasEveryVerdictAndBothExitCodes) {
  const auto json = nlohmann::json::parse(verdict_json(sample_acceptance(6), kSpecification));
  EXPECT_EQ(json["schema"], 1);
  EXPECT_EQ(json["overall"], "FAIL");
  EXPECT_EQ(json["exit_code"], 1);
  EXPECT_EQ(json["verdicts"].size(), 23U);
  EXPECT_EQ(json["verdicts"][2]["bounds"]["fail_below"], 0.9);
  EXPECT_TRUE(json["verdicts"][2]["bounds"]["warn_above"].is_null());
  EXPECT_EQ(json["suspects"][1]["kind"], "link");
  EXPECT_EQ(json["nodes"].size(), 6U);
  EXPECT_EQ(json["counts"]["FAIL"], 7);
  EXPECT_EQ(json["contract"]["fingerprint"]["gpu"], "NVIDIA H200");
  EXPECT_TRUE(json["contract"]["rules"][0]["source"].is_null());
}

TEST(VerdictJson, HasTheAlternativesOfAFingerprint) {
  Specification specification = kSpecification;
  specification.system.fingerprint["gpu"] = {"A", "B"};
  const auto json = nlohmann::json::parse(verdict_json({}, specification));
  EXPECT_EQ(json["contract"]["fingerprint"]["gpu"], "A or B");
}

TEST(VerdictJson, IsValidWhateverAReasonHolds) {
  const auto json = nlohmann::json::parse(verdict_json(nasty_acceptance(), kSpecification));
  EXPECT_TRUE(json["verdicts"][0]["value"].is_null());
}

TEST(VerdictJunit, CountsItsCasesAndNamesThemByWhatDoesNotChangeBetweenRuns) {
  const std::string text = verdict_junit(sample_acceptance(6), kSpecification);
  EXPECT_THAT(text, HasSubstr("<testsuite name=\"node8\" tests=\"6\" failures=\"1\" errors=\"1\" "
                              "skipped=\"1\" timestamp=\"2026-11-21T12:30:00\">"));
  EXPECT_THAT(text, HasSubstr("<testsuite name=\"pairs\" tests=\"15\" failures=\"5\" errors=\"1\" "
                              "skipped=\"0\""));
  EXPECT_EQ(times(text, "<testcase "), 23U);
  EXPECT_EQ(times(text, "<failure "), 7U);
  EXPECT_EQ(times(text, "<error "), 2U);
  EXPECT_EQ(times(text, "<skipped "), 2U);
  EXPECT_EQ(times(text, "<system-out>WARN 448 GB/s (bound 427.5..498.8): below"), 1U);
  EXPECT_THAT(text, HasSubstr("<testcase classname=\"accept.node8\" name=\"intra h1 allreduce 8 "
                              "GiB\">"));
  EXPECT_THAT(text, HasSubstr("<property name=\"intra h1 allreduce 8 GiB\" value=\"verdict=WARN "
                              "value=448 unit=GB/s reference=475 "));
}

TEST(VerdictJunit, HasNoCharacterThatXmlForbids) {
  const std::string text = verdict_junit(nasty_acceptance(), kSpecification);
  for (const char* forbidden : {"&#1;", "&#01;"}) EXPECT_THAT(text, Not(HasSubstr(forbidden)));
  EXPECT_TRUE(std::none_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20U && c != '\n';
  }));
  EXPECT_THAT(text, HasSubstr("&lt;c"));
}

TEST(VerdictJunit, IsAnErrorWhereANodeIsMissing) {
  Acceptance silent = sample_acceptance(6);
  silent.nodes.pop_back();
  EXPECT_THAT(verdict_junit(silent, kSpecification), HasSubstr("missing: h5"));
}

TEST(VerdictPrometheus, HasEachMetricOnceAndNoSeriesTwice) {
  Acceptance acceptance = sample_acceptance(6);
  const std::vector<CheckResult> again = acceptance.verdicts;
  acceptance.verdicts.insert(acceptance.verdicts.end(), again.begin(), again.end());
  const std::string text = verdict_prometheus(acceptance, kSpecification);
  std::set<std::string> series;
  for (const std::string& line : lines_with(text, "interconnect_")) {
    EXPECT_TRUE(series.insert(line.substr(0, line.rfind(' '))).second) << line;
  }
  EXPECT_EQ(lines_with(text, "# TYPE interconnect_busbw_gbytes_per_second gauge").size(), 1U);
  EXPECT_THAT(text, HasSubstr("interconnect_last_run_timestamp_seconds{system=\"pod \\\"a\\\" "
                              "<1>\"} 1795264200\n"));
}

TEST(VerdictPrometheus, EscapesLabelsAndLeavesGapsOut) {
  Acceptance acceptance = nasty_acceptance();
  acceptance.verdicts.front().instance = "a\\b\"c\nd";
  const std::string text = verdict_prometheus(acceptance, kSpecification);
  EXPECT_THAT(text, HasSubstr("instance=\"a\\\\b\\\"c d\",verdict=\"ERROR\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
  EXPECT_THAT(text, Not(testing::ContainsRegex("busbw[^\n]*instance=\"a")));
}

TEST(VerdictPrometheus, KeepsSecondsForTimesAndRatiosToTheReference) {
  const std::string text = verdict_prometheus(sample_acceptance(6), kSpecification);
  EXPECT_THAT(text, testing::ContainsRegex("interconnect_time_seconds\\{[^\n]*\\} 2.14e-05\n"));
  EXPECT_THAT(
      text, testing::ContainsRegex("interconnect_reference_ratio\\{[^\n]*latency[^\n]*\\} 1.507"));
}

TEST(VerdictPrometheus, HasSeriesOfLargeSetsOnlyForWhatIsNotPass) {
  const std::string text = verdict_prometheus(sample_acceptance(64), sample_specification(64));
  EXPECT_LT(lines_with(text, "interconnect_").size(), 400U);
  EXPECT_THAT(text, HasSubstr("rule=\"pair-floor\",verdict=\"PASS\"} 1952\n"));
  EXPECT_THAT(text, HasSubstr("rule=\"pair-floor\",instance=\"h2+h60\",verdict=\"FAIL\"} 1\n"));
  EXPECT_THAT(text, Not(HasSubstr("h59+h60")));
}

TEST(EveryOutput, SaysThatNothingWasJudged) {
  EXPECT_THAT(verdict_junit({}, {}), HasSubstr("message=\"ERROR: no rule was judged\""));
  EXPECT_THAT(verdict_markdown({}, {}), HasSubstr("No rule was judged."));
  EXPECT_THAT(verdict_text({}, {}),
              AllOf(HasSubstr("No rule was judged.\n"), EndsWith("Overall: ERROR (exit 4)\n")));
  EXPECT_EQ(cause_text({}), "No rule was judged.");
}

TEST(EveryOutput, HasTheSourceOfARule) {
  Specification specification = kSpecification;
  specification.rules[0].source = "a guide";
  specification.rules[0].value = 475;
  specification.rules[0].bounds.fail_below = 0.96;
  specification.rules[1].source = "a table";
  Acceptance acceptance = sample_acceptance(6);
  EXPECT_THAT(verdict_markdown(acceptance, specification), HasSubstr("| a guide |"));
  EXPECT_THAT(verdict_html(acceptance, specification),
              AllOf(HasSubstr(">a guide<"), HasSubstr("Reference: absolute"),
                    HasSubstr(". Source: a guide")));
  const auto json = nlohmann::json::parse(verdict_json(acceptance, specification));
  EXPECT_EQ(json["contract"]["rules"][0]["rule"], "intra");
  EXPECT_EQ(json["contract"]["rules"][0]["source"], "a guide");
  acceptance.verdicts.resize(6);  // text has it where a rule is not PASS, or is asked for all
  EXPECT_THAT(verdict_text(acceptance, specification),
              AllOf(HasSubstr("\nSources\n  intra (absolute 475 GB/s): a guide\n"),
                    Not(HasSubstr("a table"))));
  EXPECT_THAT(verdict_text(acceptance, specification, {.all_sources = true}), HasSubstr("a table"));
}

TEST(EveryOutput, IsBoundedWhateverIsWrongWithAFleet) {
  const auto one_of_each = [](int nodes) {
    Acceptance acceptance;
    for (int node = 0; node < nodes; ++node) {
      const std::string host = fmt::format("n{}", node);
      const Outcome outcome = node == nodes - 1 ? Outcome::Fail : Outcome::Inconclusive;
      acceptance.verdicts.push_back({.rule = "odd",
                                     .device_set = "pairs",
                                     .instance = host,
                                     .nodes = {host},
                                     .collective = "allreduce",
                                     .outcome = outcome,
                                     .reason = "noisy"});
      acceptance.nodes.push_back(
          {host, NodeState::Inconclusive, fmt::format("odd on {}: noisy", host)});
    }
    return acceptance;
  };
  const Acceptance large = one_of_each(2000);
  const std::string junit = verdict_junit(large, {});
  EXPECT_EQ(times(junit, "<testcase "), 501U) << "and one for the others";
  EXPECT_THAT(junit, HasSubstr("1500 more INCONCLUSIVE"));
  EXPECT_THAT(junit, HasSubstr("odd n1999"));
  const std::string metrics = verdict_prometheus(large, {});
  EXPECT_LT(lines_with(metrics, "interconnect_").size(), 2100U);
  EXPECT_THAT(
      metrics,
      HasSubstr("interconnect_nodes{system=\"unnamed system\",state=\"inconclusive\"} 2000"));
  const std::string text = verdict_text(large, {}, {});
  EXPECT_THAT(text, HasSubstr("n[0-1999] inconclusive: odd: noisy\n"));
  EXPECT_LT(std::ranges::count(text, '\n'), 20);
}

TEST(EveryOutput, BlamesANodeWithWrongDataForThemAndNotForItsRate) {
  JudgeCase one = pairs_case(4, RuleKind::Absolute, [](auto, auto) { return 802; });
  one.rule().bounds = {.fail_below = 0.9};
  one.specification.system = {.name = "pod", .nodes = one.nodes};
  for (const char* pair : {"h1+h2", "h2+h3", "h2+h4"})
    one.each([](Record& r) { r.wrong = 1; }, pair);
  Acceptance acceptance = one.judged();
  for (CheckResult& result : acceptance.verdicts) {
    if (result.decided_by == DecidedBy::WrongData) result.ratio = 0.737;
  }
  EXPECT_THAT(verdict_text(acceptance, one.specification, {}), Not(HasSubstr("0.737")));
  for (const std::string& text :
       {verdict_text(acceptance, one.specification, {}), verdict_csv(acceptance, one.specification),
        verdict_json(acceptance, one.specification), verdict_junit(acceptance, one.specification),
        verdict_markdown(acceptance, one.specification),
        verdict_html(acceptance, one.specification)}) {
    EXPECT_GE(times(text, "wrong data in 3 of 3 pairs (h1+h2: 1 wrong element)"), 1U) << text;
    for (const char* rate : {"pairs low", "802 %", "FAIL 802"})
      EXPECT_EQ(times(text, rate), 0U) << rate;
  }
  const std::string metrics = verdict_prometheus(acceptance, one.specification);
  EXPECT_THAT(metrics, HasSubstr(R"(wrong_data{system="pod",rule="floor",instance="h2"} 1)"));
  EXPECT_THAT(metrics, HasSubstr(R"(interconnect_node_wrong_data{system="pod",node="h2"} 1)"));
  EXPECT_EQ(times(metrics, "interconnect_busbw_gbytes_per_second{"), 3U) << "of right data only";
  EXPECT_EQ(times(metrics + verdict_junit(acceptance, one.specification), "0.737"), 0U);
}

}  // namespace
}  // namespace busbar::judge

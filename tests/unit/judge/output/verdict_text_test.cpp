// SPDX-License-Identifier: BSD-3-Clause
#include "judge/output/describe.hpp"
#include "judge/output/verdict_output.hpp"
#include "tests/unit/judge/output/sample_acceptance.hpp"

namespace busbar::judge {
namespace {

using testing::ContainsRegex;

std::string text_of(const Acceptance& acceptance, std::size_t nodes = 6) {
  return verdict_text(acceptance, sample_specification(nodes));
}
std::string text_of(std::size_t nodes) { return text_of(sample_acceptance(nodes), nodes); }

TEST(VerdictText, EndsWithTheOverallOutcomeAndItsExitCode) {
  EXPECT_THAT(text_of(6), EndsWith("\nOverall: FAIL (exit 1); bad: h2 slow, link h0 - h5 slow\n"));
  Acceptance warned = sample_acceptance(6);
  warned.verdicts.resize(2);
  warned.suspects.clear();
  EXPECT_THAT(text_of(warned), EndsWith("1 WARN, 1 PASS\nOverall: WARN (exit 0)\n"));
  EXPECT_THAT(verdict_text(sample_acceptance(6), sample_specification(6), {.page = "run/p.html"}),
              EndsWith("bad: h2 slow, link h0 - h5 slow; run/p.html\n"));
  EXPECT_THAT(verdict_text(warned, sample_specification(6), {.strict = true}),
              EndsWith("Overall: WARN (exit 1)\n"));
}

TEST(VerdictText, HasALineOfEachResultThatIsNotPassOneOfLongListsOfPassesSuspectsAndEachNode) {
  const std::string text = text_of(6);
  EXPECT_THAT(text, ContainsRegex("intra +h2 +allreduce +8 GiB +301.5 +GB/s +427.5..498.8 "
                                  "+0.635 +FAIL\n +below 427.5 GB/s\n"));
  EXPECT_THAT(text, ContainsRegex("latency .*21.4 +us +<= 17.75 +1.507 +FAIL"));
  EXPECT_THAT(text, ContainsRegex("9 of 15 instances +alltoall +1 GiB +11.9..12.25 .*PASS"));
  EXPECT_THAT(text, AllOf(HasSubstr("h0+h2"), Not(HasSubstr("h0+h1 "))));
  EXPECT_THAT(text, HasSubstr("  node h2  pair-floor: 5 of 5 pairs low, median 3.1 GB/s, 26 % of"));
  EXPECT_THAT(text, HasSubstr("  link h0 - h5  pair-floor: no data of this pair\n"));
  EXPECT_THAT(text, HasSubstr("6 of 6 nodes accounted for: good h0 h1 h3 h5; failed h2; "
                              "inconclusive h4\n"));
  for (const std::string& line : split(text, '\n')) EXPECT_LE(line.size(), 120U) << line;
  Acceptance silent = sample_acceptance(6);
  silent.nodes.pop_back();
  EXPECT_THAT(text_of(silent), HasSubstr("5 of 6 nodes accounted for: good h0 h1 h3; failed h2; "
                                         "inconclusive h4; MISSING h5\n"));
}

TEST(VerdictText, HasALongReasonOfAnInstanceOnceAndNothingBehindLongLinesWithoutOne) {
  Acceptance acceptance = sample_acceptance(6);
  acceptance.verdicts.resize(3);
  acceptance.verdicts.push_back(acceptance.verdicts[2]);
  acceptance.verdicts.back().rule = "other";
  for (CheckResult& result : acceptance.verdicts) result.reason = std::string(80, 'x');
  EXPECT_THAT(text_of(acceptance), ContainsRegex("\n    x+\nother +h2 .* FAIL  as above\n"));
  acceptance.verdicts.assign(2, acceptance.verdicts[2]);
  for (CheckResult& result : acceptance.verdicts) {
    result.rule = std::string(80, 'r');
    result.reason.clear();
  }
  EXPECT_THAT(text_of(acceptance), Not(HasSubstr("as above")));
}

TEST(VerdictText, ShortensLongNamesInTablesUntilTwoWouldBeOne) {
  Acceptance acceptance;
  for (const char* middle : {"1", "2"}) {
    const std::string node = std::string(60, 'a') + middle + std::string(60, 'z');
    acceptance.verdicts.push_back(
        sample_verdict("intra", "node8", {node}, 400, 475, Outcome::Fail));
    acceptance.nodes.push_back({node, NodeState::Failed, "slow"});
  }
  const auto widest = [&] {
    std::size_t most = 0;
    for (const std::string& line : split(text_of(acceptance), '\n')) {
      if (line.starts_with("intra ")) most = std::max(most, line.size());
    }
    return most;
  };
  EXPECT_GT(widest(), 121U) << "nothing shorter is unambiguous";
  acceptance.nodes.resize(1);
  acceptance.verdicts.resize(1);
  EXPECT_LT(widest(), 110U);
  EXPECT_THAT(text_of(acceptance), HasSubstr(" aaaaaaaaaaa...zzzzzzzzzz "));
  EXPECT_THAT(text_of(acceptance), HasSubstr("failed " + acceptance.nodes[0].node));
  EXPECT_THAT(verdict_csv(acceptance, sample_specification(6)),
              HasSubstr(acceptance.nodes[0].node));
  std::size_t most = 0;
  for (acceptance.verdicts[0].reason = "x"; acceptance.verdicts[0].reason.size() < 60;) {
    acceptance.verdicts[0].reason += "x";
    most = std::max(most, widest());
  }
  EXPECT_EQ(most, 110U) << "a reason is on the line of its rule while both fit";
}

TEST(VerdictText, NamesEachNodeOnceByItsWorstDefectAndThoseThatDoNotAnswer) {
  const Acceptance acceptance = many_faults();
  EXPECT_THAT(text_of(acceptance),
              EndsWith("(exit 1); bad: h3 wrong data, h2 slow, h5 link flapped, h0 mtu and 1 more; "
                       "h1 does not answer\n"));
  EXPECT_THAT(text_of(acceptance),
              HasSubstr("\nSuspects\n  node h3  floor: 1 byte; also by outlier\n  node h3  floor: "
                        "half\n  node h2  floor: half; also by outlier\n  node h5  flaps: "));
  EXPECT_THAT(text_of(acceptance), HasSubstr("\n  h1 does not answer: check power and network"));
  Acceptance silent = acceptance;
  silent.suspects.clear();
  EXPECT_THAT(text_of(silent), HasSubstr("no single node or link stands out"));
  EXPECT_THAT(text_of(silent), EndsWith("(exit 1); h1 does not answer\n"));
  silent.nodes[1].state = NodeState::Good;
  EXPECT_THAT(text_of(silent), EndsWith("(exit 1)\n")) << "it did before";
}

TEST(VerdictText,
     PutsNodesWithOneEvidenceOnOneLineAndUnlessTheyAreSuspectThoseThatDifferInNumbers) {
  Acceptance acceptance = sample_acceptance(6);
  for (NodeAccount& account : acceptance.nodes) {
    account.state = NodeState::Suspect;
    account.evidence = "all on all: 100 GB/s is 22 %";
  }
  EXPECT_THAT(text_of(acceptance), HasSubstr("\n  h0 h1 h2 h3 h4 h5 suspect: all on all: 100 "));
  for (std::size_t i = 0; i < 6; ++i) {
    if (i < 4) acceptance.nodes[i].state = NodeState::NoData;
    acceptance.nodes[i].evidence = fmt::format("nothing within {} s", 1.5 * static_cast<double>(i));
  }
  EXPECT_THAT(text_of(acceptance),
              HasSubstr("\n  h0 h1 h2 h3 no data: e.g. nothing within 0 s\n  h4 suspect: nothing "
                        "within 6 s\n  h5 suspect: "));
}

TEST(Listing, KeepsTheOrderAndCutsEndlessLists) {
  Acceptance acceptance;
  for (int i = 0; i < 100; ++i) {
    acceptance.verdicts.push_back(
        sample_verdict("r", "pairs", {"a", fmt::format("b{}", i)}, 1, 10, Outcome::Fail));
    acceptance.verdicts.back().reason = fmt::format("reason {}", i);
  }
  const std::vector<ListedRow> rows = list_rows(acceptance, sample_specification(6));
  ASSERT_EQ(rows.size(), 41U);
  EXPECT_EQ(rows.front().instance, "a+b0");
  EXPECT_EQ(rows.back().instance, "60 more instances");
  EXPECT_EQ(rows.back().outcome, Outcome::Fail);
}

TEST(Listing, SumsUpResultsWithoutAnAnswerWhoseReasonsDifferInNumbers) {
  for (const auto& [outcome, rows] : {std::pair{Outcome::Inconclusive, 2U},
                                      {Outcome::Error, 2U},
                                      {Outcome::Skip, 2U},
                                      {Outcome::Warn, 6U},
                                      {Outcome::Fail, 6U}}) {
    Acceptance acceptance;
    for (int i = 0; i < 6; ++i) {
      acceptance.verdicts.push_back(
          sample_verdict("r", "pairs", {fmt::format("h{}", i)}, 1 + i, 10, outcome));
      acceptance.verdicts.back().reason =
          i == 5 ? "another" : fmt::format("noisy: cv {:g} %", 5 + 0.5 * i);
    }
    const std::vector<ListedRow> listed = list_rows(acceptance, sample_specification(6));
    ASSERT_EQ(listed.size(), rows) << name(outcome);
    if (rows == 6) continue;
    EXPECT_EQ(listed[0].instance, "5 of 6 nodes");
    EXPECT_EQ(listed[0].reason, "e.g. noisy: cv 5 %");
    acceptance.verdicts.pop_back();
    acceptance.verdicts.pop_back();
    EXPECT_EQ(list_rows(acceptance, sample_specification(6)).size(), 4U);
  }
}

TEST(Describe, SizesAreExact) {
  EXPECT_EQ(size_text(16 * kMiB), "16 MiB");
  EXPECT_EQ(size_text(1025), "1025 B");
  EXPECT_EQ(size_text(kMiB + 4), "1048580 B");
  EXPECT_EQ(size_text(3 * kGiB / 2), "1.5 GiB");
}

TEST(Describe, LeavesGapsForWhatIsNoNumber) {
  EXPECT_EQ(figure(std::nullopt), "");
  EXPECT_EQ(figure(std::numeric_limits<double>::quiet_NaN()), "");
  EXPECT_EQ(finite(std::numeric_limits<double>::infinity()), std::nullopt);
  EXPECT_EQ(figure(1234.5), "1234");
  EXPECT_EQ(figure(12.345), "12.35");
  EXPECT_EQ(exact(0.1), "0.1");
}

}  // namespace
}  // namespace busbar::judge

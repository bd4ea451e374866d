// SPDX-License-Identifier: BSD-3-Clause
#include "study/report_findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "study/report_topology.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

Record row(const std::string& collective, int ranks, Bytes size, double busbw) {
  return {.collective = collective,
          .backend = "sim",
          .ranks = ranks,
          .nodes = 1,
          .type = "float",
          .size = size,
          .time_median_us = 1,
          .busbw_GBps = busbw};
}

Dataset run_of(const std::string& system, std::vector<Record> records) {
  return {.path = "/tmp/" + system + ".csv",
          .label = system,
          .facts = {{"system", system}},
          .records = std::move(records),
          .simulated = true};
}

/// What arXiv 1905.08764 tells of the all-reduce at 1 GB, and its broadcast around the crossing.
ReportData papers() {
  constexpr const char* kAr = "allreduce";
  constexpr const char* kBc = "broadcast";
  return make_report_data(
      {run_of("dgx-2", {row(kAr, 2, kGiB, 120), row(kAr, 4, kGiB, 121), row(kAr, 8, kGiB, 120),
                        row(kAr, 16, kGiB, 118), row(kBc, 8, 256 * kMiB, 117),
                        row(kBc, 8, 512 * kMiB, 118)}),
       run_of("p3dn", {row(kAr, 2, kGiB, 20), row(kAr, 4, kGiB, 80), row(kAr, 8, kGiB, 130),
                       row(kBc, 8, 256 * kMiB, 110), row(kBc, 8, 512 * kMiB, 124)}),
       run_of("ac922", {row(kAr, 2, kGiB, 70), row(kAr, 4, kGiB, 30)})},
      {});
}

TEST(Findings, NameTheFastestAtEachNumberOfRanks) {
  const std::vector<std::string> found = fastest_findings(papers());
  EXPECT_THAT(found, Contains(HasSubstr("all-reduce, 8 ranks, 1 GiB: dgx-1v is fastest with 130")));
  EXPECT_THAT(found, Contains(HasSubstr("all-reduce, 2 ranks, 1 GiB: dgx-2 is fastest with 120")));
  EXPECT_THAT(found, Not(Contains(HasSubstr("16 ranks"))));  // one system alone beats nobody
  for (const std::string& words : found) EXPECT_THAT(words, HasSubstr("simulated")) << words;
}

TEST(Findings, TellWhereTheLeadChanges) {
  EXPECT_THAT(crossing_findings(papers()),
              ElementsAre("simulated broadcast, 8 ranks: dgx-1v overtakes dgx-2 between 256 MiB "
                          "and 512 MiB"));
}

TEST(Findings, TellHowRatesGoWithRanks) {
  const std::vector<std::string> found = trend_findings(papers());
  EXPECT_THAT(found, Contains(HasSubstr("dgx-2 (simulated) is flat")));
  EXPECT_THAT(found, Contains(HasSubstr("dgx-1v (simulated) is rising")));
  EXPECT_THAT(found, Contains(HasSubstr("ac922 (simulated) is falling with the number of ranks: "
                                        "70 (2), 30 (4) GB/s")));
}

TEST(Findings, TellWhatIsLowOrSuspect) {
  EXPECT_THAT(share_findings(papers()), IsEmpty());
  const ReportData odd = make_report_data(
      {run_of("dgx-2", {row("allreduce", 2, kMiB, 60), row("allreduce", 4, kMiB, 200)})}, {});
  const std::vector<std::string> found = share_findings(odd);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_THAT(found[0], HasSubstr("40 % of its bound"));
  EXPECT_THAT(found[0], HasSubstr("low"));
  EXPECT_THAT(found[1], HasSubstr("more than the links allow"));
}

TEST(Findings, TellWhatLimitsAndWhatToAvoid) {
  const ReportData data = make_report_data({}, {topo::load_system("dgx-1v")});
  EXPECT_THAT(limit_findings(data.systems[0]),
              Contains("dgx-1v with its first 5 GPUs: no NVLink ring closes; PCIe 3.0 x16 into "
                       "PLX2 limits them to 31.5 GB/s over nvlink+pcie"));
  EXPECT_THAT(avoid_findings(data.systems[0]),
              Contains(HasSubstr("4 GPUs: avoid {0,1,2,7} and 9 sets like it: 15.75 GB/s")));
  const ReportData even = make_report_data({}, {topo::load_system("dgx-2")});
  EXPECT_THAT(avoid_findings(even.systems[0]), IsEmpty());
  EXPECT_THAT(limit_findings(even.systems[0]),
              ElementsAre(HasSubstr("first 2, 4, 8 and 16 GPUs: NVLink 2 of every GPU")));
}

TEST(Findings, ToldOfTopologiesNeedNoCurves) {
  const ReportData data =
      make_report_data({}, {topo::load_system("dgx-1v"), topo::load_system("dgx-2")});
  EXPECT_THAT(topology_findings(data),
              Contains("8 devices, best set of each: dgx-1v and dgx-2 reach 150 GB/s"));
  EXPECT_THAT(
      topology_findings(data),
      Contains("4 devices, best set of each: dgx-2 reaches 150 GB/s; behind: dgx-1v 100"));
}

TEST(Warnings, TellWhatMakesAComparisonUnsafe) {
  Dataset old = run_of("dgx-2", {row("allreduce", 2, kGiB, 120)});
  Dataset young = run_of("ac922", {row("allreduce", 2, kGiB, 70)});
  for (Dataset* run : {&old, &young}) run->simulated = false;
  old.facts["library"] = "NCCL 2.3.7";
  young.facts["library"] = "NCCL 2.4.7";
  const ReportData data = make_report_data({old, young}, {});
  EXPECT_THAT(comparison_warnings(data),
              ElementsAre(HasSubstr("differ in library: NCCL 2.3.7 (dgx-2); NCCL 2.4.7 (ac922)")));
  young.simulated = true;
  EXPECT_THAT(comparison_warnings(make_report_data({old, young}, {})),
              ElementsAre(HasSubstr("stand side by side: measured medians (dgx-2); "
                                    "simulated (ac922)")));
  const ReportData unknown =
      make_report_data({run_of("mine", {row("allreduce", 2, kGiB, 70)})}, {});
  EXPECT_THAT(comparison_warnings(unknown), IsEmpty());
  EXPECT_THAT(systems_without_topology(unknown), ElementsAre("mine"));
}

TEST(ReportData, TakesTheMedianOfLaunchesAndKeepsGaps) {
  Record skipped = row("allreduce", 2, 2 * kMiB, 0);
  skipped.status = RowStatus::Skipped;
  const ReportData data = make_report_data(
      {run_of("mine", {row("allreduce", 2, kMiB, 10), row("allreduce", 2, kMiB, 30),
                       row("allreduce", 2, kMiB, 11), skipped})},
      {});
  ASSERT_EQ(data.panels.size(), 1U);
  ASSERT_EQ(data.panels[0].lines.size(), 1U);
  const ReportLine& line = data.panels[0].lines[0];
  EXPECT_EQ(rate_at(line, kMiB), 11);
  EXPECT_EQ(rate_at(line, 2 * kMiB), std::nullopt);
  EXPECT_THAT(line.gaps, ElementsAre(2 * kMiB));
}

TEST(ReportData, ReadsNoFileThatACsvNames) {
  const ReportData data = make_report_data({run_of("./secret.toml", {})}, {});
  ASSERT_EQ(data.systems.size(), 1U);
  EXPECT_FALSE(data.systems[0].graph.has_value());
}

Trend of(const std::vector<double>& rates) { return trend_of(rates); }

TEST(Trend, OfThePapersSystems) {
  EXPECT_EQ(of({120, 121, 119, 117}), Trend::Flat);  // DGX-2 at 2, 4, 8, 16
  EXPECT_EQ(of({20, 80, 130}), Trend::Rising);       // P3 at 2, 4, 8
  EXPECT_EQ(of({70, 30}), Trend::Falling);           // AC922 at 2, 4
}

TEST(Trend, IsFlatUpToFivePercentOfTheGreatest) {
  EXPECT_EQ(of({100, 95}), Trend::Flat);
  EXPECT_EQ(of({100, 94.9}), Trend::Falling);
  EXPECT_EQ(of({94.9, 100}), Trend::Rising);
}

TEST(Trend, IsMixedWhereItGoesBothWays) {
  EXPECT_EQ(of({50, 25, 100}), Trend::Mixed);
  EXPECT_EQ(of({50, 100, 50}), Trend::Mixed);
}

TEST(Trend, NeedsTwoNumbersOfRanks) {
  EXPECT_EQ(of({}), Trend::None);
  EXPECT_EQ(of({5}), Trend::None);
  EXPECT_EQ(name(Trend::None), "");
  EXPECT_EQ(name(Trend::Mixed), "mixed");
}

TEST(Spread, IsOfTheGreatest) {
  EXPECT_DOUBLE_EQ(spread_of(std::vector<double>{80, 100, 90}), 0.2);
  EXPECT_DOUBLE_EQ(spread_of(std::vector<double>{3}), 0);
}

using Points = std::vector<SizePoint>;

std::vector<Crossing> crossings(const std::vector<Points>& curves, double level = kLevel) {
  return busbar::crossings(std::span<const Points>(curves), level);
}

TEST(Crossings, LieBetweenTheLastSizeOfTheOldLeaderAndTheFirstOfTheNew) {
  // the broadcast of arXiv 1905.08764, figure 2: P3 passes DGX-2 beyond 256 MB
  const Points p3{
      {64 * kMiB, 90}, {128 * kMiB, 104}, {256 * kMiB, 112}, {512 * kMiB, 124}, {kGiB, 128}};
  const Points dgx2{
      {64 * kMiB, 110}, {128 * kMiB, 114}, {256 * kMiB, 117}, {512 * kMiB, 118}, {kGiB, 119}};
  const std::vector<Crossing> found = crossings({p3, dgx2});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].after, 256 * kMiB);
  EXPECT_EQ(found[0].until, 512 * kMiB);
  EXPECT_EQ(found[0].winner, 0U);
  const std::vector<Crossing> turned = crossings({dgx2, p3});
  ASSERT_EQ(turned.size(), 1U);
  EXPECT_EQ(turned[0].winner, 1U);
}

TEST(Crossings, AreNoneWhereOneAlwaysLeads) {
  EXPECT_TRUE(crossings({Points{{1, 2}, {2, 3}}, Points{{1, 1}, {2, 2}}}).empty());
  EXPECT_TRUE(crossings({Points{}, Points{{1, 1}}}).empty());
}

TEST(Crossings, WidenOverSizesAtWhichBothAreLevel) {
  const Points rising{{1, 10}, {2, 20}, {4, 30.1}, {8, 50}};
  const Points even{{1, 30}, {2, 30}, {4, 30}, {8, 30}};
  const std::vector<Crossing> found = crossings({rising, even});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].after, 2U);
  EXPECT_EQ(found[0].until, 8U);
  // without a margin the lead passes at 4
  EXPECT_EQ(crossings({rising, even}, 0)[0].until, 4U);
}

TEST(Crossings, UseSizesOfBothOnly) {
  const Points one{{1, 10}, {2, 99}, {4, 10}};
  const Points other{{1, 20}, {4, 20}};
  EXPECT_TRUE(crossings({one, other}).empty());
}

TEST(Crossings, MayBeSeveral) {
  const Points one{{1, 10}, {2, 30}, {4, 10}};
  const Points other{{1, 20}, {2, 20}, {4, 20}};
  const std::vector<Crossing> found = crossings({one, other});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].winner, 0U);
  EXPECT_EQ(found[1].winner, 1U);
}

TEST(Crossings, AreOfTheLeadAndNotOfThePlacesBehindIt) {
  const Points first{{1, 90}, {2, 90}, {4, 90}};
  const Points second{{1, 10}, {2, 20}, {4, 95}};
  const Points third{{1, 20}, {2, 10}, {4, 10}};
  const std::vector<Crossing> found = crossings({first, second, third});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].loser, 0U);
  EXPECT_EQ(found[0].winner, 1U);
}

TEST(Crossings, AreNotSeenAtSizesThatTheLeaderLacks) {
  const Points one{{1, 90}, {4, 90}};
  const Points other{{1, 10}, {2, 20}, {4, 10}};
  const Points single{{2, 99}};
  EXPECT_TRUE(crossings({one, other, single}).empty());
}

TEST(Crossings, AreOfCurvesThatBeginBesideAnother) {
  const Points alone{{1, 10}};
  const Points even{{2, 20}, {4, 20}};
  const Points rising{{2, 10}, {4, 30}};
  const std::vector<Crossing> found = crossings({alone, even, rising});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].loser, 1U);
  EXPECT_EQ(found[0].winner, 2U);
  EXPECT_EQ(found[0].after, 2U);
  EXPECT_EQ(found[0].until, 4U);
}

TEST(Leader, IsNobodyWithinTwoPercent) {
  EXPECT_EQ(leader(100, 98.5), 0);
  EXPECT_EQ(leader(100, 97.5), 1);
  EXPECT_EQ(leader(97.5, 100), -1);
  EXPECT_EQ(leader(0, 0), 0);
  // two percent are of the greater: 2 of 100, not 1.96 of 98.02; and exactly two are not more
  EXPECT_EQ(leader(100, 98.02), 0);
  EXPECT_EQ(leader(98.02, 100), 0);
  EXPECT_EQ(leader(100, 98), 0);
  EXPECT_EQ(leader(98, 100), 0);
  EXPECT_EQ(leader(100, 97.98), 1);
}

}  // namespace
}  // namespace busbar

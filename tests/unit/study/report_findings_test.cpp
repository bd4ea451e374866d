// SPDX-License-Identifier: BSD-3-Clause
#include "study/report_findings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
              Contains("8 devices, best set of each: dgx-1v and dgx-2 can carry 150 GB/s"));
  EXPECT_THAT(
      topology_findings(data),
      Contains("4 devices, best set of each: dgx-2 can carry 150 GB/s; behind: dgx-1v 100"));
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

}  // namespace
}  // namespace busbar

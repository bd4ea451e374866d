// SPDX-License-Identifier: BSD-3-Clause
#include "study/report/data.hpp"
#include "tests/unit/support/study_rows.hpp"

namespace busbar::study {
namespace {

using test::study_row;

Record row(const std::string& collective, int ranks, Bytes size, double busbw) {
  return with(study_row(size, busbw, ranks), &Record::collective, collective);
}

Dataset run_of(const std::string& system, std::vector<Record> records) {
  return with(dataset(system, std::move(records), {{"system", system}}), &Dataset::simulated, true);
}

/// What arXiv 1905.08764 has of the all-reduce at 1 GB, and its broadcast around the crossing.
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

TEST(Notes, NameRowsOfOneRank) {
  EXPECT_THAT(make_report_data({run_of("a", {row("allreduce", 1, kMiB, 0)})}, {}).notes,
              ElementsAre(HasSubstr("a.csv: rows of one rank")));
}

TEST(Findings, NameWhatIsLowOrSuspect) {
  EXPECT_THAT(suspect_findings(papers()), IsEmpty());
  const ReportData odd = make_report_data(
      {run_of("dgx-2", {row("allreduce", 2, kMiB, 60), row("allreduce", 4, kMiB, 200)})}, {});
  EXPECT_THAT(suspect_findings(odd),
              ElementsAre(AllOf(HasSubstr("40 % of its bound"), HasSubstr("low")),
                          HasSubstr("more than the links allow")));
}

/// A run of NCCL on so many nodes of eight GPUs.
Dataset measured_run(const std::string& label, int nodes, double busbw) {
  const Record measured = with(row("allreduce", 8 * nodes, 8 * kGiB, busbw), &Record::nodes, nodes);
  return dataset(label, {measured}, {{"system", label}});
}

TEST(Findings, NameWhatIsBelowWhatOthersMeasuredOnAsManyNodes) {
  const ReportData data = make_report_data({measured_run("dgx-h100", 2, 196.5)}, {});
  EXPECT_THAT(suspect_findings(data),
              ElementsAre(AllOf(HasSubstr("all-reduce, 16 ranks: dgx-h100 has 196 GB/s at 8 GiB, "),
                                HasSubstr("of the median that others measured"),
                                HasSubstr("too low"), HasSubstr("GPUDirect RDMA"))))
      << "one finding, not another by the bound";
  const SizeCurve& curve = data.collectives[0].curves[0];
  EXPECT_EQ(curve.points[0].bound_GBps, 750);
  EXPECT_THAT(curve.limit, HasSubstr("8 InfiniBand NDR links of every host"));
  EXPECT_THAT(suspect_findings(make_report_data({measured_run("dgx-h100", 2, 470)}, {})),
              IsEmpty());
}

TEST(Findings, CompareNoRunOfAnotherLibraryOrOfTheFakeMachine) {
  for (const auto& [member, text] :
       {std::pair{&Record::backend, "mpi"}, std::pair{&Record::flags, "fake"}}) {
    Dataset run = measured_run("dgx-h100", 1, 20);
    run.records[0].*member = text;
    EXPECT_THAT(make_report_data({run}, {}).expectations, IsEmpty()) << text;
  }
}

TEST(Findings, NameSizesAtWhichACurveFalls) {
  const ReportData data = make_report_data(
      {dataset("a", {row("alltoall", 16, 8 * kMiB, 30.2), row("alltoall", 16, 64 * kMiB, 0.79)})},
      {});
  EXPECT_THAT(suspect_findings(data),
              ElementsAre(HasSubstr("all-to-all, 16 ranks: a, out of place falls from 30.2 GB/s at "
                                    "8 MiB to 0.79 at 64 MiB")));
}

TEST(SuspectFindings, NameWhoIsLastToArriveInAFile) {
  Dataset late = measured_run("p4d", 1, 230);
  Dataset even = measured_run("p4de", 1, 230);
  late.records.front().last_host = "n2";
  late.records.front().late_by_us = 12.5;
  EXPECT_THAT(suspect_findings(make_report_data({late, even}, {})),
              Contains(HasSubstr("p4d: last to arrive: n2 in 1 of")).Times(1));
}

TEST(Labels, AreThoseOfTheCsvsThoughTheyNameOneSystem) {
  const ReportData data = make_report_data(
      {measured_run("p4de", 1, 230), measured_run("p4d", 1, 220), measured_run("P4D", 1, 210)}, {});
  for (const ReportSystem& system : data.systems) {
    EXPECT_TRUE(system.graph) << system.name;
    EXPECT_EQ(system.built_in, "p4d");
  }
  EXPECT_THAT(mapped(data.systems, &ReportSystem::name), ElementsAre("p4de", "p4d", "P4D"));
  EXPECT_EQ(data.collectives[0].curves.size(), 3U);
}

TEST(Doubts, OfACaptureStandFirstAndMarkTheSystem) {
  topo::Graph capture = topo::load_system("dgx-2");
  capture.name = "offer-b";
  capture.warnings = {"GPU2 has no NVLink"};
  const ReportData data = make_report_data({}, {capture, topo::load_system("h200-nvl-x8")});
  const std::string page = markdown_page(report_document(data));
  const std::size_t doubt = page.find("**Warning:** offer-b: GPU2 has no NVLink");
  ASSERT_NE(doubt, std::string::npos);
  EXPECT_LT(doubt, page.find("The systems"));
  EXPECT_THAT(page, HasSubstr("| offer-b (doubtful) | all-reduce | 16 | 150 |"));
  EXPECT_THAT(page, Not(HasSubstr("h200-nvl-x8 (doubtful)"))) << "its warning is of no capture";
}

TEST(Warnings, NameWhatMakesAComparisonUnsafe) {
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
              ElementsAre("runs differ in origin: measured medians (dgx-2); simulated (ac922)"));
}

TEST(ReportData, ReadsNoFileThatACsvNames) {
  const ReportData data = make_report_data({run_of("./secret.toml", {})}, {});
  ASSERT_EQ(data.systems.size(), 1U);
  EXPECT_FALSE(data.systems[0].graph.has_value());
}

using Points = std::vector<SizePoint>;

/// The loser and the winner of a crossing, and the sizes that it lies between.
using Lead = std::tuple<std::size_t, std::size_t, Bytes, Bytes>;
using Leads = std::vector<Lead>;

Leads crossings(const std::vector<Points>& points) {
  const auto curves = mapped(points, [](const Points& one) { return SizeCurve{.points = one}; });
  return mapped(study::crossings(curves), [](const LeadChange& one) {
    return Lead(one.loser, one.winner, one.after, one.until);
  });
}

TEST(Crossings, LieBetweenTheLastSizeOfTheOldLeaderAndTheFirstOfTheNew) {
  // the broadcast of arXiv 1905.08764, figure 2: P3 passes DGX-2 beyond 256 MB
  const Points p3{
      {64 * kMiB, 90}, {128 * kMiB, 104}, {256 * kMiB, 112}, {512 * kMiB, 124}, {kGiB, 128}};
  const Points dgx2{
      {64 * kMiB, 110}, {128 * kMiB, 114}, {256 * kMiB, 117}, {512 * kMiB, 118}, {kGiB, 119}};
  EXPECT_EQ(crossings({p3, dgx2}), Leads({{1, 0, 256 * kMiB, 512 * kMiB}}));
  EXPECT_EQ(crossings({dgx2, p3}), Leads({{0, 1, 256 * kMiB, 512 * kMiB}}));
  // wider where both are level
  EXPECT_EQ(
      crossings({{{1, 10}, {2, 20}, {4, 30.1}, {8, 50}}, {{1, 30}, {2, 30}, {4, 30}, {8, 30}}}),
      Leads({{1, 0, 2, 8}}));
}

TEST(Crossings, AreOfTheLeadAloneNoneOrSeveral) {
  EXPECT_EQ(crossings({{{1, 2}, {2, 3}}, {{1, 1}, {2, 2}}}), Leads{}) << "one leads at all sizes";
  EXPECT_EQ(crossings({{}, {{1, 1}}}), Leads{});
  EXPECT_EQ(crossings({{{1, 10}, {2, 99}, {4, 10}}, {{1, 20}, {4, 20}}}), Leads{});
  EXPECT_EQ(crossings({{{1, 90}, {4, 90}}, {{1, 10}, {2, 20}, {4, 10}}, {{2, 99}}}), Leads{});
  EXPECT_EQ(crossings({{{1, 10}, {2, 30}, {4, 10}}, {{1, 20}, {2, 20}, {4, 20}}}),
            Leads({{1, 0, 1, 2}, {0, 1, 2, 4}}));
  EXPECT_EQ(
      crossings(
          {{{1, 90}, {2, 90}, {4, 90}}, {{1, 10}, {2, 20}, {4, 95}}, {{1, 20}, {2, 10}, {4, 10}}}),
      Leads({{0, 1, 2, 4}}));
  EXPECT_EQ(crossings({{{1, 10}}, {{2, 20}, {4, 20}}, {{2, 10}, {4, 30}}}), Leads({{1, 2, 2, 4}}))
      << "beside a curve that ends before";
}

TEST(Leader, IsNullWithinTwoPercentOfTheGreater) {
  // 2 of 100, not 1.96 of 98.02; and exactly two are not more
  struct Case {
    double first, second;
    int leader;
  };
  for (const Case& one : {Case{100, 98.5, 0}, Case{100, 97.5, 1}, Case{97.5, 100, -1},
                          Case{0, 0, 0}, Case{100, 98.02, 0}, Case{98.02, 100, 0}, Case{100, 98, 0},
                          Case{98, 100, 0}, Case{100, 97.98, 1}}) {
    EXPECT_EQ(leader(one.first, one.second), one.leader) << one.first << ' ' << one.second;
  }
}

Record flagged(Bytes size, double busbw, const std::string& flags = {}) {
  return with(study_row(size, busbw, 8), &Record::op, "", &Record::flags, flags);
}
Record in_place(Bytes size, double busbw) {
  return with(flagged(size, busbw), &Record::in_place, true);
}

Document document_of(std::vector<Dataset> datasets) {
  return report_document(make_report_data(std::move(datasets), {}));
}
std::string page_of(std::vector<Dataset> datasets) {
  return markdown_page(document_of(std::move(datasets)));
}

TEST(ReportDocument, BeginsWithOneTableOfAllSystems) {
  const Document document = report_document(papers());
  const auto& table = std::get<Table>(document.sections.at(0).blocks.at(0));
  EXPECT_THAT(table.columns, ElementsAre("system", "collective", "devices", "bound", "highest",
                                         "of bound", "at", "limit"));
  EXPECT_THAT(table.rows, Contains(ElementsAre("p3dn (simulated)", "all-reduce", "8", "150", "130",
                                               "87 %", "1 GiB", "NVLink 2 of every GPU")));
  EXPECT_EQ(table.rows.size(), 11U);
  EXPECT_EQ(document.sections.at(1).heading, "Findings");
}

TEST(ReportDocument, SumsUpSystemsThatNobodyMeasuredAndRatesOfSeveralOrigins) {
  const std::string bounds =
      markdown_page(report_document(make_report_data({}, {topo::load_system("dgx-2")})));
  EXPECT_THAT(bounds, HasSubstr("| bound | limit |\n"));
  EXPECT_THAT(bounds, HasSubstr("| dgx-2 | all-reduce | 16 | 150 |"));
  const std::string mixed = page_of({run_of("dgx-2", {row("allreduce", 8, kGiB, 120)}),
                                     dataset("b", {row("allreduce", 8, kGiB, 20)})});
  EXPECT_THAT(mixed, HasSubstr("| dgx-2 (simulated) | all-reduce | 8 | 150 |"));
  EXPECT_THAT(mixed, HasSubstr("| b | all-reduce | 8 | \u2013 | 20 | \u2013 | 1 GiB | \u2013 |"));
}

TEST(ReportDocument, OfManyRowsSumsUpTheLargestOfEachSystem) {
  std::vector<Record> records;
  for (int ranks = 2; ranks <= 40; ++ranks) records.push_back(row("allreduce", ranks, kGiB, 10));
  const Document document = report_document(make_report_data({run_of("x", records)}, {}));
  EXPECT_THAT(std::get<Table>(document.sections.at(0).blocks.at(0)).rows,
              ElementsAre(Contains("40")));
}

TEST(ReportDocument, NamesImportedMeansAndTheLogWithoutItsFolder) {
  const Dataset imported =
      dataset("a", {flagged(1024, 10, "imported mean")},
              {{"tool", "nccl-tests 2.17.8"}, {"imported_from", "/home/me/secret/a.txt"}});
  const std::string page = page_of({imported});
  EXPECT_THAT(page, AllOf(HasSubstr("Runs: imported means (1)."),
                          HasSubstr("imported means (nccl-tests 2.17.8)"), HasSubstr("a.txt"),
                          Not(HasSubstr("secret"))));
  EXPECT_THAT(page_of({imported, dataset("b", {flagged(1024, 20)})}),
              AllOf(HasSubstr("a (imported means)"),
                    HasSubstr("imported means (a); measured medians (b)")));
}

TEST(ReportDocument, LabelsFakeGpusAndSizesMeasuredInPlaceOnly) {
  const Dataset fake = dataset("a", {flagged(1024, 10, "fake")});
  EXPECT_THAT(page_of({fake}), AllOf(HasSubstr("a (fake GPUs)"), HasSubstr("no figure is real")));
  EXPECT_THAT(page_of({fake, dataset("b", {flagged(1024, 20)})}),
              HasSubstr("fake GPUs (a); measured medians (b)"));
  EXPECT_THAT(page_of({dataset("a", {flagged(1024, 10), in_place(2048, 20)})}),
              HasSubstr("| 2 KiB | 20 (in place) |"));
}

TEST(ReportDocument, DrawsTheRatesOfACollectiveByNumbersOfRanks) {
  const Record four = with(flagged(1024, 10), &Record::ranks, 4);
  const Document document = document_of({dataset("a", {four, flagged(1024, 20)})});
  std::vector<Figure> figures;
  for (const Section& section : document.sections) {
    for (const DocumentBlock& block : section.blocks) {
      if (const auto* figure = std::get_if<Figure>(&block)) figures.push_back(*figure);
    }
  }
  ASSERT_EQ(figures.size(), 1U);
  EXPECT_EQ(figures[0].chart.panels.size(), 2U);
  EXPECT_THAT(figures[0].caption, HasSubstr("Bus bandwidth: a, allreduce, float"));
}

TEST(ReportDocument, NamesTheTypeWhereItDiffersAndNoUnknownFacts) {
  const Dataset other = dataset("a", {with(flagged(1024, 10), &Record::type, "double")});
  const std::string page = page_of({other});
  EXPECT_THAT(page, HasSubstr("allreduce, double, out of place\n"));
  EXPECT_THAT(page, Not(HasSubstr("processor |")));
  EXPECT_THAT(page_of({other, dataset("b", {flagged(1024, 10)})}),
              HasSubstr("| a, double | b, float |"));
}

}  // namespace
}  // namespace busbar::study

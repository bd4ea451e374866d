// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot/figures.hpp"

#include "format/gnuplot.hpp"
#include "tests/unit/support/study_rows.hpp"

namespace busbar::study {
namespace {

using Records = std::vector<Record>;
using Datasets = std::vector<Dataset>;

Record row(Bytes size, double busbw, int ranks = 4) {
  return with(test::study_row(size, busbw, ranks), &Record::time_median_us, 100.0,
              &Record::time_ci_low_us, 80.0, &Record::time_ci_high_us, 125.0, &Record::bound_GBps,
              200.0);
}
Record placed(Bytes size, double busbw, bool in_place, int ranks = 4) {
  return with(row(size, busbw, ranks), &Record::in_place, in_place);
}

SizeCurves curves_of(const Datasets& datasets, PlotPlacement placement = PlotPlacement::Out) {
  return size_curves(datasets, placement);
}
/// Curves of one file, "a".
SizeCurves curves_of(const Records& records, PlotPlacement placement = PlotPlacement::Out) {
  return size_curves({dataset("a", records)}, placement);
}
std::tuple<double, std::optional<double>, std::optional<double>> values_of(const Spread& spread) {
  return {spread.median, spread.low, spread.high};
}
SizePoint point_of(const Records& records) { return curves_of(records).curves.at(0).points.at(0); }

TEST(SizeCurves, TurnTheIntervalOfTheTimeIntoOneOfTheBandwidth) {
  EXPECT_EQ(curves_of(Records{row(1024, 100)}).common, "a, allreduce, float sum, out of place");
  EXPECT_EQ(values_of(point_of({row(1024, 100)}).busbw_GBps), std::tuple(100, 80, 125));
  const SizePoint to_zero = point_of({with(row(1024, 100), &Record::time_ci_low_us, 0.0)});
  EXPECT_FALSE(to_zero.busbw_GBps.high);
  EXPECT_FALSE(to_zero.time_us.low);
}

TEST(SizeCurves, TakeTheMedianAndTheRangeOfSeveralLaunchesTimesOfThoseWithTheBandwidths) {
  EXPECT_EQ(values_of(point_of({row(1024, 100), row(1024, 130), row(1024, 110)}).busbw_GBps),
            std::tuple(110, 100, 130));
  // Two launches: the faster has the shorter time.
  const Record fast =
      with(row(1024, 120), &Record::time_median_us, 90.0, &Record::time_p99_us, 95.0);
  Record slow = with(row(1024, 100), &Record::time_median_us, 108.0, &Record::time_p99_us, 115.0);
  const SizePoint both = point_of({fast, slow});
  EXPECT_EQ(values_of(both.busbw_GBps), std::tuple(110, 100, 120));
  EXPECT_EQ(values_of(both.time_us), std::tuple(99, 90, 108));
  EXPECT_EQ(both.time_p99_us, 105);
  slow.time_p99_us.reset();
  EXPECT_FALSE(point_of({fast, slow}).time_p99_us) << "one of them has none";
}

TEST(SizeCurves, LeaveAGapForASkippedRowAndForOneThatTheHeadPlanned) {
  const auto has_gap = [](const Dataset& file) {
    return curves_of(Datasets{file}).curves.at(0).points.at(1).gap_before;
  };
  const Record skipped = with(row(2048, 0), &Record::status, RowStatus::Skipped);
  EXPECT_TRUE(has_gap(dataset("a", {row(1024, 1), skipped, row(4096, 2)})));
  const auto gap_in = [&](Bytes first, Bytes second, const std::string& sizes) {
    return has_gap(dataset("a", {row(first, 1), row(second, 2)},
                           {{"configuration", "collective=allreduce sizes=" + sizes}}));
  };
  EXPECT_FALSE(has_gap(dataset("a", {row(1024, 1), row(4096, 2)})));
  EXPECT_TRUE(gap_in(1024, 4096, "1024-4096x2"));
  EXPECT_FALSE(gap_in(1024, 4096, "1024-4096x4"));
  EXPECT_TRUE(gap_in(1024, 4096, "1024-4096+1536"));
  EXPECT_FALSE(gap_in(1024, 4096, "1024-4096+2200"));
  EXPECT_FALSE(gap_in(1000, 2000, "1024-4096+1024")) << "rounded down from 1024 and 2048";
}

TEST(BusbwFigure, MarksSizesThatWereMeasuredInPlaceOnly) {
  const SizeCurves curves = curves_of(Records{placed(1024, 10, false), placed(4096, 30, false),
                                              placed(1024, 11, true), placed(2048, 20, true)});
  ASSERT_EQ(curves.curves.size(), 1U);
  EXPECT_EQ(curves.common, "a, allreduce, float sum, out of place");
  const Chart figure = busbw_figure(curves);
  EXPECT_THAT(mapped(figure.curves.front().points, &ChartPoint::y), ElementsAre(10, 20, 30));
  const ChartCurve& marks = figure.curves.back();
  EXPECT_EQ(marks.kind, CurveKind::Hollow);
  EXPECT_EQ(marks.title, "hollow: measured in place only");
  EXPECT_THAT(mapped(marks.points, &ChartPoint::x), ElementsAre(2048));
  for (const PlotPlacement placement : {PlotPlacement::In, PlotPlacement::Out}) {
    const SizeCurves in_place = curves_of(Records{placed(1024, 11, true)}, placement);
    EXPECT_FALSE(in_place.curves.at(0).points.at(0).in_place_only) << "as all of its curve";
  }
}

TEST(BusbwFigure, DrawsASinglePointHollowAboveOthersAndNamesItsValue) {
  const Chart figure = busbw_figure(curves_of(Datasets{
      dataset("one", {row(2048, 477)}), dataset("two", {row(1024, 400), row(2048, 482)})}));
  EXPECT_EQ(figure.curves.at(0).title, "one: 477 at 2 KiB");
  EXPECT_EQ(figure.curves.at(1).title, "two");
  const std::string script = chart_script(figure);
  const std::size_t single = script.find("$curve1 using 1:2 with points");
  ASSERT_NE(single, std::string::npos);
  EXPECT_GT(single, script.find("$curve2 using 1:2 with linespoints"));
}

TEST(BusbwFigure, HasALogarithmicAxisWherePeaksDifferMuchOrAsRequested) {
  const auto has_log = [](double slow, std::optional<bool> requested) {
    const Datasets files{dataset("a", {row(1024, 480)}), dataset("b", {row(1024, slow)})};
    return busbw_figure(curves_of(files), requested).panels.at(0).y.kind == AxisKind::Log;
  };
  EXPECT_TRUE(has_log(2.5, {}));
  EXPECT_FALSE(has_log(2.5, false));
  EXPECT_FALSE(has_log(100, {}));
  EXPECT_TRUE(has_log(100, true));
}

Record flagged(Bytes size, const std::string& flags) {
  return with(row(size, 10), &Record::flags, flags);
}

TEST(CurveNames, NameImportedMeansAndFakeGpusWhereOthersAreBesideThem) {
  const Record imported = flagged(1024, "imported mean");
  const Record fake = flagged(1024, "fake");
  const auto titles = [](const Datasets& files) {
    return mapped(curves_of(files).curves, &SizeCurve::title);
  };
  EXPECT_EQ(curves_of(Records{imported}).common,
            "a, allreduce, float sum, out of place, imported means");
  EXPECT_THAT(titles({dataset("a", {imported})}), ElementsAre("a")) << "all are";
  EXPECT_THAT(
      titles({dataset("a", {imported}), dataset("b", {row(1024, 1)}), dataset("c", {fake})}),
      ElementsAre("a (imported means)", "b", "c (fake GPUs)"));
  EXPECT_THAT(titles({dataset("a", {row(1024, 1)}), dataset("b", {imported})}),
              ElementsAre("a", "b (imported means)"));
}

TEST(CurveStyles, DistinguishCollectivesAndDeviceSetsOfOneSystemByMoreThanADash) {
  Records collectives;
  Records sets;
  for (const char* collective : {"allgather", "allreduce", "broadcast", "reduce", "sendrecv"}) {
    collectives.push_back(with(row(1024, 10), &Record::collective, collective));
  }
  for (const std::size_t one : {0U, 1U}) {
    for (const char* devices : {"0,1,2,3", "0,2,4,6"}) {
      sets.push_back(with(collectives[one], &Record::device_set, devices));
    }
  }
  const auto points_of = [](const Datasets& files) {
    return set_of(filtered(curves_of(files).curves,
                           [](const SizeCurve& curve) { return curve.key.label == "a"; }),
                  [](const SizeCurve& curve) { return curve.style.point; });
  };
  EXPECT_THAT(points_of({dataset("a", collectives), dataset("x", {row(1024, 1)})}), SizeIs(5));
  EXPECT_THAT(points_of({dataset("a", sets)}), SizeIs(4));
}

TEST(BusbwFigure, NamesTheNodesOfAPanelWhereTheyAreKnownAndOne) {
  const auto title = [](const std::vector<int>& nodes) {
    const Records records =
        mapped(nodes, [](int count) { return with(row(1024, 10), &Record::nodes, count); });
    return busbw_figure(curves_of(records)).panels.at(0).title;
  };
  EXPECT_EQ(title({2}), "4 ranks on 2 nodes");
  EXPECT_EQ(title({1, 2}), "4 ranks");
  EXPECT_EQ(title({0}), "4 ranks");
}

TEST(BusbwFigure, NamesTheBoundsOfAPanelOnce) {
  const auto bounded = [](double bound) { return with(row(1024, 10), &Record::bound_GBps, bound); };
  const auto titles = [](const Datasets& files) {
    const Chart figure = busbw_figure(curves_of(files));
    return mapped(filtered(figure.curves,
                           [](const ChartCurve& curve) { return curve.kind == CurveKind::Bound; }),
                  &ChartCurve::title);
  };
  EXPECT_THAT(titles({dataset("a", {bounded(200)}), dataset("b", {bounded(300)})}),
              ElementsAre("bound, in the colour of its system", ""));
  // Of one system's sets of devices all bounds are grey.
  const auto of_sets = [&](double bound) {
    return titles({dataset("a", {bounded(200), with(bounded(bound), &Record::device_set, "0,2")})});
  };
  EXPECT_THAT(of_sets(200), SizeIs(1));
  EXPECT_THAT(of_sets(300), SizeIs(2));
}

TEST(ShareFigure, IsPercentOfTheRowsOwnBoundAndNamesTheSizeOfTheOnlyPointThatHasOne) {
  EXPECT_DOUBLE_EQ(share_figure(curves_of(Records{row(1024, 50)})).curves.at(0).points.at(0).y, 25);
  const Record unbound = with(row(1024, 50), &Record::bound_GBps, std::nullopt);
  const Chart figure = share_figure(curves_of(Records{unbound, row(2048, 50)}));
  EXPECT_THAT(figure.curves.at(0).title, EndsWith(": 25 at 2 KiB"));
}

Chart scaling(const Records& records, std::optional<Bytes> size = {}) {
  return scaling_figure(curves_of(records), size);
}

TEST(ScalingFigure, TakesTheBestOfSeveralDeviceSets) {
  for (const auto& [near, far] : {std::pair{45.0, 30.0}, {30.0, 45.0}}) {
    const Chart figure =
        scaling({row(1024, 50, 2), with(row(1024, near), &Record::device_set, "0,1,2,3"),
                 with(row(1024, far), &Record::device_set, "0,2,4,6")});
    ASSERT_EQ(figure.curves.size(), 4U);
    EXPECT_THAT(mapped(figure.curves[0].points, &ChartPoint::y), ElementsAre(50, 45));
  }
}

TEST(ScalingFigure, IsAtTheLargestSizeThatAllCurvesHaveOutOfPlace) {
  const Records records{row(1024, 50, 2), row(2048, 60, 2), row(4096, 70, 2),
                        row(1024, 40, 4), row(2048, 50, 4), row(8192, 60, 4)};
  EXPECT_NE(scaling(records).title.find("at 2 KiB"), std::string::npos);
  EXPECT_TRUE(scaling(records, 4096).empty()) << "one number of ranks";
  EXPECT_TRUE(scaling({row(1024, 50, 2)}).empty());
  EXPECT_TRUE(scaling_figure({}, {}).empty());
  const Records in_place{row(1024, 50, 2), row(2048, 55, 2), row(1024, 40), placed(2048, 60, true)};
  EXPECT_NE(scaling(in_place).title.find("1 KiB"), std::string::npos);
  EXPECT_TRUE(scaling(in_place, 2048).empty()) << "4 ranks have it in place only";
}

TEST(ScalingFigure, JoinsNodesAndLeavesAGapWhereTheSizeIsMissing) {
  // 1 KiB on 4, 16 and 32 ranks: 2 and 8 ranks have another size alone.
  Records records{row(2048, 9, 2), row(1024, 40, 4), row(2048, 9, 8), row(1024, 20, 16),
                  row(1024, 10, 32)};
  for (Record& record : records) record.nodes = record.ranks / 2;
  const Chart figure = scaling(records, 1024);
  ASSERT_EQ(figure.curves.size(), 4U);
  const std::vector<ChartPoint>& points = figure.curves[0].points;
  EXPECT_THAT(mapped(points, &ChartPoint::gap_before), ElementsAre(false, true, false));
  // Ideal is the bandwidth of 4 ranks: 100 us at 10 of 40 GB/s would be 25.
  EXPECT_DOUBLE_EQ(figure.curves[2].points[2].y, 40);
  EXPECT_DOUBLE_EQ(figure.curves[3].points[2].y, 25);
}

TEST(ScalingFigure, HasIdealLinesInGreyOrOfTheirCurvesColours) {
  const Records records{row(1024, 50, 2), row(1024, 40, 4)};
  EXPECT_EQ(scaling(records).curves.at(2).style.colour, 0x777777);
  const Chart two =
      scaling_figure(curves_of(Datasets{dataset("a", records), dataset("b", records)}), {});
  ASSERT_EQ(two.curves.size(), 8U);
  EXPECT_NE(two.curves[0].style.colour, two.curves[4].style.colour);
  EXPECT_EQ(two.curves[2].style.colour, two.curves[0].style.colour);
  EXPECT_EQ(two.curves[6].style.colour, two.curves[4].style.colour);
}

Record chosen(Bytes size, double busbw, const std::string& algorithm, const std::string& protocol,
              bool in_place = false) {
  return with(placed(size, busbw, in_place), &Record::algorithm, algorithm, &Record::protocol,
              protocol);
}
std::vector<ChartMark> marks_of(const Records& records) {
  return busbw_figure(curves_of(records)).marks;
}

TEST(ChoiceMarks, StandBetweenTwoSizesOfDifferentChoices) {
  const SizeCurves curves =
      curves_of(Records{chosen(1024, 5, "Ring", "LL"), chosen(4096, 10, "Tree", "LL"),
                        chosen(16384, 190, "Tree", "LL"), chosen(65536, 195, "NVLS", "Simple")});
  for (const Chart& figure : {busbw_figure(curves), latency_figure(curves)}) {
    EXPECT_THAT(mapped(figure.marks, &ChartMark::text),
                ElementsAre("Ring/LL → Tree/LL", "Tree/LL → NVLS/Simple"));
    EXPECT_DOUBLE_EQ(figure.marks.at(0).x, 2048);
    EXPECT_EQ(figure.marks.at(0).panel, 0);
  }
  EXPECT_EQ(busbw_figure(curves).marks[0].place, ChartMark::Place::Above);
  EXPECT_EQ(busbw_figure(curves).marks[1].place, ChartMark::Place::Below);
}

TEST(ChoiceMarks, NeedToKnowBothChoices) {
  EXPECT_TRUE(
      marks_of({chosen(1024, 5, "Ring", "LL"), row(2048, 10), chosen(4096, 10, "Tree", "LL"),
                chosen(8192, 10, "Tree", "LL"), chosen(8192, 11, "Ring", "LL")})
          .empty());
  EXPECT_TRUE(marks_of({chosen(4096, 10, "Tree", "LL"), chosen(8192, 10, "Ring", "LL"),
                        chosen(8192, 11, "Ring", "Simple")})
                  .empty())
      << "two launches chose two protocols";
}

TEST(ChoiceMarks, AreOneForCurvesThatChangeAlike) {
  Records records;
  for (const bool in_place : {false, true}) {
    records.push_back(chosen(1024, 5, "Ring", "LL", in_place));
    records.push_back(chosen(2048, 6, "Ring", "Simple", in_place));
  }
  EXPECT_EQ(busbw_figure(curves_of(records, PlotPlacement::Both)).marks.size(), 1U);
  records.back() = chosen(2048, 6, "Symmetric", "RSxLDMC_AGxSTMC", true);
  const std::vector<ChartMark> marks = busbw_figure(curves_of(records, PlotPlacement::Both)).marks;
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_FALSE(marks[0].right);
  EXPECT_TRUE(marks[1].right);
  EXPECT_NE(marks[0].colour, marks[1].colour);
  EXPECT_EQ(marks[1].text, "→ Symmetric/RSxLDMC_AGxSTMC");  // both would be too long
}

TEST(ChoiceMarks, HaveNoLabelsWhereTheyAreMany) {
  Records records;
  for (int power = 0; power < 12; ++power) {
    records.push_back(chosen(Bytes{1024} << power, 5, power % 2 == 0 ? "Ring" : "Tree", "LL"));
  }
  EXPECT_THAT(mapped(marks_of(records), &ChartMark::text), AllOf(SizeIs(11), testing::Each("")));
  records.pop_back();
  EXPECT_THAT(mapped(marks_of(records), &ChartMark::text), Not(Contains("")));
}

Dataset launch(const std::string& day, double busbw, const std::string& library) {
  return dataset("a", {row(1024, busbw)}, {{"started", day + " 10:00:00"}, {"library", library}});
}

TEST(HistoryFigure, MarksTheFirstLaunchOfANewVersionAndKeepsLaunchesOfTheSameSecond) {
  const Dataset first = launch("2026-11-01", 50, "NCCL 2.19");
  const Dataset second = launch("2026-11-02", 51, "NCCL 2.20");
  const Chart figure = history_figure({second, first}, PlotPlacement::Out, {});
  ASSERT_EQ(figure.marks.size(), 1U);
  const double first_s = calendar_seconds("2026-11-01 10:00:00").value();
  EXPECT_DOUBLE_EQ(figure.marks[0].x, first_s + 86400);
  EXPECT_EQ(figure.curves.at(0).points.size(), 2U);
  const Chart three = history_figure({first, second, second}, PlotPlacement::Out, {});
  EXPECT_EQ(three.curves.at(0).points.size(), 3U);
}

TEST(HistoryFigure, LeavesAGapWhereLaunchesAreMoreThanTwiceTheUsualTimeApart) {
  Datasets launches;
  for (const char* day : {"01", "02", "03", "04", "06", "09"}) {
    launches.push_back(launch(std::string("2026-11-") + day, 50, ""));
  }
  const Chart figure = history_figure(launches, PlotPlacement::Out, {});
  EXPECT_THAT(mapped(figure.curves.at(0).points, &ChartPoint::gap_before),
              ElementsAre(false, false, false, false, false, true));
}

TEST(SamplesFigure, BeginsAtZeroPercentOfTheShortestTime) {
  SampleSet set{.size = 1024, .times_us = std::vector<double>(40, 5)};
  set.times_us.back() = 4;  // one of 40: 2.5 %
  const Chart chart = sample_figure("samples", std::vector{set}, PlotPlacement::Out, {});
  EXPECT_THAT(mapped(chart.curves.at(0).points,
                     [](const ChartPoint& one) { return std::pair(one.x, one.y); }),
              ElementsAre(std::pair(4, 0), std::pair(4, 2.5), std::pair(5, 100)));
}

TEST(RanksFigure, HasAPointOfEachRankWithTheMiddleHalfOfItsTimes) {
  const test::TemporaryFolder folder;
  folder.write("p.csv",
               "collective,type,op,root,in_place,size_bytes,cycle,batch,sample,rank,host,time_us,"
               "group\n"
               "allreduce,float,sum,,0,1024,0,1,0,0,h1,9,\n"
               "allreduce,float,sum,,0,1024,0,1,0,3,h2,5,\n"
               "allreduce,float,sum,,0,1024,0,1,1,0,h1,11,\n"
               "allreduce,float,sum,,0,1024,0,1,1,3,h2,6,\n"
               "allreduce,float,sum,,0,1024,0,1,2,0,h1,10,\n"
               "allreduce,float,sum,,0,1024,0,1,2,3,h2,7,\n");
  const PlotInput input = load_plot_input(std::vector{folder.path("p.csv")});
  const std::vector<Chart> charts = make_figures(input, {});
  ASSERT_EQ(charts.size(), 1U);  // the samples of ranks are no distribution of the row's
  EXPECT_EQ(charts[0].name, "ranks");
  const auto& points = charts[0].curves.at(0).points;
  EXPECT_THAT(mapped(points, &ChartPoint::x), ElementsAre(0, 3));
  EXPECT_THAT(mapped(points, &ChartPoint::y), ElementsAre(10, 6));
  EXPECT_EQ(std::pair(points[1].low, points[1].high),
            std::pair(std::optional(5.0), std::optional(7.0)));
}

}  // namespace
}  // namespace busbar::study

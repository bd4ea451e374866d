// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot_figures.hpp"

#include <set>

#include <gtest/gtest.h>

#include "study/plot_history.hpp"
#include "study/plot_size_figures.hpp"
#include "tests/unit/support/failure.hpp"

namespace busbar {
namespace {

Record row(Bytes size, double busbw, int ranks = 4) {
  return {.collective = "allreduce",
          .backend = "nccl",
          .ranks = ranks,
          .nodes = 1,
          .type = "float",
          .op = "sum",
          .size = size,
          .time_median_us = 100,
          .time_ci_low_us = 80,
          .time_ci_high_us = 125,
          .busbw_GBps = busbw,
          .bound_GBps = 200};
}

Dataset dataset(const std::string& label, std::vector<Record> records) {
  return {.path = label + ".csv", .label = label, .records = std::move(records)};
}

TEST(SizeCurves, TurnTheIntervalOfTheTimeIntoOneOfTheBandwidth) {
  const SizeCurves curves = size_curves({dataset("a", {row(1024, 100)})}, PlotPlacement::Out);
  ASSERT_EQ(curves.curves.size(), 1U);
  EXPECT_DOUBLE_EQ(*curves.curves[0].points[0].busbw_low, 80);
  EXPECT_DOUBLE_EQ(*curves.curves[0].points[0].busbw_high, 125);
  EXPECT_EQ(curves.common, "a, allreduce, float sum, out of place");
}

TEST(SizeCurves, TakeTheMedianAndTheRangeOfSeveralLaunches) {
  const SizeCurves curves = size_curves(
      {dataset("a", {row(1024, 100), row(1024, 130), row(1024, 110)})}, PlotPlacement::Out);
  const SizePoint& point = curves.curves.at(0).points.at(0);
  EXPECT_DOUBLE_EQ(point.busbw_GBps, 110);
  EXPECT_DOUBLE_EQ(*point.busbw_low, 100);
  EXPECT_DOUBLE_EQ(*point.busbw_high, 130);
}

TEST(SizeCurves, HaveTheTimesOfTheLaunchesThatHaveTheBandwidths) {
  // Two launches: the faster has the shorter time.
  Record fast = row(1024, 120);
  fast.time_median_us = 90;
  fast.time_p99_us = 95;
  Record slow = row(1024, 100);
  slow.time_median_us = 108;
  slow.time_p99_us = 115;
  const auto point_of = [](const std::vector<Record>& launches) {
    return size_curves({dataset("a", launches)}, PlotPlacement::Out).curves.at(0).points.at(0);
  };
  const SizePoint both = point_of({fast, slow});
  EXPECT_DOUBLE_EQ(both.busbw_GBps, 110);
  EXPECT_DOUBLE_EQ(*both.busbw_low, 100);
  EXPECT_DOUBLE_EQ(*both.busbw_high, 120);
  EXPECT_DOUBLE_EQ(both.time_us, 99);
  EXPECT_DOUBLE_EQ(*both.time_low, 90);
  EXPECT_DOUBLE_EQ(*both.time_high, 108);
  EXPECT_DOUBLE_EQ(*both.time_p99_us, 105);
  slow.time_p99_us.reset();
  EXPECT_FALSE(point_of({fast, slow}).time_p99_us) << "one of them has none";
}

TEST(SizeCurves, HaveNoIntervalWhereTheTimesReachesZero) {
  Record record = row(1024, 100);
  record.time_ci_low_us = 0;
  const SizeCurves curves = size_curves({dataset("a", {record})}, PlotPlacement::Out);
  EXPECT_FALSE(curves.curves.at(0).points.at(0).busbw_high);
  EXPECT_FALSE(curves.curves.at(0).points.at(0).time_low);
}

TEST(SizeCurves, LeaveAGapForASkippedRowAndForOneThatTheHeadPlanned) {
  Record skipped{.collective = "allreduce", .ranks = 4, .type = "float", .op = "sum", .size = 2048};
  skipped.status = RowStatus::Skipped;
  Dataset told = dataset("a", {row(1024, 1), skipped, row(4096, 2)});
  EXPECT_TRUE(size_curves({told}, PlotPlacement::Out).curves.at(0).points.at(1).gap_before);
  Dataset cut = dataset("a", {row(1024, 1), row(4096, 2)});
  EXPECT_FALSE(size_curves({cut}, PlotPlacement::Out).curves.at(0).points.at(1).gap_before);
  cut.facts["configuration"] = "collective=allreduce sizes=1024-4096x2";
  EXPECT_TRUE(size_curves({cut}, PlotPlacement::Out).curves.at(0).points.at(1).gap_before);
  cut.facts["configuration"] = "collective=allreduce sizes=1024-4096x4";
  EXPECT_FALSE(size_curves({cut}, PlotPlacement::Out).curves.at(0).points.at(1).gap_before);
  cut.facts["configuration"] = "collective=allreduce sizes=1024-4096+1024";
  EXPECT_TRUE(size_curves({cut}, PlotPlacement::Out).curves.at(0).points.at(1).gap_before);
}

Record placed(Bytes size, double busbw, bool in_place) {
  Record record = row(size, busbw);
  record.in_place = in_place;
  return record;
}

TEST(BusbwFigure, MarksSizesThatWereMeasuredInPlaceOnly) {
  const SizeCurves curves = size_curves(
      {dataset("a", {placed(1024, 10, false), placed(1024, 11, true), placed(2048, 20, true)})},
      PlotPlacement::Out);
  ASSERT_EQ(curves.curves.size(), 1U);
  EXPECT_EQ(curves.common, "a, allreduce, float sum, out of place");
  const Chart figure = busbw_figure(curves);
  EXPECT_EQ(figure.curves.front().points.size(), 2U);
  const ChartCurve& marks = figure.curves.back();
  EXPECT_EQ(marks.kind, CurveKind::Hollow);
  EXPECT_EQ(marks.title, "hollow: measured in place only");
  ASSERT_EQ(marks.points.size(), 1U);
  EXPECT_DOUBLE_EQ(marks.points[0].x, 2048);
  const SizeCurves in_place =
      size_curves({dataset("a", {placed(1024, 11, true)})}, PlotPlacement::In);
  EXPECT_FALSE(in_place.curves.at(0).points.at(0).in_place_only) << "as all of its curve";
}

TEST(BusbwFigure, HasALogarithmicAxisWherePeaksDifferMuchOrAsRequested) {
  const auto has_log = [](double slow, std::optional<bool> requested) {
    const Chart figure =
        busbw_figure(size_curves({dataset("a", {row(1024, 480)}), dataset("b", {row(1024, slow)})},
                                 PlotPlacement::Out),
                     requested);
    return figure.panels.at(0).y.kind == AxisKind::Log;
  };
  EXPECT_TRUE(has_log(2.5, {}));
  EXPECT_FALSE(has_log(2.5, false));
  EXPECT_FALSE(has_log(100, {}));
  EXPECT_TRUE(has_log(100, true));
}

TEST(CurveNames, NameImportedMeansAndFakeGpus) {
  Record imported = row(1024, 10);
  imported.flags = "imported mean";
  Record fake = row(1024, 10);
  fake.flags = "fake";
  const SizeCurves all = size_curves({dataset("a", {imported})}, PlotPlacement::Out);
  EXPECT_EQ(all.common, "a, allreduce, float sum, out of place, imported means");
  const SizeCurves mixed =
      size_curves({dataset("a", {imported}), dataset("b", {row(1024, 1)}), dataset("c", {fake})},
                  PlotPlacement::Out);
  EXPECT_EQ(mixed.curves[0].title, "a (imported means)");
  EXPECT_EQ(mixed.curves[1].title, "b");
  EXPECT_EQ(mixed.curves[2].title, "c (fake GPUs)");
}

TEST(CurveStyles, DistinguishCollectivesOfOneSystemByMoreThanADash) {
  std::vector<Record> records;
  for (const char* collective : {"allgather", "allreduce", "broadcast", "reduce", "sendrecv"}) {
    records.push_back(row(1024, 10));
    records.back().collective = collective;
  }
  const SizeCurves curves =
      size_curves({dataset("dgx-2", records), dataset("x", {row(1024, 1)})}, PlotPlacement::Out);
  std::set<int> points;
  for (const SizeCurve& curve : curves.curves) {
    if (curve.key.label == "dgx-2") points.insert(curve.style.point);
  }
  EXPECT_EQ(points.size(), 5U);
}

TEST(ShareFigure, IsPercentOfTheRowsOwnBound) {
  const Chart figure =
      share_figure(size_curves({dataset("a", {row(1024, 50)})}, PlotPlacement::Out));
  EXPECT_DOUBLE_EQ(figure.curves.at(0).points.at(0).y, 25);
}

TEST(ScalingFigure, KeepsTheBandwidthOfTheFewestRanksAsIdeal) {
  const SizeCurves curves =
      size_curves({dataset("a", {row(1024, 50, 2), row(1024, 40, 4)})}, PlotPlacement::Out);
  const Chart figure = scaling_figure(curves, {});
  ASSERT_EQ(figure.curves.size(), 4U);
  EXPECT_EQ(figure.curves[2].kind, CurveKind::Ideal);
  EXPECT_EQ(figure.curves[2].panel, 0) << "bandwidth";
  EXPECT_EQ(figure.curves[3].panel, 1) << "time";
  EXPECT_DOUBLE_EQ(figure.curves[2].points.at(1).y, 50);
  EXPECT_DOUBLE_EQ(figure.curves[3].points.at(1).y, 80);  // 100 us * 40 / 50
}

TEST(ScalingFigure, TakesTheBestOfSeveralDeviceSets) {
  for (const bool best_first : {true, false}) {
    Record near = row(1024, best_first ? 45 : 30, 4);
    near.device_set = "0,1,2,3";
    Record far = row(1024, best_first ? 30 : 45, 4);
    far.device_set = "0,2,4,6";
    const Chart figure = scaling_figure(
        size_curves({dataset("a", {row(1024, 50, 2), near, far})}, PlotPlacement::Out), {});
    ASSERT_EQ(figure.curves.size(), 4U);
    ASSERT_EQ(figure.curves[0].points.size(), 2U);
    EXPECT_DOUBLE_EQ(figure.curves[0].points[1].y, 45);
  }
}

TEST(ScalingFigure, IsAtTheLargestSizeThatAllCurvesHave) {
  const SizeCurves curves =
      size_curves({dataset("a", {row(1024, 50, 2), row(2048, 60, 2), row(4096, 70, 2),
                                 row(1024, 40, 4), row(2048, 50, 4), row(8192, 60, 4)})},
                  PlotPlacement::Out);
  EXPECT_NE(scaling_figure(curves, {}).title.find("at 2 KiB"), std::string::npos);
  EXPECT_TRUE(scaling_figure(curves, 4096).empty()) << "one number of ranks";
}

TEST(ScalingFigure, IsEmptyWhereNoSetHasSeveralNumbersOfRanks) {
  const SizeCurves curves = size_curves({dataset("a", {row(1024, 50, 2)})}, PlotPlacement::Out);
  EXPECT_TRUE(scaling_figure(curves, {}).empty());
  EXPECT_TRUE(scaling_figure({}, {}).empty());
}

TEST(ScalingFigure, JoinsNodesAndLeavesAGapWhereTheSizeIsMissing) {
  // 1 KiB on 4, 16 and 32 ranks: 2 and 8 ranks have another size alone.
  std::vector<Record> records{row(2048, 9, 2), row(1024, 40, 4), row(2048, 9, 8), row(1024, 20, 16),
                              row(1024, 10, 32)};
  for (Record& record : records) record.nodes = record.ranks / 2;
  const Chart figure =
      scaling_figure(size_curves({dataset("a", records)}, PlotPlacement::Out), 1024);
  ASSERT_EQ(figure.curves.size(), 4U);
  const std::vector<ChartPoint>& points = figure.curves[0].points;
  ASSERT_EQ(points.size(), 3U);
  EXPECT_FALSE(points[0].gap_before);
  EXPECT_TRUE(points[1].gap_before);
  EXPECT_FALSE(points[2].gap_before);
  // Ideal is the bandwidth of 4 ranks: 100 us at 10 of 40 GB/s would be 25.
  EXPECT_DOUBLE_EQ(figure.curves[2].points[2].y, 40);
  EXPECT_DOUBLE_EQ(figure.curves[3].points[2].y, 25);
}

TEST(ScalingFigure, LeavesOutSizesThatWereMeasuredInPlaceOnly) {
  Record in_place = row(2048, 60, 4);
  in_place.in_place = true;
  const SizeCurves curves =
      size_curves({dataset("a", {row(1024, 50, 2), row(2048, 55, 2), row(1024, 40, 4), in_place})},
                  PlotPlacement::Out);
  EXPECT_NE(scaling_figure(curves, {}).title.find("1 KiB"), std::string::npos);
  EXPECT_TRUE(scaling_figure(curves, 2048).empty()) << "4 ranks have it in place only";
}

TEST(ScalingFigure, HasIdealLinesInGreyOrOfTheirCurvesColours) {
  const std::vector<Record> records{row(1024, 50, 2), row(1024, 40, 4)};
  const auto figure_of = [](std::vector<Dataset> datasets) {
    return scaling_figure(size_curves(std::move(datasets), PlotPlacement::Out), {});
  };
  EXPECT_EQ(figure_of({dataset("a", records)}).curves.at(2).style.colour, 0x777777);
  const Chart two = figure_of({dataset("a", records), dataset("b", records)});
  ASSERT_EQ(two.curves.size(), 8U);
  EXPECT_NE(two.curves[0].style.colour, two.curves[4].style.colour);
  EXPECT_EQ(two.curves[2].style.colour, two.curves[0].style.colour);
  EXPECT_EQ(two.curves[6].style.colour, two.curves[4].style.colour);
}

TEST(PairsFigure, NamesTheSizeOnce) {
  Record one = row(1024, 20, 2);
  one.sender = 0;
  one.receiver = 1;
  const std::vector<Dataset> datasets{dataset("a", {one})};
  const Chart figure = pairs_figure(datasets, {}, {});
  EXPECT_EQ(figure.title, "Pairs: allreduce, 1 KiB");
  EXPECT_EQ(figure.panels.at(0).title, "a");
}

TEST(PairsFigure, HasNoDiagonalAndNoValueForAMissingPair) {
  Record one = row(1024, 20, 2);
  one.sender = 0;
  one.receiver = 1;
  const std::vector<Dataset> datasets{dataset("a", {one})};
  const Chart figure = pairs_figure(datasets, {}, PlotLimits{.low = 0, .high = 50});
  ASSERT_EQ(figure.curves.at(0).points.size(), 2U);
  EXPECT_DOUBLE_EQ(*figure.curves[0].points[0].low, 20);
  EXPECT_FALSE(figure.curves[0].points[1].low);
}

Record pair(Bytes size, double busbw, int sender, int receiver) {
  Record record = row(size, busbw, 2);
  record.sender = sender;
  record.receiver = receiver;
  return record;
}

TEST(PairsFigure, HasTheSenderAsRowAndTheReceiverAsColumn) {
  // From 0 to 2 the median of 10, 20 and 90; back 44. Ranks 0 to 2 have six ordered pairs.
  const std::vector<Dataset> datasets{
      dataset("a", {pair(4096, 10, 0, 2), pair(4096, 90, 0, 2), pair(4096, 20, 0, 2),
                    pair(4096, 44, 2, 0), pair(1024, 99, 0, 2)})};
  const Chart figure = pairs_figure(datasets, {}, {});
  ASSERT_EQ(figure.curves.at(0).points.size(), 6U);
  for (const ChartPoint& cell : figure.curves[0].points) {
    const bool there = cell.y == 0 && cell.x == 2;
    const bool back = cell.y == 2 && cell.x == 0;
    EXPECT_EQ(cell.low, there ? std::optional(20.0) : back ? std::optional(44.0) : std::nullopt);
  }
  EXPECT_EQ(figure.title, "Pairs: allreduce, 4 KiB");
  // 24 in fives: from 20 to 45.
  EXPECT_DOUBLE_EQ(figure.colours->low, 20);
  EXPECT_DOUBLE_EQ(figure.colours->high, 45);
  EXPECT_EQ(figure.panels.at(0).x.names, (std::vector<std::string>{"0", "1", "2"}));
}

TEST(PairsFigure, IsOfTheLargestSizeThatWasMeasured) {
  Record failed = pair(8192, 77, 0, 1);
  failed.status = RowStatus::Failed;
  const std::vector<Dataset> datasets{
      dataset("a", {pair(1024, 10, 0, 1), pair(4096, 20, 0, 1), pair(2048, 30, 0, 1), failed})};
  const Chart figure = pairs_figure(datasets, {}, {});
  EXPECT_EQ(figure.title, "Pairs: allreduce, 4 KiB");
  EXPECT_EQ(figure.curves.at(0).points.at(0).low, 20.0);
  EXPECT_EQ(pairs_figure(datasets, 1024, {}).curves.at(0).points.at(0).low, 10.0);
}

TEST(PairsFigure, HasARowForEverySenderAndAColumnForEveryReceiver) {
  for (const auto& [sender, receiver] : {std::pair{3, 0}, {0, 3}}) {
    const std::vector<Dataset> datasets{dataset("a", {pair(1024, 10, sender, receiver)})};
    const Chart figure = pairs_figure(datasets, {}, {});
    EXPECT_EQ(figure.panels.at(0).x.names.size(), 4U);
    EXPECT_EQ(figure.panels.at(0).y.names.size(), 4U);
  }
}

TEST(PairsFigure, PassesOverRowsWithoutBothEnds) {
  Record half = pair(4096, 99, 0, 5);
  half.receiver.reset();
  const std::vector<Dataset> datasets{dataset("a", {pair(1024, 10, 0, 1), half})};
  EXPECT_EQ(pairs_figure(datasets, {}, {}).panels.at(0).x.names.size(), 2U);
}

TEST(PairsFigure, OfSeveralFilesHasOneScaleAndNamesWhatDiffers) {
  Dataset simulated = dataset("b", {pair(1024, 42, 0, 1), pair(1024, 30, 1, 0)});
  simulated.simulated = true;
  const std::vector<Dataset> datasets{dataset("a", {pair(4096, 20, 0, 2), pair(4096, 25, 2, 0)}),
                                      simulated};
  const Chart figure = pairs_figure(datasets, {}, {});
  EXPECT_EQ(figure.title, "Pairs: allreduce");
  ASSERT_EQ(figure.panels.size(), 2U);
  EXPECT_EQ(figure.panels[0].title, "a, 4 KiB");
  EXPECT_EQ(figure.panels[1].title, "b (simulated), 1 KiB");
  EXPECT_DOUBLE_EQ(figure.colours->low, 20);
  EXPECT_DOUBLE_EQ(figure.colours->high, 45);
}

TEST(RoundLimits, AreMultiplesOfAStepThatIsInTheDataTenTimesAtMost) {
  struct Case {
    double low, high, from, to;
  };
  // Ten steps of 1 are not too many. In binary 0.3 / 0.1 is below 3, and 0.7 / 0.1 below 7.
  for (const Case& one : {Case{1, 11, 1, 11}, Case{1, 11.5, 0, 12}, Case{0.3, 0.9, 0.3, 0.9},
                          Case{0.3, 0.7, 0.3, 0.7}, Case{20, 44, 20, 45}}) {
    const PlotLimits limits = round_limits(one.low, one.high);
    EXPECT_NEAR(limits.low, one.from, 1e-12) << one.low << ' ' << one.high;
    EXPECT_NEAR(limits.high, one.to, 1e-12) << one.low << ' ' << one.high;
  }
}

TEST(RoundLimits, EncloseTheData) {
  const PlotLimits limits = round_limits(9.5, 47.9);
  EXPECT_DOUBLE_EQ(limits.low, 5);
  EXPECT_DOUBLE_EQ(limits.high, 50);
  EXPECT_LT(round_limits(7, 7).low, round_limits(7, 7).high);
}

Record chosen(Bytes size, double busbw, const std::string& algorithm, const std::string& protocol,
              bool in_place = false) {
  Record record = row(size, busbw);
  record.algorithm = algorithm;
  record.protocol = protocol;
  record.in_place = in_place;
  return record;
}

TEST(ChoiceMarks, StandBetweenTwoSizesOfDifferentChoices) {
  const SizeCurves curves = size_curves(
      {dataset("a", {chosen(1024, 5, "Ring", "LL"), chosen(4096, 10, "Tree", "LL"),
                     chosen(16384, 190, "Tree", "LL"), chosen(65536, 195, "NVLS", "Simple")})},
      PlotPlacement::Out);
  for (const Chart& figure : {busbw_figure(curves), latency_figure(curves)}) {
    ASSERT_EQ(figure.marks.size(), 2U);
    EXPECT_DOUBLE_EQ(figure.marks[0].x, 2048);
    EXPECT_EQ(figure.marks[0].panel, 0);
  }
  const std::vector<ChartMark> marks = busbw_figure(curves).marks;
  EXPECT_EQ(marks[0].text, "Ring/LL → Tree/LL");
  EXPECT_EQ(marks[0].place, ChartMark::Place::Above);
  EXPECT_EQ(marks[1].text, "Tree/LL → NVLS/Simple");
  EXPECT_EQ(marks[1].place, ChartMark::Place::Below);
}

TEST(ChoiceMarks, NeedToKnowBothChoices) {
  const SizeCurves curves = size_curves(
      {dataset("a", {chosen(1024, 5, "Ring", "LL"), row(2048, 10), chosen(4096, 10, "Tree", "LL"),
                     chosen(8192, 10, "Tree", "LL"), chosen(8192, 11, "Ring", "LL")})},
      PlotPlacement::Out);
  EXPECT_TRUE(busbw_figure(curves).marks.empty());
  const SizeCurves protocols =
      size_curves({dataset("a", {chosen(4096, 10, "Tree", "LL"), chosen(8192, 10, "Ring", "LL"),
                                 chosen(8192, 11, "Ring", "Simple")})},
                  PlotPlacement::Out);
  EXPECT_TRUE(busbw_figure(protocols).marks.empty()) << "two launches chose two protocols";
}

TEST(ChoiceMarks, AreOneForCurvesThatChangeAlike) {
  std::vector<Record> records;
  for (const bool in_place : {false, true}) {
    records.push_back(chosen(1024, 5, "Ring", "LL", in_place));
    records.push_back(chosen(2048, 6, "Ring", "Simple", in_place));
  }
  EXPECT_EQ(busbw_figure(size_curves({dataset("a", records)}, PlotPlacement::Both)).marks.size(),
            1U);
  records.back().algorithm = "Symmetric";
  records.back().protocol = "RSxLDMC_AGxSTMC";
  const SizeCurves apart = size_curves({dataset("a", records)}, PlotPlacement::Both);
  const std::vector<ChartMark> marks = busbw_figure(apart).marks;
  ASSERT_EQ(marks.size(), 2U);
  EXPECT_FALSE(marks[0].right);
  EXPECT_TRUE(marks[1].right);
  EXPECT_NE(marks[0].colour, marks[1].colour);
  EXPECT_EQ(marks[1].text, "→ Symmetric/RSxLDMC_AGxSTMC");  // both would be too long
}

TEST(ChoiceMarks, HaveNoLabelsWhereTheyAreMany) {
  std::vector<Record> records;
  for (int power = 0; power < 12; ++power) {
    records.push_back(chosen(Bytes{1024} << power, 5, power % 2 == 0 ? "Ring" : "Tree", "LL"));
  }
  const Chart figure = busbw_figure(size_curves({dataset("a", records)}, PlotPlacement::Out));
  ASSERT_EQ(figure.marks.size(), 11U);
  for (const ChartMark& mark : figure.marks) EXPECT_TRUE(mark.text.empty());
}

TEST(HistoryFigure, MarksTheFirstLaunchOfANewVersion) {
  Dataset first = dataset("a", {row(1024, 50)});
  first.facts = {{"started", "2026-11-01 10:00:00"}, {"library", "NCCL 2.19"}};
  Dataset second = dataset("a", {row(1024, 51)});
  second.facts = {{"started", "2026-11-02 10:00:00"}, {"library", "NCCL 2.20"}};
  const Chart figure = history_figure({second, first}, PlotPlacement::Out, {});
  ASSERT_EQ(figure.marks.size(), 1U);
  EXPECT_DOUBLE_EQ(figure.marks[0].x, *started_at(second));
  EXPECT_DOUBLE_EQ(*started_at(second) - *started_at(first), 86400);
  EXPECT_EQ(figure.curves.at(0).points.size(), 2U);
}

TEST(HistoryFigure, KeepsLaunchesOfTheSameSecond) {
  std::vector<Dataset> launches;
  for (const double busbw : {4.9, 4.4, 4.8}) {
    launches.push_back(dataset("a", {row(1024, busbw)}));
    launches.back().facts["started"] = "2026-11-01 10:00:00";
  }
  launches[0].facts["started"] = "2026-11-01 09:59:00";
  const Chart figure = history_figure(launches, PlotPlacement::Out, {});
  EXPECT_EQ(figure.curves.at(0).points.size(), 3U);
}

TEST(MakeFigures, SayWhatIsMissing) {
  const auto requested = [](const std::vector<std::string>& names) {
    return test::failure_of([&] {
      (void)make_figures({.datasets = {dataset("a", {row(1024, 1)})}}, {.figures = names});
    });
  };
  EXPECT_TRUE(requested({"pairs"}).says("sendrecv_perf --pairs all"));
  EXPECT_TRUE(requested({"samples"}).says("--samples"));
  EXPECT_TRUE(requested({"histogram"}).says("30 samples"));
  EXPECT_EQ(requested({"history"}).status, Status::Usage);
  EXPECT_EQ(requested({"busbw"}).status, Status::Ok);
}

}  // namespace
}  // namespace busbar

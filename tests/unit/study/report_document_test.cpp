// SPDX-License-Identifier: BSD-3-Clause
#include "study/report_document.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/document.hpp"

namespace busbar {
namespace {

using testing::HasSubstr;
using testing::Not;

Record row(Bytes size, double busbw, const std::string& flags = {}) {
  return {.collective = "allreduce",
          .backend = "nccl",
          .ranks = 8,
          .nodes = 1,
          .type = "float",
          .size = size,
          .flags = flags,
          .time_median_us = 1,
          .busbw_GBps = busbw};
}

std::string page_of(std::vector<Dataset> datasets) {
  return markdown_page(report_document(make_report_data(std::move(datasets), {})));
}

std::vector<Figure> figures_of(const Document& document) {
  std::vector<Figure> figures;
  for (const Section& section : document.sections) {
    for (const Block& block : section.blocks) {
      if (const auto* figure = std::get_if<Figure>(&block)) figures.push_back(*figure);
    }
  }
  return figures;
}

Dataset run_of(const std::string& label, std::vector<Record> records,
               std::map<std::string, std::string> facts = {}) {
  return {.path = label + ".csv",
          .label = label,
          .facts = std::move(facts),
          .records = std::move(records)};
}

TEST(ReportDocument, NamesImportedMeansWhereverItWouldSayMeasuredMedians) {
  const Dataset imported =
      run_of("a", {row(1024, 10, "imported mean")},
             {{"tool", "nccl-tests 2.17.8"}, {"imported-from", "/home/me/secret/a.txt"}});
  const std::string page = page_of({imported});
  EXPECT_THAT(page, HasSubstr("One run is imported from logs of nccl-tests: each value is a mean"));
  EXPECT_THAT(page, HasSubstr("Values are means"));
  EXPECT_THAT(page, HasSubstr("imported means (nccl-tests 2.17.8)"));
  EXPECT_THAT(page, HasSubstr("a.txt"));
  EXPECT_THAT(page, Not(HasSubstr("secret")));
  EXPECT_THAT(page, Not(HasSubstr("Medians over launches")));
  const std::string both = page_of({imported, run_of("b", {row(1024, 20)})});
  EXPECT_THAT(both, HasSubstr("a (imported means)"));
  EXPECT_THAT(both, HasSubstr("imported means (a); measured medians (b)"));
}

TEST(ReportDocument, LabelsWhatIsOfFakeGpus) {
  const std::string page = page_of({run_of("a", {row(1024, 10, "fake")})});
  EXPECT_THAT(page, HasSubstr("a (fake GPUs)"));
  EXPECT_THAT(page, HasSubstr("no figure is real"));
  EXPECT_THAT(page, Not(HasSubstr("measured.")));
  EXPECT_THAT(page_of({run_of("a", {row(1024, 10, "fake")}), run_of("b", {row(1024, 20)})}),
              HasSubstr("fake GPUs (a); measured medians (b)"));
}

TEST(ReportDocument, ShowsSizesMeasuredInPlaceOnlyAndSaysSo) {
  Record in_place = row(2048, 20);
  in_place.in_place = true;
  EXPECT_THAT(page_of({run_of("a", {row(1024, 10), in_place})}),
              HasSubstr("| 2 KiB | 20 (in place) |"));
}

TEST(ReportDocument, DrawsEachRateAsAShareOfItsOwnBound) {
  Record half = row(1024, 10);
  half.bound_GBps = 20;
  Record more = row(2048, 15);
  more.bound_GBps = 20;
  const Document document = report_document(make_report_data({run_of("a", {half, more})}, {}));
  const Figure share = figures_of(document).at(1);
  EXPECT_DOUBLE_EQ(share.chart.curves.at(0).points.at(0).y, 50);
  EXPECT_THAT(share.caption, Not(HasSubstr("Hollow")));
  Record in_place = row(2048, 15);
  in_place.in_place = true;
  EXPECT_THAT(figures_of(report_document(make_report_data({run_of("a", {half, in_place})}, {})))
                  .at(0)
                  .caption,
              HasSubstr("Hollow: measured in place only."));
}

TEST(ReportDocument, NamesTheTypeInTheCaptionOrInTheLinesThatDiffer) {
  Record other = row(1024, 10);
  other.type = "double";
  EXPECT_THAT(page_of({run_of("a", {other})}), HasSubstr("all-reduce, 8 ranks, double\n"));
  const std::string both = page_of({run_of("a", {other}), run_of("b", {row(1024, 10)})});
  EXPECT_THAT(both, HasSubstr("| a, double | b, float |"));
}

TEST(ReportDocument, HasNoRowsOfBoundsAndNoColumnsOfFactsThatNobodyKnows) {
  const std::string page = page_of({run_of("a", {row(1024, 10)})});
  EXPECT_THAT(page, Not(HasSubstr("highest of bound")));
  EXPECT_THAT(page, Not(HasSubstr("processor |")));
}

}  // namespace
}  // namespace busbar

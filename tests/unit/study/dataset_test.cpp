// SPDX-License-Identifier: BSD-3-Clause
#include "study/dataset.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/support/study_rows.hpp"

namespace busbar {
namespace {

using test::with;
using testing::ElementsAre;
using testing::IsEmpty;

Record row(Bytes size, bool in_place, double busbw = 10) {
  return with(test::study_row(size, busbw, 2), &Record::in_place, in_place);
}
Record flagged(Bytes size, const std::string& flags) {
  return with(row(size, false), &Record::flags, flags);
}

std::vector<Curve> preferred(std::vector<Record> records) {
  const std::vector<Dataset> datasets{{.label = "a", .records = std::move(records)}};
  std::vector<Curve> curves = curves_of(datasets);
  prefer_out_of_place(curves);
  return curves;
}

TEST(PreferOutOfPlace, TakesFromInPlaceOnlyTheSizesThatLack) {
  const std::vector<Curve> curves =
      preferred({row(1024, false, 1), row(1024, true, 2), row(2048, true, 3), row(4096, false, 4)});
  ASSERT_EQ(curves.size(), 1U);
  std::vector<double> rates;
  for (const Record& point : curves[0].points) rates.push_back(*point.busbw_GBps);
  EXPECT_THAT(rates, ElementsAre(1, 3, 4));
  EXPECT_TRUE(curves[0].points[1].in_place);
}

TEST(PreferOutOfPlace, KeepsACurveThatIsInPlaceAlone) {
  const std::vector<Curve> curves = preferred({row(1024, true)});
  ASSERT_EQ(curves.size(), 1U);
  EXPECT_TRUE(curves[0].key.in_place);
}

TEST(Curves, KeepApartWhatIsMeasuredImportedAndOfFakeGpus) {
  const std::vector<Curve> curves = preferred(
      {row(1024, false), flagged(1024, "imported mean"), flagged(1024, "shared-gpu fake")});
  ASSERT_EQ(curves.size(), 3U);
  std::vector<std::string> suffixes;
  for (const Curve& curve : curves) suffixes.emplace_back(origin_suffix(curve.key));
  EXPECT_THAT(suffixes, ElementsAre("", "", " (fake GPUs)"));
}

TEST(FileProblems, AreThatItWasCutHasNoValueContradictsItselfOrIsFake) {
  FileProblems none;
  none.add(row(1024, false));
  EXPECT_THAT(none.lines("/x/a.csv", ""), IsEmpty());
  FileProblems all;
  all.add(flagged(2048, "imported mean bandwidth-differs"));
  all.add(with(flagged(4096, "fake"), &Record::status, RowStatus::Skipped));
  EXPECT_THAT(
      all.lines("/x/a.csv", "cut off: its last line has no end"),
      ElementsAre(
          "a.csv: cut off: its last line has no end", "a.csv: no row with status ok and a time",
          "a.csv: left out, since time and bandwidth of the log contradict each other: 2 KiB",
          "a.csv: from the fake GPU machine of busbar's tests; no figure is real"));
}

}  // namespace
}  // namespace busbar

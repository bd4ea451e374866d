// SPDX-License-Identifier: BSD-3-Clause
#include "study/dataset.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/support/study_rows.hpp"
#include "tests/unit/support/temporary_folder.hpp"

namespace busbar::study {
namespace {

using test::dataset;
using test::with;
using testing::ElementsAre;
using testing::IsEmpty;

Record row(Bytes size, double busbw) { return test::study_row(size, busbw, 4); }
Record placed(Bytes size, double busbw, bool in_place) {
  return with(row(size, busbw), &Record::in_place, in_place);
}
Record flagged(Bytes size, const std::string& flags) {
  return with(row(size, 10), &Record::flags, flags);
}

std::vector<Curve> preferred(std::vector<Record> records) {
  std::vector<Curve> curves = curves_of(std::vector{dataset("a", std::move(records))});
  prefer_out_of_place(curves);
  return curves;
}

TEST(PreferOutOfPlace, TakesFromInPlaceOnlyTheSizesThatLack) {
  const std::vector<Curve> curves = preferred({placed(1024, 1, false), placed(1024, 2, true),
                                               placed(2048, 3, true), placed(4096, 4, false)});
  ASSERT_EQ(curves.size(), 1U);
  std::vector<double> rates;
  for (const Record& point : curves[0].points) rates.push_back(*point.busbw_GBps);
  EXPECT_THAT(rates, ElementsAre(1, 3, 4));
  EXPECT_TRUE(curves[0].points[1].in_place);
  EXPECT_TRUE(preferred({placed(1024, 10, true)}).at(0).key.in_place) << "in place alone";
}

TEST(Curves, KeepApartWhatIsMeasuredImportedAndOfFakeGpus) {
  const std::vector<Curve> curves =
      preferred({row(1024, 10), flagged(1024, "imported mean"), flagged(1024, "shared-gpu fake")});
  ASSERT_EQ(curves.size(), 3U);
  std::vector<std::string> suffixes;
  for (const Curve& curve : curves) suffixes.emplace_back(origin_suffix(curve.key));
  EXPECT_THAT(suffixes, ElementsAre("", "", " (fake GPUs)"));
}

TEST(FileProblems, AreThatItWasCutHasNoValueContradictsItselfOrIsFake) {
  FileProblems none;
  none.add(row(1024, 10));
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

TEST(DistinctFiles, CountTheSameBytesAndTheSameNameOnce) {
  const test::TemporaryFolder folder;
  const auto named = [&](const char* name) { return folder.path(name); };
  for (const char* name : {"a", "b", "c"}) folder.write(name, *name == 'c' ? "yes" : "not");
  std::vector<std::string> notes;
  const std::vector<std::string> paths{named("a"), named("b"),  named("c"),
                                       named("c"), "/dev/null", "/dev/null"};
  EXPECT_THAT(distinct_files(paths, notes), ElementsAre(paths[0], paths[2], "/dev/null"));
  EXPECT_THAT(notes, ElementsAre(paths[0] + " and " + paths[1] + " are the same file: counted once",
                                 paths[2] + " is given 2 times: counted once",
                                 "/dev/null is given 2 times: counted once"));
  EXPECT_THAT(distinct_files(std::vector{paths[1]}, notes, std::vector{paths[0]}), IsEmpty());
}

}  // namespace
}  // namespace busbar::study

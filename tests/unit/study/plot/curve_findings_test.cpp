// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "study/plot/curves.hpp"

namespace busbar::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

/// Rates in GB/s from 4 MiB on, each size twice the one before.
std::vector<SizePoint> points_of(const std::vector<double>& rates_GBps) {
  std::vector<SizePoint> points;
  Bytes size = 4 * kMiB;
  for (const double rate_GBps : rates_GBps) {
    points.push_back({.size = size, .busbw_GBps = {rate_GBps}});
    size *= 2;
  }
  return points;
}

SizeCurve placed(bool in_place, const std::vector<double>& rates_GBps) {
  return {.key = {.label = "a", .in_place = in_place}, .points = points_of(rates_GBps)};
}

/// All-to-all of 16 GPUs without peer access, as published.
const std::vector<double> kOut{22.4, 30.2, 1.60, 1.38, 0.79, 1.22,
                               2.41, 4.59, 7.59, 11.1, 24.2, 34.2};

TEST(Dips, AreSizesWithLessThanHalfOfASmallerSizes) {
  const std::vector<Dip> dips = dips_of(points_of(kOut));
  ASSERT_THAT(dips, SizeIs(1));
  EXPECT_EQ(dips[0].peak.size, 8 * kMiB);
  EXPECT_EQ(dips[0].first.size, 16 * kMiB);
  EXPECT_EQ(dips[0].lowest.size, 64 * kMiB);
  EXPECT_EQ(dips[0].last.size, 2 * kGiB);
  EXPECT_THAT(dips_of(points_of({10, 20, 5, 30, 40, 10})), SizeIs(2)) << "one after the other";
}

TEST(Dips, AreNoneUpToHalf) {
  EXPECT_THAT(dips_of(points_of({1, 10, 100, 50, 200})), IsEmpty());
  EXPECT_THAT(dips_of(points_of({1, 10, 100, 49.9, 200})), SizeIs(1));
  EXPECT_THAT(dips_of(points_of({0, 0, 5})), IsEmpty());
  EXPECT_THAT(dips_of({}), IsEmpty());
}

TEST(CurveFindings, NameTheFallItsSizesAndWhatNcclChose) {
  SizeCurve curve = placed(false, kOut);
  auto found = curve_findings({&curve, 1});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(placement_and_text(found[0]),
            "out of place falls from 30.2 GB/s at 8 MiB to 0.79 at 64 MiB (1/38.2): less than half "
            "from 16 MiB to 2 GiB");
  EXPECT_EQ(found[0].size, 2 * kGiB);
  curve.points[1].choice = "Ring/Simple";
  curve.points[2].choice = "Tree/LL";
  found = curve_findings({&curve, 1});
  EXPECT_THAT(found[0].text, HasSubstr("NCCL chose Ring/Simple at 8 MiB, Tree/LL at 16 MiB"));
  curve.points[2].choice = "Ring/Simple";
  found = curve_findings({&curve, 1});
  EXPECT_THAT(found[0].text, testing::Not(HasSubstr("NCCL chose")));
}

TEST(CurveFindings, ComparePlacementsAtEachSize) {
  const std::vector<SizeCurve> curves{placed(false, {22, 30, 40, 50}), placed(true, {22, 14, 10})};
  const auto found = curve_findings(curves);
  ASSERT_THAT(found, SizeIs(2)) << "in place falls, too";
  EXPECT_EQ(placement_and_text(found[1]),
            "in place has 10 GB/s at 16 MiB, out of place 40: less than half at 2 sizes");
  std::vector<SizeCurve> others = curves;
  others[0].key.label = "another machine";
  EXPECT_THAT(curve_findings(others), SizeIs(1)) << "the fall alone";
}

}  // namespace
}  // namespace busbar::study

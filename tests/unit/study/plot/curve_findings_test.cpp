// SPDX-License-Identifier: BSD-3-Clause
#include "study/plot/curves.hpp"

namespace busbar::study {
namespace {

/// Rates in GB/s from 4 MiB on, each size twice the one before.
std::vector<SizePoint> points_of(const std::vector<double>& rates_GBps) {
  std::vector<SizePoint> points;
  for (Bytes size = 4 * kMiB; const double rate_GBps : rates_GBps) {
    const double time_us = rate_GBps > 0 ? static_cast<double>(size) / rate_GBps / 1e3 : 0;
    points.push_back({.size = size, .busbw_GBps = {rate_GBps}, .time_us = {time_us}});
    size *= 2;
  }
  return points;
}

SizeCurve placed(bool in_place, const std::vector<double>& rates_GBps) {
  return {.key = {.label = "a", .in_place = in_place}, .points = points_of(rates_GBps)};
}

/// Texts of what is found in a curve of these rates.
std::vector<std::string> found_in(const std::vector<SizePoint>& points) {
  const SizeCurve curve{.key = {.label = "a"}, .points = points};
  return mapped(curve_findings({&curve, 1}), &CurveFinding::text);
}
std::vector<std::string> found_at(const std::vector<double>& rates_GBps) {
  return found_in(points_of(rates_GBps));
}

TEST(CurveFindings, AreSizesBehindSmallerOnes) {
  EXPECT_THAT(found_at({60, 80, 100, 50, 60}), IsEmpty()) << "half";
  EXPECT_THAT(found_at({60, 80, 100, 49.9, 60}), SizeIs(1));
  EXPECT_THAT(found_at({0, 0, 5}), IsEmpty());
  EXPECT_THAT(found_at({}), IsEmpty());
  EXPECT_THAT(found_at({10, 20, 5, 30, 40, 10}),
              ElementsAre(HasSubstr("to 5 at 16 MiB (1/4)"), HasSubstr("to 10 at 128 MiB (1/4)")));
  EXPECT_THAT(found_at({22.2, 13.7, 20.6}),
              ElementsAre("out of place falls from 22.2 GB/s at 4 MiB to 13.7 at 8 MiB (1/1.62)"))
      << "a notch";
  EXPECT_THAT(found_at({22.2, 13.7, 20.4}), IsEmpty());
  EXPECT_THAT(found_at({5, 10, 6, 12, 24, 4}), ElementsAre(HasSubstr("1/6"), HasSubstr("1/1.67")))
      << "the worst first";
}

/// Rows of a few bytes.
std::vector<SizePoint> timed(const std::vector<double>& times_us) {
  std::vector<SizePoint> points;
  for (Bytes size = 8; const double time_us : times_us) {
    points.push_back({.size = size, .time_us = {time_us}});
    size *= 2;
  }
  return points;
}

TEST(CurveFindings, AreSizesThatTakeLongerThanLargerOnes) {
  EXPECT_THAT(found_in(timed({218, 41, 42})),
              ElementsAre("out of place takes 218 us at 8 B and 41 at 16 B (5.32 times)"));
  EXPECT_THAT(found_in(timed({52, 41, 42})), IsEmpty()) << "1.27 times";
  EXPECT_THAT(found_in(timed({41, 210, 218, 200, 41})),
              ElementsAre("out of place takes 218 us at 32 B and 41 at 128 B (5.32 times): slow "
                          "from 16 B to 64 B"));
  EXPECT_THAT(found_at({40, 45, 102}), ElementsAre(HasSubstr("at 8 MiB and")))
      << "a step from 1 MiB on";
  auto noisy = timed({218, 41, 42});
  noisy[0].time_us = {218, 40.0, 230.0};
  EXPECT_THAT(found_in(noisy), IsEmpty()) << "intervals meet";
}

TEST(CurveFindings, NameTheFallItsSizesAndWhatNcclChose) {
  // All-to-all of 16 GPUs without peer access, as published.
  auto points = points_of({22.4, 30.2, 1.60, 1.38, 0.79, 1.22, 2.41, 4.59, 7.59, 11.1, 24.2, 34.2});
  const std::string fall =
      "out of place falls from 30.2 GB/s at 8 MiB to 0.79 at 64 MiB (1/38.2): slow from 16 MiB "
      "to 2 GiB";
  EXPECT_THAT(found_in(points), ElementsAre(fall));
  EXPECT_EQ(curve_findings(std::array{SizeCurve{.points = points}}).at(0).size, 2 * kGiB);
  points[1].choice = "Ring/Simple";
  points[4].choice = "Tree/LL";
  EXPECT_THAT(found_in(points),
              ElementsAre(HasSubstr("NCCL chose Ring/Simple at 8 MiB, Tree/LL at 64 MiB")));
  points[4].choice = "Ring/Simple";
  EXPECT_THAT(found_in(points), ElementsAre(Not(HasSubstr("NCCL chose"))));
}

TEST(CurveFindings, ComparePlacementsAtEachSize) {
  const std::vector<SizeCurve> curves{placed(false, {22, 30, 40, 50}), placed(true, {22, 14, 10})};
  const auto found = curve_findings(curves);
  ASSERT_THAT(found, SizeIs(2)) << "in place falls, too";
  EXPECT_EQ(found[0].text,
            "in place has 10 GB/s at 16 MiB, out of place 40: less than half at 2 sizes");
  std::vector<SizeCurve> others = curves;
  others[0].key.label = "another machine";
  EXPECT_THAT(curve_findings(others), SizeIs(1)) << "the fall alone";
}

}  // namespace
}  // namespace busbar::study

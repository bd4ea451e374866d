// SPDX-License-Identifier: BSD-3-Clause
#include "study/workload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace busbar {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SystemRates constant(const std::string& name, double GBps) {
  return {.system = name, .constant_GBps = GBps};
}

SystemRates curve_of(const std::string& name, int ranks, double GBps) {
  return {.system = name,
          .curves = {{.key = {.collective = "allreduce", .ranks = ranks},
                      .points = {{.size = kMiB, .busbw_GBps = GBps},
                                 {.size = kGiB, .busbw_GBps = GBps}}}}};
}

/// 100 MB of gradients, 100 ms of computing, 50 samples.
WorkloadRequest request() {
  return {.cases = {{.model = {.name = "m", .parameters = 25e6},
                     .bytes = 100e6,
                     .batch = 50,
                     .compute_s = 0.1}},
          .systems = {constant("slow", 1), constant("fast", 10)},
          .ranks = {2, 4, 16},
          .overlaps = {0, 0.5},
          .target = 0.9};
}

TEST(Workload, StepIsComputingAndWhatIsExposed) {
  const WorkloadReport report = study_workload(request());
  ASSERT_EQ(report.rows.size(), 6U);
  const WorkloadRow& row = report.rows[0];  // slow, 2 ranks: 100 ms on the link
  EXPECT_NEAR(row.sync->seconds, 0.1, 1e-12);
  EXPECT_NEAR(*row.wire_share, 0.5, 1e-12);
  EXPECT_NEAR(row.steps[0].efficiency, 0.5, 1e-12);
  EXPECT_NEAR(row.steps[1].efficiency, 2.0 / 3, 1e-12);
  EXPECT_NEAR(row.samples_per_s[0], 2 * 50 / 0.2, 1e-9);
}

TEST(Workload, ExposedTimeIsNeverBelowZero) {
  const StepTime step = step_time(1, 0.4, 0.5);
  EXPECT_EQ(step.exposed, 0);
  EXPECT_EQ(step.efficiency, 1);
  EXPECT_EQ(step.share, 0);
}

TEST(Workload, EfficiencyFallsWithRanksAndRisesWithRateAndOverlap) {
  const WorkloadReport report = study_workload(request());
  for (std::size_t i = 1; i < report.rows.size(); ++i) {
    const WorkloadRow& before = report.rows[i - 1];
    const WorkloadRow& row = report.rows[i];
    if (row.system == before.system) {
      EXPECT_LE(row.steps[0].efficiency, before.steps[0].efficiency);
    }
    EXPECT_GE(row.steps[1].efficiency, row.steps[0].efficiency);
  }
  EXPECT_GT(report.rows[3].steps[0].efficiency, report.rows[0].steps[0].efficiency);
}

TEST(Workload, NeededRateGivesTheTarget) {
  WorkloadRequest asked = request();
  const WorkloadReport report = study_workload(asked);
  for (std::size_t overlap = 0; overlap < 2; ++overlap) {
    asked.systems = {constant("needed", report.rows[2].needed_GBps[overlap])};
    asked.ranks = {16};
    EXPECT_NEAR(study_workload(asked).rows[0].steps[overlap].efficiency, 0.9, 1e-9);
  }
}

TEST(Workload, LargestNumberOfRanksIsTheLastThatReachesTheTarget) {
  WorkloadRequest asked = request();
  asked.systems = {constant("some", 11), constant("none", 1)};
  const WorkloadReport report = study_workload(asked);
  ASSERT_EQ(report.limits.size(), 4U);
  // 100 MB at 11 GB/s: 9.1, 13.6, 17.0 ms; 11.1 ms may be exposed, with the overlap 61.1 ms.
  EXPECT_EQ(report.limits[0].ranks, 2);
  EXPECT_EQ(report.limits[1].ranks, 16);
  EXPECT_EQ(report.limits[2].ranks, std::nullopt);
  EXPECT_EQ(report.limits[3].ranks, std::nullopt);
}

TEST(Workload, SystemsAreRankedByTheirExchange) {
  WorkloadRequest asked = request();
  asked.systems.push_back(curve_of("measured", 4, 5));
  const WorkloadReport report = study_workload(asked);
  ASSERT_EQ(report.rankings.size(), 3U);
  std::vector<std::string> order;
  for (const std::size_t row : report.rankings[1].rows) {
    order.push_back(asked.systems[report.rows[row].system].system);
  }
  EXPECT_THAT(order, ElementsAre("fast", "measured", "slow"));
  EXPECT_EQ(report.rankings[0].rows.size(), 2U);  // no curve of 2 ranks: a gap, not a zero
}

TEST(Workload, RanksAreThoseOfTheCurves) {
  WorkloadRequest asked = request();
  asked.ranks.clear();
  asked.systems = {curve_of("a", 8, 5), curve_of("b", 2, 5)};
  const WorkloadReport report = study_workload(asked);
  ASSERT_EQ(report.rows.size(), 4U);
  EXPECT_EQ(report.rows[0].ranks, 2);
  EXPECT_FALSE(report.rows[0].sync);
  EXPECT_TRUE(report.rows[0].steps.empty());
  asked.ranks = {16};
  try {
    static_cast<void>(study_workload(asked));
    FAIL() << "nothing was refused";
  } catch (const Error& error) {
    EXPECT_THAT(
        error.what(),
        HasSubstr("--ranks 16: there is no all-reduce with so many ranks; the curves have 2, 8"));
  }
}

TEST(Workload, WithoutAComputeTimeThereIsOnlyTheExchange) {
  WorkloadRequest asked = request();
  asked.cases[0].compute_s.reset();
  const WorkloadReport report = study_workload(asked);
  EXPECT_TRUE(report.rows[0].sync);
  EXPECT_FALSE(report.rows[0].wire_share);
  EXPECT_TRUE(report.rows[0].steps.empty());
  EXPECT_TRUE(report.limits.empty());
}

TEST(Workload, StrongScalingSharesTheBatch) {
  WorkloadRequest asked = request();
  asked.strong = true;
  const WorkloadRow row = study_workload(asked).rows[0];  // 50 ms of computing, 100 ms of exchange
  EXPECT_NEAR(row.steps[0].efficiency, 1.0 / 3, 1e-12);
  EXPECT_NEAR(row.samples_per_s[0], 50 / 0.15, 1e-9);
}

TEST(Workload, InverseUndoesTheForwardCase) {
  const WorkloadRequest asked = request();
  const WorkloadRow row = study_workload(asked).rows[1];  // slow, 4 ranks
  for (std::size_t overlap = 0; overlap < 2; ++overlap) {
    const auto implied = implied_rates(asked, 4, row.steps[overlap].efficiency);
    ASSERT_EQ(implied.size(), 1U);
    EXPECT_NEAR(implied[0].busbw_GBps[overlap], 1, 1e-9);
    EXPECT_NEAR(implied[0].exposed_s, row.steps[overlap].exposed, 1e-12);
    EXPECT_NEAR(implied[0].links[0].share, row.sync->seconds / row.steps[overlap].exposed, 1e-9);
  }
}

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
// What the papers' figures imply for training steps, each with its tolerance.
#include <cmath>

#include <gtest/gtest.h>

#include "model/data_type.hpp"
#include "study/workload/model.hpp"
#include "study/workload/rates.hpp"
#include "study/workload/workload.hpp"

namespace busbar::study {
namespace {

constexpr double kMilli = 1e3;
const double kTwoThirds = 2.0 / 3;

WorkloadModel model_of(std::string_view name) {
  return find_workload_model(built_in_workload_models(), "--model", name);
}

double megabytes(std::string_view model, DataType type) {
  return model_of(model).parameters * static_cast<double>(info(type).size) / 1e6;
}

SystemRates constant(double GBps) { return {.system = "constant", .constant_GBps = GBps}; }

double sync_ms(double bytes, int ranks, double GBps) {
  return sync_time(constant(GBps), ranks, bytes, 0)->seconds * kMilli;
}

/// |value / expected - 1|, in the reference's terms.
void expect_within(double value, double expected, double relative, const std::string& what) {
  EXPECT_NEAR(value, expected, std::abs(expected) * relative) << what;
}

TEST(WorkloadCases, GradientsHaveTheSizesOfTheSecondTable) {  // W1, W2
  struct Case {
    std::string_view model;
    double fp32_MB;
    double fp16_MB;
  };
  for (const Case& c : {Case{"alexnet", 244.40, 122.20}, Case{"resnet18", 46.76, 23.38},
                        Case{"resnet50", 102.24, 51.12}, Case{"resnet101", 178.20, 89.10},
                        Case{"resnet152", 240.76, 120.38}, Case{"bert-swag", 438.00, 219.00},
                        Case{"bert-squad", 438.00, 219.00}, Case{"llama-3-8b", 32121.04, 16060.52},
                        Case{"llama-3-70b", 282214.83, 141107.41}, Case{"googlenet", 22, 11},
                        Case{"cifarnet", 0.040, 0.020}}) {
    const std::string name(c.model);
    expect_within(megabytes(c.model, DataType::Float), c.fp32_MB, 1e-3, name);
    expect_within(megabytes(c.model, DataType::Half), c.fp16_MB, 1e-3, name);
    expect_within(megabytes(c.model, DataType::Bfloat16), c.fp16_MB, 1e-3, name);
  }
}

TEST(WorkloadCases, TheAllReduceTakesItsTime) {  // W3 to W6
  const double alexnet = megabytes("alexnet", DataType::Float) * 1e6;
  expect_within(sync_ms(alexnet, 16, 120), 3.819, 2e-3, "W3");
  expect_within(sync_ms(alexnet, 8, 120), 3.564, 2e-3, "W4");
  expect_within(sync_ms(alexnet, 4, 80), 4.583, 2e-3, "W5");
  expect_within(sync_ms(alexnet, 16, 1.25), 366.6, 2e-3, "W6");
}

TEST(WorkloadCases, DataParallelMovesMore) {  // W9
  for (const auto& [ranks, ratio] : {std::pair{2, 2.000}, {4, 1.3333}, {8, 1.1429}, {16, 1.0667}}) {
    EXPECT_NEAR(data_parallel_ratio(ranks), ratio, 1e-3) << ranks;
  }
}

TEST(WorkloadCases, SpeedUpsAreEfficienciesAndExposedTimes) {  // W11
  struct Case {
    double speedup;
    int ranks;
    double efficiency;
    double exposed;  // over the compute time
  };
  for (const Case& c : {Case{29.43, 32, 0.9197, 0.0873}, Case{25.84, 32, 0.8075, 0.2384},
                        Case{21.95, 32, 0.6859, 0.4579}, Case{23.72, 32, 0.7413, 0.3491},
                        Case{3.55, 4, 0.8875, 4 / 3.55 - 1}, Case{3.58, 4, 0.895, 4 / 3.58 - 1}}) {
    const double efficiency = c.speedup / c.ranks;
    expect_within(efficiency, c.efficiency, 1e-3, "efficiency");
    expect_within(exposed_of_efficiency(1, efficiency), c.exposed, 1e-3, "exposed");
  }
}

TEST(WorkloadCases, AReportedShareIsAnEfficiencyAndAnExposedTime) {  // W13, W14
  expect_within(exposed_of_efficiency(70.44, 1 - 0.80), 281.8, 5e-3, "W13");
  expect_within(exposed_of_efficiency(719.1, 1 - 0.04), 29.96, 5e-3, "W14");
}

/// 2x p3dn at 1 GB/s, 16 ranks, of one model that computes so long.
WorkloadRow on_two_p3dn(std::string_view model, double batch, double compute_s) {
  return study_workload({.cases = {{.model = model_of(model),
                                    .bytes = megabytes(model, DataType::Float) * 1e6,
                                    .batch = batch,
                                    .compute_s = compute_s}},
                         .systems = {constant(1.0)},
                         .ranks = {16},
                         .overlaps = {0, kTwoThirds},
                         .target = 0.9})
      .rows.front();
}

TEST(WorkloadCases, TwoP3dnHurtAlexNetAndNotResNet) {  // W15, W16
  const WorkloadRow resnet50 = on_two_p3dn("resnet50", 256, 256.0 / 356);
  expect_within(resnet50.steps[0].efficiency, 0.790, 5e-3, "W15 without overlap");
  expect_within(resnet50.steps[1].efficiency, 1.000, 5e-3, "W15 with overlap");

  const WorkloadRow alexnet = on_two_p3dn("alexnet", 256, 0.1251);
  expect_within(alexnet.steps[0].share, 0.786, 1e-2, "W16 share");
  expect_within(alexnet.steps[0].efficiency, 0.214, 1e-2, "W16 efficiency");
  expect_within(alexnet.steps[1].efficiency, 0.250, 1e-2, "W16 with overlap");
}

}  // namespace
}  // namespace busbar::study

// SPDX-License-Identifier: BSD-3-Clause
// What the papers' figures imply for training steps, each with its tolerance.
#include <cmath>

#include <gtest/gtest.h>

#include "base/text.hpp"
#include "model/data_type.hpp"
#include "study/workload.hpp"
#include "study/workload_model.hpp"
#include "study/workload_rates.hpp"

namespace busbar {
namespace {

constexpr double kMilli = 1e3;
const double kTwoThirds = 2.0 / 3;

WorkloadModel model_of(std::string_view name) {
  return find_workload_model(built_in_workload_models(), "--model", name);
}

double megabytes(std::string_view model, DataType type) {
  return gradient_bytes(model_of(model), static_cast<double>(info(type).size)) / 1e6;
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
  EXPECT_EQ(gradient_bytes({.parameters = 60e6}, 4), 240e6);
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
  struct Case {
    std::string id;
    int ranks;
    double GBps;
    const char* models;
    std::vector<double> ms;
  };
  const char* all = "alexnet resnet18 resnet50 resnet101 resnet152 bert-swag";
  const char* squad = "alexnet resnet18 resnet50 resnet101 resnet152 bert-squad";
  const char* three = "alexnet resnet50 bert-swag";
  const std::vector<Case> cases{{"W3", 16, 120, all, {3.819, 0.731, 1.598, 2.784, 3.762, 6.844}},
                                {"W4", 8, 120, squad, {3.564, 0.682, 1.491, 2.599, 3.511, 6.388}},
                                {"W5", 4, 80, three, {4.583, 1.917, 8.213}},
                                {"W5", 2, 70, three, {3.491, 1.461, 6.257}},
                                {"W5", 4, 30, three, {12.22, 5.112, 21.90}},
                                {"W6", 16, 1.0, all, {458.3, 87.7, 191.7, 334.1, 451.4, 821.3}},
                                {"W6", 16, 1.25, all, {366.6, 70.1, 153.4, 267.3, 361.1, 657.0}}};
  for (const Case& c : cases) {
    const std::vector<std::string> models = split_words(c.models);
    ASSERT_EQ(models.size(), c.ms.size());
    for (std::size_t i = 0; i < models.size(); ++i) {
      const double bytes = megabytes(models[i], DataType::Float) * 1e6;
      expect_within(sync_ms(bytes, c.ranks, c.GBps), c.ms[i], 2e-3, c.id + " " + models[i]);
    }
  }
}

TEST(WorkloadCases, KnightsLandingWaitsForItsNetwork) {  // W7, W8
  constexpr double kAlexNet = 240e6;
  const double slow = sync_ms(kAlexNet, 8, 7);
  const double fast = sync_ms(kAlexNet, 8, 10);
  expect_within(fast, 42.0, 2e-3, "n=8 at 10");
  expect_within(slow, 60.0, 2e-3, "n=8 at 7");
  expect_within(sync_ms(kAlexNet, 2, 10), 24.0, 2e-3, "n=2 at 10");
  expect_within(sync_ms(kAlexNet, 2, 7), 34.29, 2e-3, "n=2 at 7");
  EXPECT_NEAR(slow / fast, 10.0 / 7, 1e-12);
  const auto gain = [&](double share) {  // of Omni-Path, where a step on Aries has this share
    const double compute = slow * (1 - share) / share;
    return step_time(compute, slow, 0).step / step_time(compute, fast, 0).step;
  };
  double last = 1;
  for (const double share : {1e-9, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0}) {
    EXPECT_NEAR(gain(share), 1 / (1 - share + 0.7 * share), 1e-6) << share;
    EXPECT_GE(gain(share), last);
    last = gain(share);
  }
  EXPECT_NEAR(gain(1.0), 1.428571, 1e-6);
  EXPECT_NEAR(gain(1e-9), 1, 1e-6);
}

TEST(WorkloadCases, DataParallelMovesMore) {  // W9
  for (const auto& [ranks, ratio] : {std::pair{2, 2.000}, {4, 1.3333}, {8, 1.1429}, {16, 1.0667}}) {
    EXPECT_NEAR(data_parallel_ratio(ranks), ratio, 1e-3) << ranks;
  }
}

TEST(WorkloadCases, TwiceTheBatchHalvesTheShareOfTheExchange) {  // W10, W12
  const auto at_twice_the_batch = [](double efficiency) {
    return step_time(2, exposed_of_efficiency(1, efficiency), 0).efficiency;
  };
  EXPECT_NEAR(at_twice_the_batch(0.90), 0.9474, 5e-5);  // measured: 0.94
  EXPECT_NEAR(at_twice_the_batch(0.77), 0.8701, 5e-5);  // measured: 0.84

  const WorkloadModel alexnet = model_of("alexnet");
  WorkloadRequest request{.systems = {constant(120)}, .ranks = {16}};
  for (const double batch : {256.0, 64.0, 512.0}) {
    request.cases.push_back({.model = alexnet, .bytes = 244.4e6, .batch = batch});
  }
  const WorkloadReport report = study_workload(request);
  const auto per_sample = [&](std::size_t i) {
    return report.rows[i].sync->seconds / *request.cases[i].batch;
  };
  EXPECT_EQ(per_sample(1) / per_sample(0), 4);
  EXPECT_EQ(per_sample(2) / per_sample(0), 0.5);
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
    const double efficiency = efficiency_of_speedup(c.speedup, c.ranks);
    expect_within(efficiency, c.efficiency, 1e-3, "efficiency");
    expect_within(exposed_of_efficiency(1, efficiency), c.exposed, 1e-3, "exposed");
  }
}

TEST(WorkloadCases, AReportedShareImpliesARate) {  // W13, W14
  struct Case {
    std::string_view model;
    double share;
    double compute_ms;
    double exposed_ms;
    double GBps;
  };
  for (const Case& c :
       {Case{"alexnet", 0.80, 70.44, 281.8, 1.626}, Case{"resnet50", 0.04, 719.1, 29.96, 6.40}}) {
    const WorkloadRequest request{.cases = {{.model = model_of(c.model),
                                             .bytes = megabytes(c.model, DataType::Float) * 1e6,
                                             .compute_s = c.compute_ms / kMilli}},
                                  .systems = {constant(120)},
                                  .overlaps = {0, kTwoThirds}};
    const auto implied = implied_rates(request, 16, efficiency_of_share(c.share));
    ASSERT_EQ(implied.size(), 1U);
    expect_within(implied[0].exposed_s * kMilli, c.exposed_ms, 5e-3, "exposed");
    expect_within(implied[0].busbw_GBps[0], c.GBps, 5e-3, "implied");
    EXPECT_LT(implied[0].busbw_GBps[1], implied[0].busbw_GBps[0]);
    // The negative finding: the links explain next to nothing of it.
    ASSERT_EQ(implied[0].links.size(), 1U);
    EXPECT_LT(implied[0].links[0].share, 0.06);
  }
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

TEST(WorkloadCases, TwoP3dnHurtAlexNetAndNotResNet) {  // W15 to W17
  const WorkloadRow resnet50 = on_two_p3dn("resnet50", 256, 256.0 / 356);
  expect_within(resnet50.steps[0].efficiency, 0.790, 5e-3, "W15 without overlap");
  expect_within(resnet50.steps[1].efficiency, 1.000, 5e-3, "W15 with overlap");

  const WorkloadRow alexnet = on_two_p3dn("alexnet", 256, 0.1251);
  expect_within(alexnet.steps[0].share, 0.786, 1e-2, "W16 share");
  expect_within(alexnet.steps[0].efficiency, 0.214, 1e-2, "W16 efficiency");
  expect_within(alexnet.steps[1].efficiency, 0.250, 1e-2, "W16 with overlap");

  // Computing at 56.3 % of 15.7 TFLOPS: 3 passes of 2 operations per multiply-add.
  const auto compute_s = [](double operations_G, double batch) {
    return 6 * operations_G * 1e9 * batch / (0.563 * 15.7e12);
  };
  const auto efficiency = [&](const char* model, double batch, double operations_G) {
    return on_two_p3dn(model, batch, compute_s(operations_G, batch)).steps[1].efficiency;
  };
  EXPECT_EQ(efficiency("resnet18", 256, 1.83), 1);
  EXPECT_EQ(efficiency("resnet50", 256, 4.14), 1);
  EXPECT_EQ(efficiency("resnet101", 128, 7.88), 1);
  EXPECT_EQ(efficiency("resnet152", 128, 11.62), 1);
  EXPECT_LT(efficiency("alexnet", 256, 0.72), 0.3);
}

TEST(WorkloadCases, AMessageBelowTheSweepIsFlagged) {  // W20
  SystemRates rates{.system = "swept"};
  Curve curve{.key = {.collective = "allreduce", .ranks = 8}};
  for (Bytes size = kMiB; size <= kGiB; size *= 2) {
    curve.points.push_back({.size = size, .busbw_GBps = 120});
  }
  rates.curves.push_back(curve);
  EXPECT_TRUE(sync_time(rates, 8, megabytes("cifarnet", DataType::Float) * 1e6, 0)->outside);
  EXPECT_FALSE(sync_time(rates, 8, megabytes("alexnet", DataType::Float) * 1e6, 0)->outside);
  EXPECT_FALSE(sync_time(rates, 8, megabytes("bert-swag", DataType::Half) * 1e6, 0)->outside);
}

TEST(WorkloadCases, LinksAloneBoundTheEfficiencyFromAbove) {
  // NVIDIA's DGX-1V, PyTorch ResNet-50: 356 images/s on one GPU, 2766 on eight, 97.1 %.
  const StepTime step = step_time(256.0 / 356, sync_ms(102.24e6, 8, 120) / kMilli, 0);
  EXPECT_NEAR(step.efficiency, 0.998, 5e-4);
  EXPECT_GT(step.efficiency, 2766.0 / (8 * 356));
}

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "study/workload/workload.hpp"

#include "tests/unit/support/study_rows.hpp"

namespace busbar::study {
namespace {

using test::refusal_of;
using test::study_row;

const std::string kLeast = "[[model]]\nname = \"net\"\nsource = \"me\"\nparameters_M = 7.5\n";

const WorkloadModel& named(const std::vector<WorkloadModel>& models, std::string_view name) {
  return *find_by(models, name, &WorkloadModel::name);
}

TEST(WorkloadModel, OfTheUserIsAddedOrReplacesOneOfTheSameName) {
  auto models = built_in_workload_models();
  EXPECT_EQ(models.size(), 13U);
  for (const WorkloadModel& model : models) EXPECT_GT(model.batch, 0) << model.name;
  const std::string alexnet =
      "[[model]]\nname = \"alexnet\"\nsource = \"me\"\nparameters_M = 60\nbatch = 3\n";
  add_workload_models(models, kLeast + alexnet, "m.toml");
  EXPECT_EQ(models.size(), 14U);
  const auto of = [&](const char* name) {
    return std::pair(named(models, name).parameters, named(models, name).batch);
  };
  EXPECT_EQ(of("alexnet"), std::pair(60e6, 3));
  EXPECT_EQ(of("net"), std::pair(7.5e6, 0));
}

TEST(WorkloadModel, FaultsAreReportedWithTheirPlace) {
  const std::vector<std::pair<std::string, const char*>> cases{
      {"", "needs the key \"model\""},
      {"[[model", "docs/workload.md"},
      {kLeast + "size = 3\n", "m.toml:5:1: unknown key of [[model]] \"size\""},
      {kLeast + "batches = [{ size = 3 }]\n", "m.toml:5:1: [[model]] batches was removed: "},
      {"[[model]]\nname = \"a\"\nsource = \"b\"\n", "needs the key \"parameters_M\""},
      {"[[model]]\nname = \"a\"\nparameters_M = 1\n", "needs the key \"source\""},
      {"[[model]]\nname = \"a\"\nparameters_M = -1\nsource = \"b\"\n", "above 0"},
      {kLeast + "batch = 0\n", "batch must be a whole number"}};
  for (const auto& [text, fault] : cases) {
    std::vector<WorkloadModel> models;
    EXPECT_THAT(refusal_of([&, &input = text] { add_workload_models(models, input, "m.toml"); }),
                HasSubstr(fault));
  }
}

Dataset box(std::vector<Record> records) { return dataset("box", std::move(records)); }

std::vector<RateCurve> rates(const std::vector<Dataset>& datasets) {
  return rates_of(datasets, "float");
}

/// Rates on two ranks by size.
RateCurve on_two(const std::vector<std::pair<Bytes, double>>& points) {
  const auto records =
      mapped(points, [](const auto& point) { return study_row(point.first, point.second, 2); });
  return rates({box(records)}).at(0);
}

TEST(WorkloadRates, AreReadAtTheSizeOfTheMessage) {
  const RateCurve curve = on_two({{kMiB, 10}, {4 * kMiB, 40}});
  const MessageTime time = sync_time(curve, 2 * kMiB, 0);
  EXPECT_NEAR(time.GBps, 20, 1e-9);  // by logarithms of both
  EXPECT_NEAR(time.seconds, 2 * kMiB / 20e9, 1e-12);
  EXPECT_FALSE(time.outside);
  EXPECT_FALSE(sync_time(curve, 4 * kMiB, 0).outside);
  EXPECT_EQ(sync_time(curve, kMiB, 0).GBps, 10);
  EXPECT_EQ(sync_time(curve, kMiB - 1, 0).GBps, 10);
  EXPECT_TRUE(sync_time(curve, kMiB - 1, 0).outside);
}

TEST(WorkloadRates, OfCyclesAreTheirMedian) {
  const RateCurve three = on_two({{kMiB, 10}, {kMiB, 90}, {kMiB, 12}});
  EXPECT_EQ(three.GBps.size(), 1U);
  EXPECT_EQ(three.GBps.at(kMiB), 12);
  EXPECT_EQ(on_two({{kMiB, 10}, {kMiB, 90}, {kMiB, 12}, {kMiB, 40}}).GBps.at(kMiB), 26);
}

TEST(WorkloadRates, PreferTheTypeSumsAndOutOfPlace) {
  const Record other = study_row(kMiB, 60, 2);
  const std::vector<Dataset> files{
      box({with(other, &Record::type, "half", &Record::busbw_GBps, 50.0),
           with(other, &Record::op, "max", &Record::busbw_GBps, 55.0),
           with(other, &Record::in_place, true, &Record::busbw_GBps, 70.0), other})};
  EXPECT_EQ(rates_of(files, "float")[0].GBps.at(kMiB), 60);
  EXPECT_EQ(rates_of(files, "half")[0].GBps.at(kMiB), 50);
  EXPECT_EQ(rates_of(files, "bfloat16")[0].GBps.at(kMiB), 60) << "of the types that there are";
}

TEST(WorkloadRates, MarkWhatIsSimulatedAndAreNotMixedWithIt) {
  const Record measured = study_row(kMiB, 10, 2);
  const Dataset file =
      with(box({with(measured, &Record::backend, "sim")}), &Dataset::simulated, true);
  EXPECT_TRUE(rates({file})[0].simulated);
  const std::vector<Dataset> both{file, box({measured})};
  EXPECT_THAT(refusal_of([&] { (void)rates(both); }), HasSubstr("'box' has 2 ranks on"));
}

TEST(WorkloadRates, RefuseWhatIsNoRate) {
  const auto refusal = [](const std::vector<Record>& records) {
    return refusal_of([&] { (void)rates({box(records)}); });
  };
  const Record here = study_row(kMiB, 10, 2);
  EXPECT_THAT(refusal({with(here, &Record::collective, "broadcast")}), HasSubstr("no allreduce"));
  EXPECT_THAT(refusal({study_row(kMiB, 10, 1)}), HasSubstr("two ranks"));
  EXPECT_THAT(refusal({study_row(kMiB, 0, 2)}), HasSubstr("not above 0"));
  EXPECT_THAT(refusal({here, with(here, &Record::device_set, "0,3")}), HasSubstr("'0,3'"));
}

// What the papers' figures imply for training steps, each with its tolerance.
constexpr double kNotKnown = std::numeric_limits<double>::quiet_NaN();
constexpr double kTwoThirds = 2.0 / 3;

Bytes gradients(std::string_view model, DataType type = DataType::Float) {
  const auto models = built_in_workload_models();
  const double parameters = named(models, model).parameters;
  return static_cast<Bytes>(std::round(parameters)) * info(type).size;
}

/// Figures of a step on links of one rate.
struct Step {
  double sync_ms = 0;
  double exposed_ms = 0;
  double share = 0;
  double efficiency = 0;
  double needed_GBps = 0;
};
Step step(Bytes bytes, int ranks, double GBps, double compute_ms = kNotKnown, double overlap = 0,
          double target = 0.9) {
  const WorkloadRequest request{
      .cases = {{.bytes = bytes, .compute_s = compute_ms / 1e3}},
      .curves = {{.ranks = ranks, .GBps = {{1, GBps}, {Bytes{1} << 60U, GBps}}}},
      .overlaps = {overlap},
      .target = target};
  const WorkloadRow row = workload_rows(request).front();
  return {row.sync.seconds * 1e3, row.exposed_s * 1e3, row.share, row.efficiency, row.needed_GBps};
}

/// |value / expected - 1|, in the reference's terms.
void expect_within(double value, double expected, double relative, const std::string& what) {
  EXPECT_NEAR(value, expected, std::abs(expected) * relative) << what;
}

TEST(WorkloadCases, GradientsHaveTheSizesOfTheSecondTable) {  // W1, W2
  const std::map<std::string, double> fp32_MB{
      {"alexnet", 244.40},    {"resnet18", 46.76},      {"resnet50", 102.24},
      {"resnet101", 178.20},  {"resnet152", 240.76},    {"bert-swag", 438.00},
      {"bert-squad", 438.00}, {"llama-3-8b", 32121.04}, {"llama-3-70b", 282214.83},
      {"googlenet", 22},      {"cifarnet", 0.040}};
  for (const auto& [model, expected] : fp32_MB) {
    expect_within(static_cast<double>(gradients(model)) / 1e6, expected, 1e-3, model);
    for (const DataType half : {DataType::Half, DataType::Bfloat16}) {
      EXPECT_EQ(gradients(model, half) * 2, gradients(model)) << model;
    }
  }
}

TEST(WorkloadCases, TheAllReduceTakesItsTime) {  // W3 to W7
  struct Case {
    int ranks;
    double GBps;
    std::vector<double> ms;  // of the models in this order
  };
  const std::vector<std::string> models{"alexnet",  "resnet50",  "bert-squad",
                                        "resnet18", "resnet101", "resnet152"};
  for (const Case& c :
       {Case{16, 120, {3.819, 1.598, 6.844, 0.731, 2.784, 3.762}},
        Case{8, 120, {3.564, 1.491, 6.388, 0.682, 2.599, 3.511}},
        Case{4, 80, {4.583, 1.917, 8.213}}, Case{2, 70, {3.491, 1.461, 6.257}},
        Case{4, 30, {12.22, 5.112, 21.90}}, Case{16, 1, {458.3, 191.7, 821.3, 87.7, 334.1, 451.4}},
        Case{16, 1.25, {366.6, 153.4, 657.0, 70.1, 267.3, 361.1}}}) {
    for (std::size_t i = 0; i < c.ms.size(); ++i) {
      expect_within(step(gradients(models[i]), c.ranks, c.GBps).sync_ms, c.ms[i], 2e-3, models[i]);
    }
  }
  const Bytes alexnet = 240'000'000;
  for (const auto& [ranks, GBps, ms] :
       {std::tuple{8, 10, 42.0}, {8, 7, 60.0}, {2, 10, 24.0}, {2, 7, 34.29}}) {
    expect_within(step(alexnet, ranks, GBps).sync_ms, ms, 2e-3, "W7");
  }
}

TEST(WorkloadCases, AFasterNetworkHelpsByTheShareOfTheExchange) {  // W8
  const Bytes alexnet = 240'000'000;
  const double sync_ms = step(alexnet, 8, 7).sync_ms;
  double before = 1;
  for (const double share : {0.25, 0.5, 0.75, 0.999999999}) {
    const double compute_ms = sync_ms * (1 / share - 1);
    const double ratio =
        step(alexnet, 8, 10, compute_ms).efficiency / step(alexnet, 8, 7, compute_ms).efficiency;
    expect_within(ratio, 1 / (1 - share + 0.7 * share), 1e-6, "W8");
    EXPECT_GT(ratio, before);
    before = ratio;
  }
  EXPECT_NEAR(before, 10.0 / 7, 1e-6);
}

TEST(WorkloadCases, DataParallelMovesMore) {  // W9: 2 S over the bytes of the all-reduce
  for (const auto& [ranks, ratio] : {std::pair{2, 2.000}, {4, 1.3333}, {8, 1.1429}, {16, 1.0667}}) {
    EXPECT_NEAR(2 / step(1'000'000, ranks, 1).sync_ms, ratio, 1e-3) << ranks;
  }
}

TEST(WorkloadCases, ALargerBatchHasLessExchange) {  // W10, W12
  const Bytes resnet = 120'000'000;
  const double sync_ms = step(resnet, 8, 50).sync_ms;
  for (const auto& [efficiency, doubled, printed, tolerance] :
       {std::tuple{0.90, 0.9474, 0.94, 0.01}, {0.77, 0.8701, 0.84, 0.035}}) {
    const double compute_ms = sync_ms * efficiency / (1 - efficiency);
    const Step larger = step(resnet, 8, 50, 2 * compute_ms);
    EXPECT_NEAR(larger.efficiency, doubled, 1e-4) << "W10";
    EXPECT_NEAR(larger.efficiency, printed, tolerance) << "W10";
    const auto per_instance = [&](double batch) {
      return step(resnet, 8, 50, batch * compute_ms).exposed_ms / batch;
    };
    EXPECT_DOUBLE_EQ(per_instance(0.25) / per_instance(1), 4) << "W12";
    EXPECT_DOUBLE_EQ(per_instance(2) / per_instance(1), 0.5) << "W12";
  }
}

TEST(WorkloadCases, SpeedUpsAreEfficienciesAndExposedTimes) {  // W11
  const Bytes bytes = 1'000'000'000;
  // The last is exposed over the compute time.
  for (const auto& [speedup, ranks, efficiency, exposed] : {std::tuple{29.43, 32, 0.9197, 0.0873},
                                                            {25.84, 32, 0.8075, 0.2384},
                                                            {21.95, 32, 0.6859, 0.4579},
                                                            {23.72, 32, 0.7413, 0.3491},
                                                            {3.55, 4, 0.8875, 4 / 3.55 - 1},
                                                            {3.58, 4, 0.895, 4 / 3.58 - 1}}) {
    const double implied = step(bytes, ranks, 1, 1, 0, speedup / ranks).needed_GBps;
    const Step reached = step(bytes, ranks, implied, 1);
    expect_within(reached.efficiency, efficiency, 1e-3, "efficiency");
    expect_within(reached.exposed_ms, exposed, 1e-3, "exposed");
  }
}

TEST(WorkloadCases, AReportedShareImpliesARate) {  // W13, W14
  const double alexnet = step(gradients("alexnet"), 16, 1, 70.44, 0, 1 - 0.80).needed_GBps;
  expect_within(alexnet, 1.626, 5e-3, "W13");
  expect_within(step(gradients("alexnet"), 16, alexnet, 70.44).exposed_ms, 281.8, 5e-3, "W13");
  const double resnet = step(gradients("resnet50"), 16, 1, 719.1, 0, 1 - 0.04).needed_GBps;
  expect_within(resnet, 6.40, 5e-3, "W14");
  expect_within(step(gradients("resnet50"), 16, resnet, 719.1).exposed_ms, 29.96, 5e-3, "W14");
}

TEST(WorkloadCases, TwoP3dnHurtAlexNetAndNotResNet) {  // W15 to W17
  const auto on_two_p3dn = [](const char* model, double compute_ms, double overlap) {
    return step(gradients(model), 16, 1, compute_ms, overlap);
  };
  const double resnet50_ms = 256 / 0.356;
  expect_within(on_two_p3dn("resnet50", resnet50_ms, 0).efficiency, 0.790, 5e-3, "W15");
  expect_within(on_two_p3dn("resnet50", resnet50_ms, kTwoThirds).efficiency, 1.000, 5e-3, "W15");
  expect_within(on_two_p3dn("alexnet", 125.1, 0).share, 0.786, 1e-2, "W16");
  expect_within(on_two_p3dn("alexnet", 125.1, 0).efficiency, 0.214, 1e-2, "W16");
  expect_within(on_two_p3dn("alexnet", 125.1, kTwoThirds).efficiency, 0.250, 1e-2, "W16");
  // The others compute as long as their operations take at the same share of the peak.
  for (const auto& [model, giga_operations] :
       {std::pair{"resnet18", 1.83 * 256}, {"resnet101", 7.88 * 128}, {"resnet152", 11.62 * 128}}) {
    const double compute_ms = resnet50_ms * giga_operations / (4.14 * 256);
    EXPECT_DOUBLE_EQ(on_two_p3dn(model, compute_ms, kTwoThirds).efficiency, 1) << model << ", W17";
  }
}

TEST(WorkloadCases, WhatIsSmallerThanTheMeasuredSizesIsMarked) {  // W20
  const RateCurve curve{.ranks = 8, .GBps = {{kMiB, 10}, {kGiB, 100}}};
  EXPECT_TRUE(sync_time(curve, gradients("cifarnet"), 0).outside);
  EXPECT_FALSE(sync_time(curve, gradients("alexnet"), 0).outside);
}

}  // namespace
}  // namespace busbar::study

// SPDX-License-Identifier: BSD-3-Clause
#include "study/workload/workload.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"
#include "tests/unit/support/study_rows.hpp"

namespace busbar::study {
namespace {

using test::study_row;
using test::with;
using testing::HasSubstr;

/// The message of a refusal of the command line or of a file.
template <class Work>
std::string refusal_of(const Work& work) {
  return test::refusal_of(work);
}

RateCurve constant(int ranks, double GBps) {
  return {.system = "box", .ranks = ranks, .GBps = {{1, GBps}, {kGiB, GBps}}};
}

/// 100 MB of gradients, 100 ms of computing.
WorkloadRequest request() {
  return {.cases = {{.model = "m", .bytes = 100'000'000, .compute_s = 0.1}},
          .curves = {constant(2, 1), constant(4, 1), constant(4, 10)},
          .overlaps = {0, 0.5}};
}

TEST(Workload, StepIsComputingAndWhatIsExposed) {
  const WorkloadRequest asked = request();
  const auto rows = workload_rows(asked);
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_NEAR(rows[0].sync.seconds, 0.1, 1e-12);  // 2 ranks at 1 GB/s
  EXPECT_NEAR(rows[0].efficiency, 0.5, 1e-12);
  EXPECT_NEAR(rows[1].exposed_s, 0.05, 1e-12);
  EXPECT_NEAR(rows[1].efficiency, 2.0 / 3, 1e-12);
  EXPECT_NEAR(rows[1].share, 1.0 / 3, 1e-12);
  EXPECT_LT(rows[2].efficiency, rows[0].efficiency) << "more ranks";
  EXPECT_GT(rows[4].efficiency, rows[2].efficiency) << "a higher rate";
  EXPECT_EQ(rows[5].exposed_s, 0) << "never below zero";
  EXPECT_EQ(rows[5].efficiency, 1);
}

TEST(Workload, NeededRateGivesTheTarget) {
  WorkloadRequest asked = request();
  asked.target = 0.8;
  for (std::size_t overlap = 0; overlap < 2; ++overlap) {
    asked.curves = {constant(4, 1)};
    asked.curves = {constant(4, workload_rows(asked)[overlap].needed_GBps)};
    EXPECT_NEAR(workload_rows(asked)[overlap].efficiency, 0.8, 1e-9);
  }
}

TEST(Workload, WithoutAComputeTimeThereIsOnlyTheExchange) {
  WorkloadRequest asked = request();
  asked.cases[0].compute_s = std::nan("");
  const auto rows = workload_rows(asked);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_GT(rows[0].sync.seconds, 0);
  for (const double value :
       {rows[0].exposed_s, rows[0].share, rows[0].efficiency, rows[0].needed_GBps}) {
    EXPECT_TRUE(std::isnan(value));
  }
  EXPECT_THAT(workload_json(asked), HasSubstr("\"efficiency\": null"));
}

const std::string kLeast = "[[model]]\nname = \"net\"\nsource = \"me\"\nparameters_M = 7.5\n";

TEST(WorkloadModel, OfTheUserIsAddedOrReplacesOneOfTheSameName) {
  auto models = built_in_workload_models();
  EXPECT_EQ(models.size(), 13U);
  for (const WorkloadModel& model : models) EXPECT_GT(model.batch, 0) << model.name;
  add_workload_models(models,
                      kLeast +
                          "[[model]]\nname = \"alexnet\"\nsource = \"me\"\n"
                          "parameters_M = 60\nbatch = 3\n",
                      "m.toml");
  EXPECT_EQ(models.size(), 14U);
  EXPECT_EQ(find_workload_model(models, "--model", "alexnet").parameters, 60e6);
  EXPECT_EQ(find_workload_model(models, "--model", "alexnet").batch, 3);
  EXPECT_EQ(find_workload_model(models, "--model", "net").parameters, 7.5e6);
  EXPECT_EQ(find_workload_model(models, "--model", "net").batch, 0);
  EXPECT_THAT(refusal_of([&] { (void)find_workload_model(models, "--model", "nets"); }),
              testing::AllOf(HasSubstr("'nets' for --model"), HasSubstr("resnet50")));
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

Dataset dataset(std::vector<Record> records) { return test::dataset("box", std::move(records)); }

std::vector<RateCurve> rates(const std::vector<Dataset>& datasets) {
  return rates_of(datasets, "float");
}

/// Rates on two ranks by size.
RateCurve on_two(const std::vector<std::pair<Bytes, double>>& points) {
  std::vector<Record> records;
  for (const auto& [size, GBps] : points) records.push_back(study_row(size, GBps, 2));
  return rates({dataset(records)}).at(0);
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
      dataset({with(other, &Record::type, "half", &Record::busbw_GBps, 50.0),
               with(other, &Record::op, "max", &Record::busbw_GBps, 55.0),
               with(other, &Record::in_place, true, &Record::busbw_GBps, 70.0), other})};
  EXPECT_EQ(rates_of(files, "float")[0].GBps.at(kMiB), 60);
  EXPECT_EQ(rates_of(files, "half")[0].GBps.at(kMiB), 50);
  EXPECT_EQ(rates_of(files, "bfloat16")[0].GBps.at(kMiB), 60) << "of the types that there are";
}

TEST(WorkloadRates, OfOneLabelHaveACurvePerNumberOfRanks) {
  const auto curves = rates({dataset({study_row(kMiB, 10, 8)}), dataset({study_row(kMiB, 20, 4)}),
                             test::dataset("another", {study_row(kMiB, 30, 4)})});
  ASSERT_EQ(curves.size(), 3U);
  EXPECT_EQ(curves[0].system, "another");
  EXPECT_EQ(curves[1].ranks, 4);
  EXPECT_EQ(curves[2].ranks, 8);
}

TEST(WorkloadRates, OfBucketsAddUp) {
  EXPECT_NEAR(sync_time(constant(2, 10), 100'000'000, 30'000'000).seconds, 10e-3, 1e-12);
  EXPECT_NEAR(sync_time(constant(2, 10), 100'000'000, 0).seconds, 10e-3, 1e-12);
  EXPECT_NEAR(sync_time(constant(2, 10), 100'000'000, 200'000'000).seconds, 10e-3, 1e-12);
  const RateCurve rising = on_two({{kMiB, 10}, {4 * kMiB, 40}});
  const MessageTime time = sync_time(rising, 5 * kMiB, 4 * kMiB);
  EXPECT_NEAR(time.seconds, 4 * kMiB / 40e9 + kMiB / 10e9, 1e-12);
  EXPECT_FALSE(time.outside);
  EXPECT_TRUE(sync_time(rising, 5 * kMiB, 0).outside);
  EXPECT_TRUE(sync_time(rising, 9 * kMiB / 2, 4 * kMiB).outside);  // the last bucket
}

TEST(WorkloadRates, MarkWhatIsSimulatedAndAreNotMixedWithIt) {
  const Record measured = study_row(kMiB, 10, 2);
  const Dataset file =
      with(dataset({with(measured, &Record::backend, "sim")}), &Dataset::simulated, true);
  EXPECT_TRUE(rates({file})[0].simulated);
  const std::vector<Dataset> both{file, dataset({measured})};
  EXPECT_THAT(refusal_of([&] { (void)rates(both); }), HasSubstr("'box' has 2 ranks on"));
}

TEST(WorkloadRates, RefuseWhatIsNoRate) {
  const auto refusal = [](const std::vector<Record>& records) {
    return refusal_of([&] { (void)rates({dataset(records)}); });
  };
  const Record here = study_row(kMiB, 10, 2);
  EXPECT_THAT(refusal({with(here, &Record::collective, "broadcast")}), HasSubstr("no allreduce"));
  EXPECT_THAT(refusal({study_row(kMiB, 10, 1)}), HasSubstr("two ranks"));
  EXPECT_THAT(refusal({study_row(kMiB, 0, 2)}), HasSubstr("not above 0"));
  EXPECT_THAT(refusal({here, with(here, &Record::device_set, "0,3")}), HasSubstr("'0,3'"));
}

}  // namespace
}  // namespace busbar::study

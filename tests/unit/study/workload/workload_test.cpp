// SPDX-License-Identifier: BSD-3-Clause
#include "study/workload/workload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text.hpp"
#include "study/workload/model.hpp"
#include "study/workload/output.hpp"
#include "study/workload/rates.hpp"
#include "tests/unit/support/failure.hpp"
#include "tests/unit/support/study_rows.hpp"
#include "tests/unit/support/temporary_folder.hpp"

namespace busbar::study {
namespace {

using test::study_row;
using test::with;
using testing::ElementsAre;
using testing::HasSubstr;

/// The message of a refusal of the command line or of a file.
template <class Work>
std::string refusal_of(const Work& work) {
  return test::refusal_of(work);
}

SystemRates constant(const std::string& name, double GBps) {
  return {.system = name, .constant_GBps = GBps};
}

SystemRates curve_of(const std::string& name, int ranks, double GBps) {
  return {.system = name,
          .curves = {{.key = {.collective = "allreduce", .ranks = ranks},
                      .points = {{kMiB, GBps}, {kGiB, GBps}}}}};
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
  const StepTime step = step_time(1, 0.4, 0.5);
  EXPECT_EQ(step.exposed, 0) << "never below zero";
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
  const WorkloadReport report =
      study_workload(with(request(), &WorkloadRequest::systems,
                          std::vector{constant("some", 11), constant("none", 1)}));
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
  asked.systems.resize(1);
  EXPECT_TRUE(study_workload(asked).rankings.empty()) << "one system is no ranking";
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
  EXPECT_THAT(refusal_of([&] { (void)study_workload(asked); }),
              testing::AllOf(HasSubstr("--ranks 16"), testing::EndsWith("2, 8")));
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
  const WorkloadRow row = study_workload(with(request(), &WorkloadRequest::strong, true))
                              .rows[0];  // 50 ms of computing, 100 ms of exchange
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

TEST(WorkloadText, BreaksNotesAtAHundredColumnsAndHasNoTableWithoutRows) {
  for (const std::string& line : split(implied_text(request(), {}, false), '\n')) {
    EXPECT_LE(line.size(), 100U) << line;
    EXPECT_TRUE(line.empty() || line.starts_with('#')) << line;
  }
}

TEST(WorkloadText, HasNotesWhereASystemHasNoCurve) {
  WorkloadRequest asked = request();
  const auto page = [&] { return workload_text(asked, study_workload(asked), true); };
  EXPECT_THAT(page(), testing::Not(HasSubstr("| note |")));
  asked.systems.push_back(curve_of("measured", 4, 5));
  EXPECT_THAT(page(), testing::AllOf(HasSubstr("| note |"), HasSubstr("| no curve |")));
}

const std::string kLeast = "[[model]]\nname = \"net\"\nsource = \"me\"\nparameters_M = 7.5\n";

TEST(WorkloadModel, OfTheLeastFileHasDefaults) {
  const auto models = parse_workload_models(kLeast, "m.toml");
  ASSERT_EQ(models.size(), 1U);
  EXPECT_EQ(models[0].parameters, 7.5e6);
  EXPECT_EQ(models[0].title, "net");
  EXPECT_EQ(models[0].unit, "images");
  EXPECT_TRUE(models[0].batches.empty());
  EXPECT_FALSE(models[0].throughput);
}

TEST(WorkloadModel, BuiltInOnesHaveSourcesAndBatches) {
  const auto models = built_in_workload_models();
  EXPECT_EQ(models.size(), 13U);
  for (const WorkloadModel& model : models) {
    EXPECT_FALSE(model.source.empty()) << model.name;
    EXPECT_FALSE(model.batches.empty()) << model.name;
  }
  const WorkloadModel& resnet = find_workload_model(models, "--model", "ResNet-50");
  ASSERT_TRUE(resnet.throughput);
  EXPECT_EQ(resnet.throughput->per_second, 356);
  EXPECT_EQ(resnet.throughput->type, "float");
  EXPECT_EQ(find_workload_model(models, "--model", "BERT_SQuAD").batches[0].size, 32);
}

TEST(WorkloadModel, UnknownNamesGetThoseThatAreNearOrHaveThemInThem) {
  const auto models = built_in_workload_models();
  const auto refusal = [&](const char* name) {
    return refusal_of([&] { (void)find_workload_model(models, "--model", name); });
  };
  EXPECT_THAT(refusal("resnet51"), testing::AllOf(HasSubstr("--model"), HasSubstr("'resnet51'"),
                                                  HasSubstr("(did you mean resnet")));
  EXPECT_THAT(refusal("BERT"), HasSubstr("bert-swag, bert-squad, bert-large?"));
}

TEST(WorkloadModel, OfTheUserReplacesOneOfTheSameName) {
  const test::TemporaryFolder folder;
  folder.write("models.toml", kLeast +
                                  "[[model]]\nname = \"AlexNet\"\nsource = \"me\"\n"
                                  "parameters_M = 60\n");
  const auto models = workload_models_with(folder.path("models.toml"));
  EXPECT_EQ(models.size(), 14U);
  EXPECT_EQ(find_workload_model(models, "--model", "alexnet").parameters, 60e6);
  EXPECT_EQ(find_workload_model(models, "--model", "net").parameters, 7.5e6);
  EXPECT_THROW(static_cast<void>(workload_models_with("/nowhere/models.toml")), Error);
}

TEST(WorkloadModel, FaultsAreReportedWithTheirPlace) {
  const std::vector<std::pair<std::string, const char*>> cases{
      {"", "m.toml: no [[model]]"},
      {"[[model", "docs/workload.md"},
      {kLeast + "size = 3\n", "m.toml:5:1: unknown key of [[model]] \"size\""},
      {"[[model]]\nname = \"a\"\nsource = \"b\"\n", "needs the key \"parameters_M\""},
      {"[[model]]\nname = \"a\"\nparameters_M = 1\n", "needs the key \"source\""},
      {"[[model]]\nname = \"a\"\nparameters_M = -1\nsource = \"b\"\n", "above 0"},
      {kLeast + kLeast, "m.toml:5:1: there are two models"},
      {kLeast + "batches = [{ size = 0 }]\n", "size must be a whole number"},
      {kLeast + "throughput = { per_second = 1, type = \"float\" }\n", "\"source\""},
      {"[[model]]\nname = \"a=b\"\nsource = \"b\"\nparameters_M = 1\n", "or '='"}};
  for (const auto& [text, fault] : cases) {
    EXPECT_THAT(refusal_of([&input = text] { (void)parse_workload_models(input, "m.toml"); }),
                HasSubstr(fault));
  }
  EXPECT_NO_THROW((void)parse_workload_models(kLeast + "batches = [{ size = 1 }]\n", "m.toml"));
}

Record row(const std::string& collective, int ranks, Bytes size, double GBps) {
  return with(study_row(size, GBps, ranks), &Record::collective, collective);
}

Dataset dataset(std::vector<Record> records) { return test::dataset("box", std::move(records)); }

std::vector<SystemRates> rates(const std::vector<Dataset>& datasets) {
  return rates_of(datasets, {.type = "float"});
}

/// Rates of the all-reduce on one system by size.
SystemRates all_reduce(int ranks, const std::vector<std::pair<Bytes, double>>& points) {
  std::vector<Record> records;
  for (const auto& [size, GBps] : points) records.push_back(row("allreduce", ranks, size, GBps));
  const std::vector<SystemRates> systems = rates({dataset(records)});
  EXPECT_EQ(systems.size(), 1U);
  return systems.at(0);
}

TEST(WorkloadRates, AreReadAtTheSizeOfTheMessage) {
  const SystemRates system = all_reduce(4, {{kMiB, 10}, {4 * kMiB, 40}});
  EXPECT_THAT(measured_ranks(system), ElementsAre(4));
  const auto time = message_time(system, "allreduce", 4, 2.0 * kMiB);
  ASSERT_TRUE(time);
  EXPECT_NEAR(time->GBps, 20, 1e-9);  // by logarithms of both
  EXPECT_NEAR(time->seconds, 1.5 * 2 * kMiB / 20e9, 1e-12);
  EXPECT_FALSE(time->outside);
  EXPECT_FALSE(message_time(system, "allreduce", 8, 2.0 * kMiB));
}

TEST(WorkloadRates, OfCyclesAreTheirMedian) {
  const SystemRates three = all_reduce(2, {{kMiB, 10}, {kMiB, 90}, {kMiB, 12}});
  EXPECT_EQ(three.curves[0].points.size(), 1U);
  EXPECT_EQ(message_time(three, "allreduce", 2, kMiB)->GBps, 12);
  const SystemRates four = all_reduce(2, {{kMiB, 10}, {kMiB, 90}, {kMiB, 12}, {kMiB, 40}});
  EXPECT_EQ(message_time(four, "allreduce", 2, kMiB)->GBps, 26);
}

TEST(WorkloadRates, PreferTheTypeAndTheBufferModeOfTheRequest) {
  const Record other = row("allreduce", 2, kMiB, 60);
  const std::vector<Dataset> files{
      dataset({with(other, &Record::type, "half", &Record::busbw_GBps, 50.0),
               with(other, &Record::in_place, true, &Record::busbw_GBps, 70.0), other})};
  const auto at = [&](const RatesRequest& request) {
    return message_time(rates_of(files, request)[0], "allreduce", 2, kMiB)->GBps;
  };
  EXPECT_EQ(at({.type = "float"}), 60);
  EXPECT_EQ(at({.type = "half"}), 50);
  EXPECT_EQ(at({.type = "float", .in_place = true}), 70);
  EXPECT_EQ(at({.type = "bfloat16"}), 60);
}

TEST(WorkloadRates, OfOneLabelAreOneSystem) {
  const auto systems =
      rates({dataset({row("allreduce", 4, kMiB, 10)}), dataset({row("broadcast", 4, kMiB, 20)}),
             dataset({row("reduce", 4, kMiB, 5)})});
  ASSERT_EQ(systems.size(), 1U);
  const auto time = data_parallel_time(systems[0], 4, 1e6);
  ASSERT_TRUE(time);
  EXPECT_NEAR(time->seconds, 1e6 / 20e9 + 1e6 / 5e9, 1e-12);
  for (const char* one : {"allreduce", "broadcast", "reduce"}) {
    EXPECT_FALSE(data_parallel_time(rates({dataset({row(one, 4, kMiB, 10)})}).at(0), 4, 1e6));
  }
}

TEST(WorkloadRates, OfBucketsAddUp) {
  const SystemRates constant{.constant_GBps = 10};
  EXPECT_NEAR(sync_time(constant, 2, 100e6, 30e6)->seconds, 10e-3, 1e-12);
  EXPECT_NEAR(sync_time(constant, 2, 100e6, 0)->seconds, 10e-3, 1e-12);
  EXPECT_EQ(sync_time(constant, 2, 100e6, 200e6)->seconds,
            sync_time(constant, 2, 100e6, 0)->seconds);

  const SystemRates rising = all_reduce(2, {{kMiB, 10}, {4 * kMiB, 40}});
  const auto time = sync_time(rising, 2, 5.0 * kMiB, 4.0 * kMiB);
  ASSERT_TRUE(time);
  EXPECT_NEAR(time->seconds, 4.0 * kMiB / 40e9 + kMiB / 10e9, 1e-12);
  EXPECT_FALSE(time->outside);
  EXPECT_TRUE(sync_time(rising, 2, 5.0 * kMiB, 0)->outside);
  EXPECT_TRUE(sync_time(rising, 2, 4.5 * kMiB, 4.0 * kMiB)->outside);  // the last bucket
}

TEST(WorkloadRates, OfDataParallelAreABroadcastAndAReduce) {
  const auto systems = rates({dataset(
      {row("allreduce", 4, kMiB, 10), row("broadcast", 4, kMiB, 10), row("reduce", 4, kMiB, 40)})});
  const auto time = data_parallel_time(systems[0], 4, 1e6);
  ASSERT_TRUE(time);
  EXPECT_NEAR(time->seconds, 100e-6 + 25e-6, 1e-12);
  EXPECT_NEAR(time->GBps, 16, 1e-9) << "twice a megabyte in 125 us";
  EXPECT_FALSE(data_parallel_time(systems[0], 8, 1e6));
}

TEST(WorkloadRates, MarkWhatIsSimulatedAndAreNotMixedWithIt) {
  const Record measured = row("allreduce", 2, kMiB, 10);
  const Dataset file =
      with(dataset({with(measured, &Record::backend, "sim")}), &Dataset::simulated, true);
  EXPECT_TRUE(rates({file})[0].simulated);
  const std::vector<Dataset> both{file, dataset({measured})};
  EXPECT_THAT(refusal_of([&] { (void)rates(both); }), HasSubstr("NAME=FILE"));
}

TEST(WorkloadRates, RefuseWhatIsNoRate) {
  const auto refusal = [](const std::vector<Record>& records) {
    return refusal_of([&] { (void)rates({dataset(records)}); });
  };
  EXPECT_THAT(refusal({row("alltoall", 2, kMiB, 10)}), HasSubstr("reduce of two ranks"));
  EXPECT_THAT(refusal({row("allreduce", 1, kMiB, 10)}), HasSubstr("two ranks"));
  EXPECT_THAT(refusal({row("allreduce", 2, kMiB, 0)}), HasSubstr("not above 0"));
  const Record here = row("allreduce", 2, kMiB, 10);
  EXPECT_THAT(refusal({here, with(here, &Record::device_set, "0,3")}), HasSubstr("'0,3'"));
}

}  // namespace
}  // namespace busbar::study

// SPDX-License-Identifier: BSD-3-Clause
#include "study/workload_rates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace busbar {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Record row(const std::string& collective, int ranks, Bytes size, double GBps) {
  return {.collective = collective,
          .backend = "nccl",
          .ranks = ranks,
          .nodes = 1,
          .type = "float",
          .op = "sum",
          .size = size,
          .time_median_us = 1.0,
          .busbw_GBps = GBps};
}

Dataset dataset(std::vector<Record> records) {
  return {.path = "x.csv", .label = "box", .records = std::move(records)};
}

std::vector<SystemRates> rates(const std::vector<Dataset>& datasets) {
  return rates_of(datasets, {.type = "float"});
}

std::string refusal(const std::vector<Dataset>& datasets) {
  try {
    static_cast<void>(rates(datasets));
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::Usage);
    return error.what();
  }
  return "nothing was refused";
}

TEST(WorkloadRates, AreReadAtTheSizeOfTheMessage) {
  const auto systems =
      rates({dataset({row("allreduce", 4, kMiB, 10), row("allreduce", 4, 4 * kMiB, 40)})});
  ASSERT_EQ(systems.size(), 1U);
  EXPECT_THAT(measured_ranks(systems[0]), ElementsAre(4));
  const auto time = message_time(systems[0], "allreduce", 4, 2.0 * kMiB);
  ASSERT_TRUE(time);
  EXPECT_NEAR(time->GBps, 20, 1e-9);  // by logarithms of both
  EXPECT_NEAR(time->seconds, 1.5 * 2 * kMiB / 20e9, 1e-12);
  EXPECT_FALSE(time->outside);
  EXPECT_FALSE(message_time(systems[0], "allreduce", 8, 2.0 * kMiB));
}

TEST(WorkloadRates, OfCyclesAreTheirMedian) {
  const auto systems = rates({dataset({row("allreduce", 2, kMiB, 10), row("allreduce", 2, kMiB, 90),
                                       row("allreduce", 2, kMiB, 12)})});
  EXPECT_EQ(systems[0].curves[0].points.size(), 1U);
  EXPECT_EQ(message_time(systems[0], "allreduce", 2, kMiB)->GBps, 12);
  const auto four =
      rates({dataset({row("allreduce", 2, kMiB, 10), row("allreduce", 2, kMiB, 90),
                      row("allreduce", 2, kMiB, 12), row("allreduce", 2, kMiB, 40)})});
  EXPECT_EQ(message_time(four[0], "allreduce", 2, kMiB)->GBps, 26);
}

TEST(WorkloadRates, PreferTheTypeAndThePlaceThatWereAskedFor) {
  Record half = row("allreduce", 2, kMiB, 50);
  half.type = "half";
  Record in_place = row("allreduce", 2, kMiB, 70);
  in_place.in_place = true;
  const std::vector<Dataset> files{dataset({half, in_place, row("allreduce", 2, kMiB, 60)})};
  const auto at = [&](const RatesRequest& wish) {
    return message_time(rates_of(files, wish)[0], "allreduce", 2, kMiB)->GBps;
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
  EXPECT_FALSE(data_parallel_time(rates({dataset({row("allreduce", 4, kMiB, 10)})})[0], 4, 1e6));
}

TEST(WorkloadRates, OfBucketsAddUp) {
  const SystemRates constant{.constant_GBps = 10};
  EXPECT_NEAR(sync_time(constant, 2, 100e6, 30e6)->seconds, 10e-3, 1e-12);
  EXPECT_NEAR(sync_time(constant, 2, 100e6, 0)->seconds, 10e-3, 1e-12);
  EXPECT_EQ(sync_time(constant, 2, 100e6, 200e6)->seconds,
            sync_time(constant, 2, 100e6, 0)->seconds);

  const auto rising =
      rates({dataset({row("allreduce", 2, kMiB, 10), row("allreduce", 2, 4 * kMiB, 40)})});
  const auto time = sync_time(rising[0], 2, 5.0 * kMiB, 4.0 * kMiB);
  ASSERT_TRUE(time);
  EXPECT_NEAR(time->seconds, 4.0 * kMiB / 40e9 + kMiB / 10e9, 1e-12);
  EXPECT_FALSE(time->outside);
  EXPECT_TRUE(sync_time(rising[0], 2, 5.0 * kMiB, 0)->outside);
  EXPECT_TRUE(sync_time(rising[0], 2, 4.5 * kMiB, 4.0 * kMiB)->outside);  // the last bucket
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

TEST(WorkloadRates, TellWhatIsSimulated) {
  Record simulated = row("allreduce", 2, kMiB, 10);
  simulated.backend = "sim";
  Dataset file = dataset({simulated});
  file.simulated = true;
  EXPECT_TRUE(rates({file})[0].simulated);
  EXPECT_THAT(refusal({file, dataset({row("allreduce", 2, kMiB, 10)})}), HasSubstr("NAME=FILE"));
}

TEST(WorkloadRates, RefuseWhatIsNoRate) {
  EXPECT_THAT(refusal({dataset({row("alltoall", 2, kMiB, 10)})}), HasSubstr("allreduce_perf"));
  EXPECT_THAT(refusal({dataset({row("allreduce", 1, kMiB, 10)})}), HasSubstr("two ranks"));
  EXPECT_THAT(refusal({dataset({row("allreduce", 2, kMiB, 0)})}), HasSubstr("not above 0"));
  Record elsewhere = row("allreduce", 2, kMiB, 10);
  elsewhere.device_set = "0,3";
  EXPECT_THAT(refusal({dataset({row("allreduce", 2, kMiB, 10), elsewhere})}), HasSubstr("'0,3'"));
}

}  // namespace
}  // namespace busbar

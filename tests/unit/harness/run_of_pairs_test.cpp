// SPDX-License-Identifier: BSD-3-Clause
// --pairs, with ranks that are threads: harness/runner.
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "harness/runner.hpp"
#include "report/csv_reader.hpp"
#include "tests/unit/support/fake_communicator.hpp"
#include "tests/unit/support/sample_records.hpp"
#include "tests/unit/support/temporary_folder.hpp"
#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

/// Every rank of `ranks` measures its pairs; the rows that rank 0 wrote.
std::vector<Record> rows_of_pairs(int ranks, Options options) {
  const test::TemporaryFolder folder;
  options.pairs = Pairs::All;
  options.sweep = {.first = kKiB, .last = 2 * kKiB};
  options.operations = 3;
  options.warmup_operations = 1;
  options.checks = 0;  // a fake moves no data between ranks
  options.csv_path = folder.path("x.csv");
  RankMap rank_map;
  rank_map.least_memory = kGiB;
  testing::internal::CaptureStdout();
  test::on_ranks(ranks, [&](test::ThreadBootstrap& world) {
    test::FakeCommunicator communicator;
    Watchdog watchdog{std::nullopt, {}};
    Outputs outputs(world, options);
    outputs.begin(test::context());
    Runner({.options = options,
            .collective = test::collective("sendrecv"),
            .backend = "fake",
            .world = world,
            .group = world,
            .smallest_group = ranks,
            .communicator = communicator,
            .rank_map = rank_map,
            .watchdog = watchdog,
            .memory = plan_memory(world, options, rank_map, communicator, 1)},
           outputs)
        .run();
    outputs.end("");
  });
  (void)testing::internal::GetCapturedStdout();
  return read_csv(options.csv_path).records;
}

TEST(RunOfPairs, HasARowForEveryPairAndSize) {
  Options options;
  options.placement = Placement::Out;
  std::multiset<std::string> pairs;
  for (const Record& row : rows_of_pairs(3, options)) {
    EXPECT_EQ(row.ranks, 2);
    EXPECT_EQ(row.operations, 3U);
    pairs.insert(
        fmt::format("{}>{} {}", row.sender.value_or(-1), row.receiver.value_or(-1), row.size));
  }
  EXPECT_EQ(pairs, (std::multiset<std::string>{"0>1 1024", "0>1 2048", "0>2 1024", "0>2 2048",
                                               "1>0 1024", "1>0 2048", "1>2 1024", "1>2 2048",
                                               "2>0 1024", "2>0 2048", "2>1 1024", "2>1 2048"}));
}

TEST(RunOfPairs, HasBothPlacementsOfEachPair) {
  EXPECT_EQ(rows_of_pairs(2, {}).size(), 8U);  // two pairs, two sizes, two placements
}

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "harness/row_exchange.hpp"

#include <gtest/gtest.h>

#include "model/record_fields.hpp"
#include "tests/unit/support/fake_bootstrap.hpp"
#include "tests/unit/support/sample_records.hpp"
#include "tests/unit/support/thread_team.hpp"

namespace busbar {
namespace {

/// A row of its own for every rank, so that it shows whose arrives.
Row row_of(int rank, std::size_t samples) {
  Row row{.record = test::measured(false), .samples_us = std::vector<double>(samples)};
  row.record.group = rank;
  for (std::size_t i = 0; i < samples; ++i) {
    row.samples_us[i] = rank + 0.1 * static_cast<double>(i);
  }
  return row;
}

TEST(GatherRows, BringsEveryLeadersRowToRankZeroInTheirOrder) {
  test::on_ranks(5, [](test::ThreadBootstrap& everyone) {
    const auto part = everyone.split(everyone.rank() / 2);  // 0 1, 2 3, 4
    const auto samples = static_cast<std::size_t>(everyone.rank() + 1);
    const Row mine = row_of(everyone.rank(), samples);
    const auto rows = gather_rows({.everyone = everyone, .sharers = *part}, mine);
    ASSERT_EQ(rows.size(), everyone.rank() == 0 ? 3U : 0U);
    if (rows.empty()) return;
    EXPECT_EQ(rows[0].record.group, 0);
    EXPECT_EQ(rows[1].record.group, 2);
    EXPECT_EQ(rows[2].record.group, 4);
    EXPECT_EQ(rows[0].samples_us, (std::vector<double>{0}));
    EXPECT_EQ(rows[1].samples_us, row_of(2, 3).samples_us);
    EXPECT_EQ(rows[2].samples_us, row_of(4, 5).samples_us);
  });
}

TEST(GatherRows, LeavesOutRanksThatAreIdle) {
  test::on_ranks(3, [](test::ThreadBootstrap& everyone) {
    const bool idle = everyone.rank() == 0;  // where rank 0 has no pair it writes all the same
    const auto part = everyone.split(idle ? 0 : 1);
    const Crew crew{.everyone = everyone, .sharers = *part, .idle = idle};
    const auto rows = gather_rows(crew, row_of(everyone.rank(), 2));
    ASSERT_EQ(rows.size(), idle ? 1U : 0U);
    if (idle) {
      EXPECT_EQ(rows[0].record.group, 1);
    }
  });
}

TEST(GatherRows, IsEmptyWhereEveryRankIsIdle) {
  test::FakeBootstrap alone(0, 1);
  EXPECT_TRUE(
      gather_rows({.everyone = alone, .sharers = alone, .idle = true}, row_of(0, 3)).empty());
}

Row exchanged(const Row& row) {
  test::FakeBootstrap alone(0, 1);
  return gather_rows({.everyone = alone, .sharers = alone}, row).at(0);
}

TEST(GatherRows, KeepsEveryColumn) {
  Row row = row_of(0, 1);
  row.record.root = 3;
  row.record.status = RowStatus::Wrong;
  row.record.reason = "rank 1, element 12345: expected \"37\", got 36;\u00b5s";
  row.record.flags = "segmented oversubscribed";
  row.record.sender = 4;
  row.record.receiver = 0;
  row.record.host_time_us = 0.25;
  row.record.enqueue_time_us = 1234567.5;
  row.record.group.reset();
  const Record received = exchanged(row).record;
  for (const RecordField& field : record_fields()) {
    EXPECT_EQ(field.get(received), field.get(row.record)) << field.name;
  }
  EXPECT_EQ(received.sender, 4);
  EXPECT_EQ(received.receiver, 0);
  EXPECT_FALSE(received.group.has_value());
}

TEST(GatherRows, KeepsEveryDigitOfSamples) {
  Row row = row_of(0, 0);
  row.samples_us = {1.0 / 3, 1e-300, 123456789.987654321};
  EXPECT_EQ(exchanged(row).samples_us, row.samples_us);
}

TEST(GatherRows, KeepsARowWithoutSamples) {
  const Row row{.record = test::skipped(true, "MPI has no type half"), .samples_us = {}};
  const Row received = exchanged(row);
  EXPECT_EQ(received.record.status, RowStatus::Skipped);
  EXPECT_EQ(received.record.reason, "MPI has no type half");
  EXPECT_TRUE(received.samples_us.empty());
}

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
// What NCCL's profiler plugin Inspector writes.
#include <tuple>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "study/import/log_reader.hpp"
#include "study/import/log_records.hpp"
#include "tests/unit/support/failure.hpp"

namespace busbar::study {
namespace {

using testing::HasSubstr;

/// A record of a rank of 8 on 2 nodes.
std::string record(const std::string& collective, int rank, int number, int size, int time_us) {
  return fmt::format(
      R"({{"header":{{"id":"0x7f","rank":{},"n_ranks":8,"nnodes":2}},)"
      R"("metadata":{{"inspector_output_format_version":"v4.0","hostname":"n{}","pid":7}},)"
      R"("coll_perf":{{"coll":"{}","coll_sn":{},"coll_msg_size_bytes":{},"coll_exec_time_us":{},)"
      R"("coll_algobw_gbs":1.5,"coll_busbw_gbs":2.5}}}})"
      "\n",
      rank, rank / 4 + 1, collective, number, size, time_us);
}
ImportedRows import(const std::string& text, const LogReading& reading = {}) {
  const std::vector<LogFile> logs{read_log(text, "x.log", reading)};
  return records_of(logs, {});
}
std::string refusal(const std::string& text) {
  return test::refusal_of([&] { (void)import(text); });
}

TEST(Inspector, TakesTheMedianOfOperationsAndOfEachTheSlowestRank) {
  std::string text;
  for (const auto& [number, time] : {std::pair{1, 400}, std::pair{2, 500}, std::pair{3, 900}}) {
    text += record("AllReduce", 0, number, 1'000'000, time);
    text += record("AllReduce", 5, number, 1'000'000, time + 100);
  }
  const ImportedRows rows = import(text);
  ASSERT_EQ(rows.records.size(), 1U);
  const Record& row = rows.records.front();
  EXPECT_EQ(std::tuple(row.collective, row.ranks, row.nodes, row.type, row.operations),
            std::tuple("allreduce", 8, 2, "float", 3U));
  EXPECT_EQ(std::tuple(row.time_median_us, row.time_min_us, row.time_max_us, row.time_mean_us),
            std::tuple(600, 500, 1000, std::nullopt));
  EXPECT_NEAR(row.busbw_GBps.value_or(0), 1e6 / 600e3 * 1.75, 1e-6);
  EXPECT_THAT(rows.facts, testing::Contains(testing::Pair("hosts", "n1 n2")));
}

TEST(Inspector, CountsAPartOfEachRankAsTheWhole) {
  for (const auto& [name, size] :
       {std::pair{"AllGather", 8000}, std::pair{"ReduceScatter", 8000}, std::pair{"All2All", 8000},
        std::pair{"Broadcast", 1000}, std::pair{"Reduce", 1000}}) {
    EXPECT_EQ(import(record(name, 0, 1, 1000, 10)).records.at(0).size, static_cast<Bytes>(size))
        << name;
  }
}

TEST(Inspector, LeavesOutWhatIsNoCollective) {
  std::string pair = record("AllReduce", 0, 1, 1000, 10);
  pair.replace(pair.find("coll_perf"), 4, "p2p_");
  const ImportedRows rows =
      import(record("AllReduce", 0, 1, 1000, 10) + pair + record("AllGatherV", 0, 1, 1000, 10) +
             record("AllReduce", 0, 2, 1000, 0));
  EXPECT_EQ(rows.records.size(), 1U);
  EXPECT_THAT(rows.warnings, testing::Contains(HasSubstr("3 records")));
}

TEST(Inspector, OfAKilledJobEndsBeforeTheLastLine) {
  const std::string good = record("AllReduce", 0, 1, 1000, 10);
  const ImportedRows rows = import(good + good.substr(0, 60));
  EXPECT_EQ(rows.records.size(), 1U);
  EXPECT_THAT(rows.warnings, testing::Contains(HasSubstr("x.log:2: the last record is cut off")));
}

TEST(Inspector, IsRefusedByLineWhereARecordIsDamaged) {
  const std::string good = record("AllReduce", 0, 1, 1000, 10);
  const auto damaged = [&](const std::string& old, const std::string& by) {
    std::string bad = good;
    return good + bad.replace(bad.find(old), old.size(), by) + good;
  };
  for (const std::string& text :
       {damaged("\"n_ranks\":8", "\"n_ranks\":-8"), damaged("\"n_ranks\":8", "\"n_ranks\":1e99"),
        damaged("\"nnodes\":2", "\"nnodes\":9"), damaged("1000", "\"1000\""),
        damaged("AllReduce", "All\xffReduce"), damaged("}}", "}")}) {
    const std::string message = refusal(text);
    EXPECT_THAT(message, HasSubstr("x.log:2: not a record of NCCL Inspector"));
    EXPECT_EQ(message.find('\n'), std::string::npos);
    EXPECT_EQ(import(text, {.skip_bad_lines = true}).records.size(), 1U);
  }
}

}  // namespace
}  // namespace busbar::study

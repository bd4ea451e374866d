// SPDX-License-Identifier: BSD-3-Clause
// What perftest prints and writes by --out_json.
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "study/import/log_reader.hpp"
#include "study/import/log_records.hpp"
#include "tests/unit/support/failure.hpp"

namespace busbar::study {
namespace {

using testing::HasSubstr;

std::vector<Record> import(const std::string& text) {
  const std::vector<LogFile> logs{read_log(text, "x.log", {})};
  return records_of(logs, {}).records;
}
std::string refusal(const std::string& text) {
  return test::refusal_of([&] { (void)import(text); });
}
std::string json(const std::string& test, const std::string& results) {
  return "{\n\"test_info\": {\n\"test\": \"" + test + "\",\n\"Device\": \"mlx5_0\"\n},\n" +
         "\"results\": {\n" + results + "\n}\n}\n";
}
double rate(const std::string& results) {
  return import(json("RDMA_Write_BW_Test", results)).at(0).busbw_GBps.value_or(0);
}

TEST(PerftestJson, HasMebibytesOrGigabitsByItsMessageRate) {
  // 1 MiB 40,000 times a second: 40000 MiB/s, 41.94 GB/s, 335.54 Gb/s.
  const std::string rest = "\"MsgSize\": 1048576,\n\"n_iterations\": 5000,\n\"MsgRate\": 0.040000,";
  EXPECT_NEAR(rate(rest + "\"BW_average\": 40000.00"), 41.94304, 1e-4);
  EXPECT_NEAR(rate(rest + "\"BW_average\": 335.54"), 41.94304, 1e-3);
  EXPECT_THAT(refusal(json("Send_BW_Test", rest + "\"BW_average\": 41.94")),
              HasSubstr("neither MiB/s nor Gb/s"));
}

TEST(PerftestJson, IsOfAPairOfHostsWhoseReaderReceives) {
  const std::string results =
      "\"MsgSize\": 65536, \"n_iterations\": 1000, \"BW_average\": 6250.00, \"MsgRate\": 0.100000";
  const auto pair = [&](const std::string& test) {
    const Record row = import(json(test, results)).at(0);
    return std::tuple(row.collective, row.ranks, row.nodes, row.sender, row.receiver);
  };
  EXPECT_EQ(pair("RDMA_Write_BW_Test"), std::tuple("sendrecv", 2, 2, 0, 1));
  EXPECT_EQ(pair("RDMA_Read_BW_Test"), std::tuple("sendrecv", 2, 2, 1, 0));
}

TEST(PerftestJson, OfALatencyTestHasTimesThatAreMedians) {
  const Record row = import(json("Send_Latency_Test",
                                 "\"MsgSize\": 8, \"n_iterations\": 1000, \"t_min\": 1.25, "
                                 "\"t_max\": 9.50, \"t_typical\": 1.50, \"percentile_99\": 2.75"))
                         .at(0);
  EXPECT_EQ(std::tuple(row.time_median_us, row.time_mean_us, row.time_min_us, row.time_p99_us),
            std::tuple(1.5, std::nullopt, 1.25, 2.75));
  EXPECT_EQ(row.flags, "imported");
}

TEST(PerftestJson, IsRefusedInOneLineWhereItIsNoneOfOneDirection) {
  for (const auto& [text, why] : {
           std::pair{json("RDMA_Write_Bidirectional_BW_Test", "\"a\": 1"), "one direction"},
           std::pair{json("Send_BW_Test", "\"bw_avg\": 1.0"), "no MsgSize"},
           std::pair{json("Send_BW_Test", "\"MsgSize\": -8"), "no MsgSize"},
           std::pair{json("Send_BW_Test", "\"MsgSize\": 1e400"), "not perftest's JSON"},
           std::pair{json("Send_Latency_Test", "\"MsgSize\": 8"), "no t_typical"},
           std::pair{json("\xff", "\"MsgSize\": 8"), "not perftest's JSON"},
           std::pair{std::string("{\"test_info\": 7}"), "not perftest's JSON"},
       }) {
    const std::string message = refusal(text);
    EXPECT_THAT(message, HasSubstr(why));
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

TEST(PerftestText, HasARowForEachSize) {
  const std::string text =
      "                    RDMA_Write BW Test\n Dual-port       : OFF\n"
      "---------------------------------\n"
      " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]\n"
      " 65536      5000             11500.10            11000.00		     0.176000\n"
      " 131072     5000             11600.10            11100.00		     0.088800\n"
      "---------------------------------\n";
  const std::vector<Record> rows = import(text);
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_NEAR(rows[0].busbw_GBps.value_or(0), 11.534336, 1e-4);
  EXPECT_EQ(std::tuple(rows[1].size, rows[1].operations), std::tuple(131072U, 5000U));
  std::string damaged = text;
  EXPECT_THAT(refusal(damaged.replace(damaged.find("11000.00"), 8, "1100x.00")),
              HasSubstr("x.log:5: "));
}

TEST(PerftestText, OfALatencyTestHasTimes) {
  const std::vector<Record> rows = import(
      "                    Send Latency Test\n"
      " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
      "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]\n"
      " 2       1000          0.81           4.25         0.84     	       0.85     	"
      "0.03		"
      "0.97 		4.25\n");
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(std::tuple(rows[0].time_median_us, rows[0].time_max_us, rows[0].time_p99_us),
            std::tuple(0.84, 4.25, 0.97));
}

}  // namespace
}  // namespace busbar::study

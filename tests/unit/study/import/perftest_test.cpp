// SPDX-License-Identifier: BSD-3-Clause
// What perftest prints.

#include "tests/unit/study/import/import_text.hpp"

namespace busbar::study {
namespace {

TEST(PerftestText, HasARowForEachSize) {
  const std::string text =
      "                    RDMA_Write BW Test\n Dual-port       : OFF\n"
      "---------------------------------\n"
      " #bytes     #iterations    BW peak[MiB/sec]    BW average[MiB/sec]   MsgRate[Mpps]\n"
      " 65536      5000             11500.10            11000.00		     0.176000\n"
      " 131072     5000             11600.10            11100.00		     0.088800\n"
      "---------------------------------\n";
  const std::vector<Record> rows = import(text).records;
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_NEAR(rows[0].busbw_GBps.value_or(0), 11.534336, 1e-4);
  EXPECT_EQ(std::tuple(rows[1].size, rows[1].operations), std::tuple(131072U, 5000U));
  std::string damaged = text;
  EXPECT_THAT(refusal(damaged.replace(damaged.find("11000.00"), 8, "1100x.00")),
              HasSubstr("x.log:5: "));
}

TEST(PerftestText, OfALatencyTestHasTimes) {
  const std::vector<Record> rows =
      import(
          "                    Send Latency Test\n"
          " #bytes #iterations    t_min[usec]    t_max[usec]  t_typical[usec]    t_avg[usec]    "
          "t_stdev[usec]   99% percentile[usec]   99.9% percentile[usec]\n"
          " 2       1000          0.81           4.25         0.84     	       0.85     	"
          "0.03		"
          "0.97 		4.25\n")
          .records;
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(std::tuple(rows[0].time_median_us, rows[0].time_max_us, rows[0].time_p99_us),
            std::tuple(0.84, 4.25, 0.97));
}

}  // namespace
}  // namespace busbar::study

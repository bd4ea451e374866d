// SPDX-License-Identifier: BSD-3-Clause
#include "study/import/log_reader.hpp"

namespace busbar::study {
namespace {

const std::string kColumnsOfLog =
    "n1:7:7 [0] NCCL INFO Bootstrap: Using eth0\n"
    "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n";
const std::string kInfo = "n1:7:7 [0] NCCL INFO ";
const std::string kWholeRow =
    "  33554432  8388608  float  sum  -1  276.88  121.19  121.19  0  277.00  "
    "121.13  121.13  0\n";

LogFile read(const std::string& text) { return read_log(kColumnsOfLog + text, "x.log", {}); }

/// The row cut at these places by lines of NCCL's own.
std::string torn_at(std::vector<std::size_t> places) {
  std::string row = kWholeRow;
  std::sort(places.rbegin(), places.rend());
  for (const std::size_t at : places) row.insert(at, kInfo + "foo\n" + kInfo + "bar\n");
  return row;
}

TEST(TornRow, IsJoinedWhereverItIsTorn) {
  for (std::size_t at = 12; at + 2 < kWholeRow.size(); ++at) {
    const LogFile log = read(torn_at({at}) + "67108864" + kWholeRow.substr(10));
    ASSERT_EQ(log.tables.at(0).rows.size(), 2U) << torn_at({at});
    const LogRow& row = log.tables[0].rows[0];
    EXPECT_EQ(std::tuple(row.size, row.count, row.type, row.op, row.halves[0].time_us->value,
                         row.halves[1].busbw_GBps->value),
              std::tuple(33554432U, 8388608U, "float", "sum", 276.88, 121.13))
        << torn_at({at});
  }
}

TEST(TornRow, IsJoinedOfThreeParts) {
  const std::size_t root = kWholeRow.find("-1") + 2;
  const std::size_t half = kWholeRow.find("  277");
  const LogFile log = read(torn_at({root, half}));
  ASSERT_EQ(log.tables.at(0).rows.size(), 1U);
  EXPECT_EQ(log.tables[0].rows[0].halves[1].time_us->value, 277.0);
  EXPECT_EQ(log.tables[0].rows[0].line, 3U);
}

TEST(TornRow, IsRefusedWhereItsRestIsMissing) {
  const std::string text = kColumnsOfLog + kWholeRow.substr(0, 30) + kInfo + "foo\n" + kWholeRow;
  const auto failure = test::failure_of([&] { (void)read_log(text, "x.log", {}); });
  EXPECT_THAT(failure.message, AllOf(HasSubstr("x.log:3: NCCL's"), HasSubstr("--skip-bad-lines")));
  const std::string at_end = kColumnsOfLog + kWholeRow.substr(0, 30) + kInfo + "foo\n";
  EXPECT_THAT(test::failure_of([&] { (void)read_log(at_end, "x.log", {}); }).message,
              HasSubstr("x.log:3: NCCL's own log tears this row"));
  const LogFile log = read_log(text, "x.log", {.skip_bad_lines = true});
  EXPECT_EQ(log.tables.at(0).rows.size(), 1U);
}

TEST(TornRow, HasTheChoiceThatNcclLogsInIt) {
  const std::string bytes =
      kInfo + "AllReduce: {} Bytes -> Algo {} proto LL channel{{Lo..Hi}}={{0..3}}\n";
  const std::size_t root = kWholeRow.find("-1") + 2;
  std::string row = kWholeRow;
  row.insert(root, fmt::format(fmt::runtime(bytes), 33554432, "RING") +
                       fmt::format(fmt::runtime(bytes), 5, "TREE"));
  const LogFile log =
      read(fmt::format(fmt::runtime(bytes), 99, "TREE") + row + "67108864" + kWholeRow.substr(10));
  const std::vector<LogRow>& rows = log.tables.at(0).rows;
  EXPECT_EQ(
      std::tuple(rows.at(0).choice.algorithm, rows[0].choice.protocol, rows[0].choice.channels),
      std::tuple("Ring", "LL", 4));
  EXPECT_EQ(rows.at(1).choice.algorithm, "") << "of no row before";
}

}  // namespace
}  // namespace busbar::study

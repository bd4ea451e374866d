// SPDX-License-Identifier: BSD-3-Clause
// What nccom-test of AWS Neuron prints, and writes by --report-to-json-file.
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "study/import/log_reader.hpp"
#include "study/import/log_records.hpp"
#include "tests/unit/support/failure.hpp"

namespace busbar::study {
namespace {

using testing::HasSubstr;

std::vector<Record> import(const std::string& text, const LogHints& hints = {}) {
  const std::vector<LogFile> logs{read_log(text, "x.log", {})};
  return records_of(logs, hints).records;
}
std::string refusal(const std::string& text, const LogHints& hints = {}) {
  return test::refusal_of([&] { (void)import(text, hints); });
}

// 64 MiB in 1000 us: 67.11 GB/s, 62.50 GiB/s; on 4 ranks times 1.5.
const std::string kGibibytes =
    "nccom-test -r 4 -N 2 -b 64M -e 64M -d fp32 allr\n"
    "       size(B)    count(elems)    type    time(us)    algbw(GB/s)    busbw(GB/s)\n"
    "      67108864        16777216    fp32        1000          62.50          93.75\n"
    "Avg bus bandwidth:      93.7500GB/s\n";
const std::string kGigabytes =
    "size(B)    count(elems)    total_input_size(B)    total_output_size(B)    type    "
    "time:avg(us)    algbw(GB/s)    busbw(GB/s)\n"
    "67108864        16777216  16777216  67108864    bf16        1000.00          67.11          "
    "50.33\nAvg bus bandwidth:      50.3316GB/s\n";

TEST(NccomTable, HasTheCollectiveAndRanksOfItsCommand) {
  const Record row = import(kGibibytes).at(0);
  EXPECT_EQ(std::tuple(row.collective, row.ranks, row.nodes, row.type, row.size),
            std::tuple("allreduce", 4, 2, "float", 64 * kMiB));
}

TEST(NccomTable, OfGibibytesIsConverted) {
  const Record row = import(kGibibytes).at(0);
  EXPECT_NEAR(row.algbw_GBps.value_or(0), 67.109, 1e-3);
  EXPECT_NEAR(row.busbw_GBps.value_or(0), 100.663, 2e-3);
  EXPECT_EQ(row.flags, "imported");  // time(us) is a median
}

TEST(NccomTable, OfGigabytesAndMeansNeedsWhatItsCommandWouldSay) {
  EXPECT_THAT(refusal(kGigabytes), HasSubstr("--collective"));
  const Record row = import(kGigabytes, {.collective = "all_gather", .ranks = 4}).at(0);
  EXPECT_NEAR(row.busbw_GBps.value_or(0), 50.33, 5e-3);
  EXPECT_EQ(std::tuple(row.size, row.type, row.flags),
            std::tuple(64 * kMiB, "bfloat16", "imported mean"));
}

TEST(NccomTable, IsRefusedByLineWhereASizeFailed) {
  std::string failed = kGibibytes;
  failed.insert(failed.find("Avg"),
                "  134217728    Failure running neuron-bench - log file /tmp/x\n");
  EXPECT_THAT(refusal(failed), HasSubstr("x.log:4: "));
  const LogFile log = read_log(failed, "x.log", {.skip_bad_lines = true});
  EXPECT_EQ(std::tuple(log.tables.front().rows.size(), log.warnings.size()), std::tuple(1U, 1U));
}

std::string json(const std::string& cells) { return "{\"results\": [{" + cells + "}]}"; }

TEST(NccomJson, IsReadLikeItsTable) {
  const Record row =
      import(json("\"size(B)\": 67108864, \"count(elems)\": 16777216, \"type\": \"fp32\", "
                  "\"algbw(GB/s)\": 67.108864, \"busbw(GB/s)\": 50.331648, \"time:avg(us)\": 1000"),
             {.collective = "all_gather", .ranks = 4})
          .at(0);
  EXPECT_DOUBLE_EQ(row.busbw_GBps.value_or(0), 50.331648);
  EXPECT_EQ(std::tuple(row.backend, row.time_mean_us), std::tuple("neuron", 1000));
}

TEST(NccomJson, IsRefusedInOneLineWhereItIsDamaged) {
  for (const auto& [text, why] : {
           std::pair{json("\"size(B)\": 8, \"type\": \"fp32\""), "result 1 has no size or no time"},
           std::pair{json("\"size(B)\": -8, \"time(us)\": 1"), "result 1 has no size or no time"},
           std::pair{json("\"size(B)\": 8, \"time(us)\": 1, \"type\": \"odd\""), "'odd'"},
           std::pair{std::string("{\"results\": [{\"size(B)\": 8"), "not nccom-test's JSON"},
           std::pair{std::string("{\"size(B)\": 8}"), "not nccom-test's JSON"},
       }) {
    const std::string message = refusal(text);
    EXPECT_THAT(message, testing::AllOf(testing::StartsWith("x.log: "), HasSubstr(why)));
    EXPECT_EQ(message.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace busbar::study

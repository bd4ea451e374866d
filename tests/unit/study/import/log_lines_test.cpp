// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.hpp"
#include "study/import/log.hpp"

namespace busbar::study {
namespace {

const std::vector<std::string> kLog{
    "+ srun ./all_reduce_perf -b 8",
    "# nThread 1 nGpus 2 minBytes 8 maxBytes 16",
    "#       size  count  type  redop  root  time  algbw  busbw  #wrong",
    "#        (B)  (elements)",
    "           8      2  float  sum  -1  9.05  0.00  0.00  0",
    "          16      4  float  sum  -1  9.05  0.00  0.00  0",
    "# Avg bus bandwidth    : 0",
    "",
    "done"};

std::vector<std::string> texts_of(const std::string& log) {
  std::vector<std::string> texts;
  for (const LogLine& line : log_lines(log)) texts.push_back(line.text);
  return texts;
}
std::string with_prefix(const std::string& prefix) {
  return join_each(kLog, "", [&](const std::string& line) { return prefix + line + '\n'; });
}

TEST(LogLines, AreWithoutAnyPrefixThatStandsBeforeSeveralLinesOfATool) {
  const std::vector<std::string> plain = texts_of(with_prefix(""));
  ASSERT_EQ(plain.at(4), trim(kLog[4]));
  for (const char* prefix :
       {"node17: ", "[default0]:", "[rank0]: ", "[prterun-node17-4711@1,0]<stdout>: ",
        "2026-11-23T10:11:12.345678901Z stdout F ", "nccl-test-7f9c main ",
        "Nov 24 08:00:00 gpu1 nccl[123]: ", "(pid=123, ip=10.0.0.1) ", "> ", "> > ", "nccl-1  | ",
        "10:11:12 ", "INFO:root:", "node17: [1,0]<stdout>:"}) {
    EXPECT_EQ(texts_of(with_prefix(prefix)), plain) << prefix;
  }
}

TEST(LogLines, HavePrefixesWhoseNumbersCount) {
  std::string log;
  for (std::size_t i = 0; i < kLog.size(); ++i) {
    log += "Nov  9 08:00:" + std::to_string(8 + i) + " gpu1 nccl[" + std::to_string(99 + i) +
           "]: " + kLog[i] + '\n';
  }
  EXPECT_EQ(texts_of(log), texts_of(with_prefix("")));
  const std::string rows = "node17: " + kLog[4] + "\nnode17: " + kLog[5] + '\n';
  EXPECT_EQ(texts_of(rows).at(1), trim(kLog[5])) << "rows alone";
  EXPECT_EQ(texts_of("job#3# nThread 1\njob#3# Rank 0\n").at(0), "# nThread 1");
}

TEST(LogLines, KeepWhatIsNoPrefix) {
  // Columns of the user's, rows that the user made comments, and a line of NCCL's that tears a row.
  for (const char* start : {"16 ", "# ", "n1:7:7 [0] NCCL INFO comm "}) {
    const std::string line = start + kLog[4];
    EXPECT_EQ(texts_of(line + '\n' + line + '\n').at(1), trim(line)) << start;
  }
  EXPECT_EQ(texts_of("x| " + kLog[4] + '\n').at(0), "x| " + kLog[4]) << "one line is chance";
}

TEST(LogLines, OfNodesThatRunATestEachAtTheSameTimeAreTogether) {
  std::string log = "+ pdsh\n";
  for (const std::string& line : kLog) log += "n1: " + line + "\nn2: " + line + '\n';
  const std::vector<LogLine> lines = log_lines(log);
  ASSERT_EQ(lines.size(), 1 + 2 * kLog.size());
  EXPECT_EQ(lines[0].text, "+ pdsh");
  for (std::size_t i = 0; i < kLog.size(); ++i) {
    EXPECT_EQ(lines[1 + i].text, trim(kLog[i]));
    EXPECT_EQ(lines[1 + i].number, 2 + 2 * i) << "the line of the file";
    EXPECT_EQ(lines[1 + kLog.size() + i].number, 3 + 2 * i);
  }
}

TEST(LogLines, ReadUtf16InBothOrdersOfBytes) {
  const std::string text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x9a\x80\nb\n";  // 1 to 4 bytes each
  const std::string little(
      "\xff\xfe"
      "a\0\xe9\0\xac\x20\x3d\xd8\x80\xde\n\0b\0\n\0",
      18);
  std::string big = little;
  for (std::size_t i = 0; i + 1 < big.size(); i += 2) std::swap(big[i], big[i + 1]);
  EXPECT_EQ(texts_of(little), texts_of(text));
  EXPECT_EQ(texts_of(big), texts_of(text));
  EXPECT_EQ(texts_of(std::string("\xff\xfe\x3d\xd8"
                                 "a\0b",
                                 7)),
            texts_of("a"))
      << "half a pair, half a unit";
  EXPECT_EQ(texts_of("\xef\xbb\xbf"
                     "ab"),
            texts_of("ab"));
  EXPECT_TRUE(texts_of("\xff\xfe").empty());
}

}  // namespace
}  // namespace busbar::study

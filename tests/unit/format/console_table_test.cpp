// SPDX-License-Identifier: BSD-3-Clause
#include "format/console_table.hpp"

#include "tests/unit/support/sample_records.hpp"

namespace busbar {
namespace {

using test::measured;
using test::skipped;
using test::with;

/// A stream whose text can be read back.
class CapturedStream {
 public:
  CapturedStream() : stream_(open_memstream(&text_, &size_)) {}
  CapturedStream(const CapturedStream&) = delete;
  CapturedStream& operator=(const CapturedStream&) = delete;
  ~CapturedStream() {
    std::fclose(stream_);
    std::free(text_);  // NOLINT: open_memstream's own memory
  }

  [[nodiscard]] std::FILE* stream() const { return stream_; }
  [[nodiscard]] std::string text() const {
    std::fflush(stream_);
    return {text_, size_};
  }
  /// Lines without their line ends.
  [[nodiscard]] std::vector<std::string> lines() const {
    std::vector<std::string> lines = split(text(), '\n');
    if (!lines.empty() && lines.back().empty()) lines.pop_back();
    return lines;
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* stream_;
};

std::size_t words_in(const std::string& line) { return split_words(line).size(); }

/// The lines of the table that are no comments.
std::vector<std::string> rows(const CapturedStream& captured) {
  return filtered(captured.lines(), [](const std::string& line) { return line[0] != '#'; });
}

/// The lines that records leave, without head and footers.
std::vector<std::string> lines_of(const std::vector<Record>& records,
                                  HalfJoiner::Halves halves = {}) {
  const CapturedStream captured;
  ConsoleTable table(captured.stream(), halves);
  for (const Record& record : records) table.write({record});
  return captured.lines();
}

constexpr HalfJoiner::Halves kOut{.in_place = false};
const std::string kKeys = "    33554432       8388608     float     sum      -1";
const std::string kNoHalf = "      N/A     N/A     N/A     N/A";

/// What nccl-tests 2.19.6 printed for this run, less its version line. Blanks at the ends of lines
/// are left out: none of its readers looks at them.
constexpr std::string_view kNcclTestsText =
    R"(# Collective test starting: all_reduce_perf
# nThread 1 nGpus 1 minBytes 33554432 maxBytes 33554432 step: 1048576(bytes) warmup iters: 1 iters: 20 agg iters: 1 validation: 1 graph: 0 unalign: 0
#
# Using devices
#  Rank  0 Group  0 Pid 249104 on      node1 device  0 [0000:00:05] NVIDIA B200
#
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw  #wrong     time   algbw   busbw  #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)             (us)  (GB/s)  (GB/s)
    33554432       8388608     float     sum      -1   276.88  121.19  227.23       0   277.00  121.13  227.13       0
# Out of bounds values : 0 OK
# Avg bus bandwidth    : 178.222
#
# Collective test concluded: all_reduce_perf
#
)";

struct Console : testing::Test {
  [[nodiscard]] std::string line(std::size_t at) const { return captured.lines().at(at); }

  CapturedStream captured;
  ConsoleTable table{captured.stream(), {}};
};

TEST_F(Console, PrintsWhatNcclTestsPrints) {
  table.begin(with(test::context(), &RunContext::notes, std::vector<std::string>{}));
  table.write({measured(false)});
  table.write({measured(true)});
  table.end({.rows = 2, .mean_busbw_GBps = 178.222, .finished_at = ""});
  std::string text;
  for (const std::string& line : captured.lines()) {
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  EXPECT_EQ(text, kNcclTestsText);
}

TEST_F(Console, PutsNotesOnLinesOfTheirOwnAboveTheDevicesAndHowOperationsBlockAboveThem) {
  const std::vector<std::string> notes{"one", "two\nlines"};
  table.begin(with(test::context(), &RunContext::notes, notes, &RunContext::blocking, 2));
  EXPECT_EQ(line(2), "# Blocking Enabled: wait after each operation");
  EXPECT_EQ(line(3), "# one");
  EXPECT_EQ(line(4), "# two lines");
  EXPECT_EQ(line(6), "# Using devices");
}

TEST_F(Console, CountsOnceTheRowsWhoseChoiceNcclDoesNotReport) {
  table.begin(with(test::context(), &RunContext::observes_choice, true));
  table.write({with(measured(false), &Record::algorithm, "Ring")});
  table.write({measured(true)});
  table.end({.rows = 2, .finished_at = ""});
  EXPECT_THAT(captured.lines(), Contains(HasSubstr("no algorithm for 1 of 2 ")).Times(1));
}

TEST_F(Console, HasNoValueForAHalfThatWasNotMeasuredAndNoCountForOneThatWasNotChecked) {
  const Record out = measured(false);
  const std::string in_place = "   277.00  121.13  227.13       0";
  EXPECT_EQ(lines_of({with(out, &Record::wrong, 1048580U)}, kOut).at(0),
            kKeys + "   276.88  121.19  227.23  1.04858e+06" + kNoHalf);
  EXPECT_EQ(lines_of({measured(true)}, {.out_of_place = false}).at(0), kKeys + kNoHalf + in_place);
  EXPECT_EQ(lines_of({with(out, &Record::wrong, std::nullopt), measured(true)}).at(0),
            kKeys + "   276.88  121.19  227.23     N/A" + in_place);
  EXPECT_THAT(lines_of({with(out, &Record::root, 3, &Record::op, "none")}, kOut).at(0),
              StartsWith("    33554432       8388608     float    none       3   276.88"));
}

TEST_F(Console, PrintsAReasonToSkipOnce) {
  const auto skip = [](bool in_place, const std::string& reason) {
    return with(measured(in_place), &Record::status, RowStatus::Skipped, &Record::reason, reason);
  };
  const auto lines = lines_of({skipped(false, "no room"), skipped(true, "no room"), measured(false),
                               skip(true, "no room"), skip(false, "no type"), measured(true)});
  EXPECT_THAT(lines,
              ElementsAre("# size 1024 type half redop sum skipped: no room", Not(StartsWith("#")),
                          Not(StartsWith("#")),
                          "# size 33554432 type float redop sum out of place skipped: no type"));
}

TEST_F(Console, PrintsTheFirstWrongElementOfEveryRow) {
  const Record wrong = with(measured(false), &Record::status, RowStatus::Wrong, &Record::wrong, 1U,
                            &Record::reason, "rank 1");
  const auto lines = lines_of({wrong, measured(true), wrong, measured(true)});
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[1], "# size 33554432 type float redop sum out of place wrong data: rank 1");
}

TEST_F(Console, HasItsReadersWordsInTheFootersOnly) {
  table.begin(test::context());
  table.write({with(measured(false), &Record::status, RowStatus::Wrong, &Record::reason,
                    "rank 0, element 0: expected 1, got 2", &Record::stop_reason, "time-budget")});
  table.write({skipped(true, "no room")});
  table.end({.rows = 1, .wrong_rows = 1, .mean_busbw_GBps = 1, .finished_at = ""});
  for (const char* word :
       {"bandwidth", "FAILED", "Out of bounds values : 1 FAILED", "out-of-place"}) {
    EXPECT_THAT(captured.lines(), Contains(HasSubstr(word)).Times(1));
  }
}

TEST_F(Console, CountsMeasurementsThatEndedWithTheirBudget) {
  table.write({with(measured(false), &Record::stop_reason, "time-budget")});
  table.write({measured(true)});
  table.end({});
  EXPECT_THAT(captured.text(),
              AllOf(HasSubstr("# 1 of 2 measurements"), HasSubstr("--time-budget")));
}

TEST(ConsoleTable, FailsWhereItsStreamCannotBeWritten) {
  std::FILE* full = std::fopen("/dev/full", "w");
  if (full == nullptr) GTEST_SKIP() << "no /dev/full";
  ConsoleTable table(full, {});
  test::expect_failure(Status::Runtime, "No space left on device", [&] { table.end({}); });
  std::fclose(full);
}

/// A run of one row under these options: the row's samples are 2, 4, 4, 4, 5, 5, 7 and 9 us.
std::vector<std::string> lines_under(const RunContext& context) {
  const CapturedStream captured;
  ConsoleTable table(captured.stream(), {});
  table.begin(context);
  const std::vector<double> samples{9, 2, 4, 4, 4, 5, 5, 7};
  table.write({with(measured(false), &Record::enqueue_time_us, 12.5), samples});
  table.write({measured(true)});
  return captured.lines();
}

RunContext per_operation(std::uint64_t skipped) {
  return with(test::context(), &RunContext::skipped, skipped);
}

TEST_F(Console, HasTwentyOneWordsInEveryRowWithTimesOfOperations) {
  const auto lines = lines_under(per_operation(0));
  EXPECT_EQ(words_in(lines.back()), 21U);
  EXPECT_EQ(lines.back(), kKeys +
                              "   276.88  121.19  227.23       0"
                              "     2.00     9.00     9.00   40.00"
                              "   277.00  121.13  227.13       0"
                              "      N/A      N/A      N/A     N/A");
  const std::string& names = lines.at(lines.size() - 3);
  EXPECT_EQ(words_in(names), 22U) << names;  // and the '#'
  EXPECT_THAT(names, HasSubstr("#wrong    i_min    i_max    i_p99   i_cv%     time"));
  EXPECT_THAT(lines.at(lines.size() - 4), HasSubstr("out-of-place (+ per-iteration)"));
  EXPECT_EQ(names.find_last_not_of(' '), lines.back().size() - 1);  // as wide as its rows

  ConsoleTable one_half(captured.stream(), kOut);
  one_half.begin(per_operation(0));
  one_half.write({measured(false), {1, 2}});
  EXPECT_EQ(words_in(rows(captured).at(0)), 21U);
}

TEST_F(Console, LeavesOutTheFirstOperationsOnRequest) {
  // without the 9 the mean is 31 over 7
  EXPECT_THAT(lines_under(per_operation(1)).back(),
              HasSubstr("     2.00     7.00     7.00   31.61"));
  EXPECT_THAT(lines_under(per_operation(8)).back(),
              HasSubstr("       0      N/A      N/A      N/A     N/A   277.00"));
}

TEST_F(Console, ShowsTheHostsTimeOfIssuingOnRequest) {
  EXPECT_THAT(lines_under(with(test::context(), &RunContext::enqueue_times, true)).back(),
              StartsWith(kKeys + "    12.50  121.19  227.23       0"));
}

TEST_F(Console, PrintsTheOptionsOfTheRunInItsSecondLine) {
  const auto lines =
      lines_under(with(test::context(), &RunContext::graph, 4U, &RunContext::unalign, 3U));
  EXPECT_TRUE(lines.at(1).ends_with(" validation: 1 graph: 4 unalign: 3"));
}

TEST_F(Console, PrintsTheMemoryInUseOnRequest) {
  table.end({});
  EXPECT_THAT(captured.text(), Not(HasSubstr("memory")));
  table.end({.memory_use = "Initialization 1 MiB | Total 2 MiB", .finished_at = ""});
  EXPECT_THAT(captured.lines(),
              Contains("# GPU memory usage : Initialization 1 MiB | Total 2 MiB"));
}

TEST_F(Console, PutsTheHalvesOfGroupsTogetherHoweverTheyArrive) {
  const auto of_group = [](int group, bool in_place) {
    return with(measured(in_place), &Record::group, group, &Record::count,
                static_cast<std::uint64_t>(group));
  };
  const auto lines = lines_of({of_group(0, false), of_group(1, false), of_group(2, false),
                               of_group(1, true), of_group(0, true), of_group(2, true)});
  ASSERT_EQ(lines.size(), 6U);
  std::size_t at = 0;
  for (const char* group : {"1", "0", "2"}) {
    EXPECT_EQ(lines[at], std::string("# group ") + group);
    const std::string& row = lines[at + 1];
    EXPECT_THAT(row, StartsWith(std::string("    33554432             ") + group + "     float"));
    EXPECT_EQ(words_in(row), 13U);
    EXPECT_EQ(row.find("N/A"), std::string::npos) << row;
    at += 2;
  }
}

Record rate(int sender, int receiver, double rate_GBps, Bytes size = kMiB) {
  return with(measured(false), &Record::sender, sender, &Record::receiver, receiver,
              &Record::busbw_GBps, rate_GBps, &Record::size, size);
}

TEST_F(Console, HeadsTheRowOfAPairByItsRanks) {
  const auto lines = lines_of({rate(3, 0, 1), rate(0, 3, 1)}, kOut);
  EXPECT_THAT(
      lines, ElementsAre("# pair 3 -> 0", StartsWith("    "), "# pair 0 -> 3", StartsWith("    ")));
}

TEST_F(Console, PrintsTheReasonOfAllPairsOnce) {
  const auto records = mapped(std::array{1, 2, 3}, [](int receiver) {
    return with(skipped(false, "no room"), &Record::sender, 0, &Record::receiver, receiver);
  });
  EXPECT_THAT(lines_of(records, kOut), Contains(EndsWith(" skipped: no room")).Times(1));
}

TEST(ConsoleTime, HasAsManyDecimalsAsFitInSevenCharacters) {
  const std::array times{0.35, 276.884, 9999.99, 9999.996, 12345.67, 99999.96, 3004567.25};
  EXPECT_THAT(mapped(times, console_time),
              ElementsAre("0.35", "276.88", "9999.99", "10000.0", "12345.7", "100000", "3004567"));
}

/// What stands between rows and footers.
std::string matrix_of(const std::vector<Record>& records) {
  const CapturedStream captured;
  ConsoleTable table(captured.stream(), kOut);
  for (const Record& record : records) table.write({record});
  const std::size_t begin = captured.text().size();
  table.end({});
  const std::string text = captured.text();
  return text.substr(begin, text.find("# Out of bounds") - begin);
}

TEST(PairMatrix, HasALineForEverySenderAndAColumnForEveryReceiver) {
  EXPECT_EQ(matrix_of({rate(0, 1, 1), rate(1, 0, 10.25), rate(2, 0, 1234.567), rate(0, 2, 0.004)}),
            "#\n"
            "# GB/s one way at 1 MiB, from the line's rank to the column's\n"
            "#            0       1       2\n"
            "#    0       -    1.00    0.00\n"
            "#    1   10.25       -       -\n"
            "#    2 1234.57       -       -\n"
            "#\n");
}

TEST(PairMatrix, IsOfTheLargestSizeAndTheLastCycle) {
  const std::string text = matrix_of(
      {rate(0, 1, 1, kKiB), rate(1, 0, 2), rate(0, 1, 9), rate(0, 1, 3), rate(1, 0, 4, kKiB)});
  EXPECT_THAT(text, HasSubstr(" at 1 MiB,"));
  EXPECT_THAT(text, HasSubstr("#    0       -    3.00\n#    1    2.00       -\n"));
}

TEST(PairMatrix, IsNothingWithoutAMeasuredPair) {
  EXPECT_EQ(matrix_of({measured(false), skipped(false, "no room"),
                       with(rate(0, 1, 1), &Record::busbw_GBps, std::nullopt)}),
            "");
}

TEST(TogetherTable, HasWhatRowsAndWhatRanBesideThemDidToEachOther) {
  Record row{.collective = "allreduce", .in_place = true, .size = 2048, .time_mean_us = 15};
  row.mix = "beside load";
  row.alone_time_us = 10;
  row.slowdown = row.slowdown_p99 = 1.5;
  row.slowdown_low = 1.25;
  row.slowdown_high = 2;
  EXPECT_THAT(matrix_of({row}),
              testing::ContainsRegex("# beside load +allreduce +2 KiB in place +10.* +15.* +1.50 "
                                     "\\[1.25, 2.00\\] +slower .* 1.50 +no difference shown +-\n"));
}

}  // namespace
}  // namespace busbar

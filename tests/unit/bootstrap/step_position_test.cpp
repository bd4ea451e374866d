// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/step_position.hpp"

#include "base/text.hpp"

namespace busbar {
namespace {

StepPosition at(std::uint64_t step, const std::string& text, std::uint64_t point = 0) {
  StepPosition position{.step = step, .point = point, .idle_s = 61.2};
  copy_text(text, position.text);
  return position;
}

RankPosition answer(int rank, const StepPosition& position) {
  return {.rank = rank, .host = fmt::format("h{}", rank / 4), .position = position};
}

RankPosition silence(int rank) { return {.rank = rank, .host = fmt::format("h{}", rank / 4)}; }

constexpr std::uint64_t kIn37 = 73;
constexpr std::uint64_t kAfter37 = 74;
constexpr std::uint64_t kIn38 = 75;

const std::string kRow = "all-reduce 64 MiB in place, timing";

/// Ranks of a job at the same place.
std::vector<RankPosition> together(int ranks, const StepPosition& position) {
  std::vector<RankPosition> all;
  for (int rank = 0; rank < ranks; ++rank) all.push_back(answer(rank, position));
  return all;
}

TEST(DescribeStall, NamesTheRankThatIsAnOperationBehind) {
  auto ranks = together(16, at(9, kRow, kIn38));
  ranks[11] = answer(11, at(9, kRow, kIn37));
  EXPECT_EQ(
      describe_stall(ranks, 16),
      "rank 11 on h2 is behind, all-reduce 64 MiB in place, timing, in operation 37 for 61 s; "
      "15 others wait in operation 38");
  for (RankPosition& rank : ranks) {
    if (rank.rank != 11) rank.position = at(9, kRow, kAfter37);
  }
  EXPECT_EQ(
      describe_stall(ranks, 16),
      "rank 11 on h2 is behind, all-reduce 64 MiB in place, timing, in operation 37 for 61 s; "
      "15 others wait after operation 37");
}

TEST(DescribeStall, NamesTheRankThatIsInAnEarlierStep) {
  auto ranks = together(3, at(9, kRow, kIn38));
  ranks[0] = answer(0, at(8, "all-reduce 64 MiB in place, warming up", kAfter37));
  EXPECT_EQ(
      describe_stall(ranks, 3),
      "rank 0 on h0 is behind, all-reduce 64 MiB in place, warming up, after operation 37 for "
      "61 s; 2 others wait in: all-reduce 64 MiB in place, timing, in operation 38");
  ranks[1] = answer(1, at(8, "all-reduce 64 MiB in place, warming up", kIn38));
  EXPECT_EQ(
      describe_stall(ranks, 3),
      "rank 0 on h0 is behind, all-reduce 64 MiB in place, warming up, after operation 37 for "
      "61 s; 2 others wait in: all-reduce 64 MiB in place, timing, in operation 38 or before "
      "that");
}

TEST(DescribeStall, NamesARankThatDoesNotAnswerAndNotThoseThatWaitForIt) {
  auto ranks = together(4, at(9, kRow, kIn38));
  ranks[3] = silence(3);
  EXPECT_EQ(
      describe_stall(ranks, 4),
      "rank 3 on h0 does not answer; 3 others wait in: all-reduce 64 MiB in place, timing, in "
      "operation 38");
  ranks[1] = answer(1, at(9, kRow, kIn37));
  EXPECT_EQ(
      describe_stall(ranks, 4),
      "rank 3 on h0 does not answer; 3 others wait in: all-reduce 64 MiB in place, timing, in "
      "operation 38 or before that");
  ranks[1] = answer(1, at(8, "all-reduce 64 MiB in place, warming up"));  // whose root is further
  EXPECT_EQ(
      describe_stall(ranks, 4),
      "rank 3 on h0 does not answer; 3 others wait in: all-reduce 64 MiB in place, timing, in "
      "operation 38 or before that");
  ranks[1] = answer(1, at(4, "planning memory"));
  EXPECT_EQ(describe_stall(ranks, 4),
            "rank 3 on h0 does not answer; rank 1 on h0 is behind, planning memory for 61 s; 2 "
            "others wait in: all-reduce 64 MiB in place, timing, in operation 38");
}

TEST(DescribeStall, NamesRankZeroAsAnotherRankSeesIt) {
  EXPECT_EQ(describe_stall({answer(5, at(9, kRow, kIn38)), silence(0)}, 0),
            "rank 0 on h0 does not answer; rank 5 on h1 waits in: all-reduce 64 MiB in place, "
            "timing, in operation 38");
}

TEST(DescribeStall, NamesNoneWhereAllAreEquallyFar) {
  EXPECT_EQ(describe_stall(together(16, at(9, kRow, kIn38)), 16),
            "none of the 16 ranks that answer is behind: all-reduce 64 MiB in place, timing, in "
            "operation 38");
  EXPECT_EQ(describe_stall({silence(0), silence(1)}, 2),
            "rank 0 on h0, rank 1 on h0 do not answer");
}

TEST(DescribeStall, NamesEightOfManyAndCountsTheRest) {
  auto ranks = together(1000, at(9, "x", kIn38));
  for (std::size_t i = 0; i < 40; ++i) ranks[i * 25].position = at(9, "x", kIn37);
  EXPECT_EQ(
      describe_stall(ranks, 1000),
      "rank 0 on h0, rank 25 on h6, rank 50 on h12, rank 75 on h18, rank 100 on h25, rank 125 "
      "on h31, rank 150 on h37, rank 175 on h43 and 32 more are behind, x, in operation 37 "
      "for 61 s; 960 others wait in operation 38");
}

TEST(DescribeStall, ListsRanksWithoutAConnection) {
  auto ranks = together(3, at(9, "x"));
  ranks[1] = silence(1);
  EXPECT_EQ(
      describe_stall(ranks, 6),
      "rank 1 on h0 does not answer; 2 others wait in: x; ranks that could not be asked: 3-5");
}

TEST(StepPosition, IsTextEvenIfItsBytesAreNot) {
  StepPosition broken;
  broken.text.fill('\n');
  EXPECT_EQ(to_string(broken).find('\n'), std::string::npos);
}

}  // namespace
}  // namespace busbar

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

const StepPosition kPlanning = at(4, "planning memory");
const StepPosition kWarmedUp = at(8, "warming up", 74);  // after operation 37
const StepPosition kIn37 = at(9, "timing", 73);
const StepPosition kAfter37 = at(9, "timing", 74);
const StepPosition kIn38 = at(9, "timing", 75);
const std::optional<StepPosition> kSilent;

using Positions = std::map<int, std::optional<StepPosition>>;

/// What there is to report of ranks that are all here, four on a host, but for `others`.
std::string stall(int ranks, const Positions& others, const StepPosition& here = kIn38) {
  std::vector<RankPosition> all;
  for (int rank = 0; rank < ranks; ++rank) {
    const auto other = others.find(rank);
    all.push_back({.rank = rank,
                   .host = fmt::format("h{}", rank / 4),
                   .position = other == others.end() ? here : other->second});
  }
  return describe_stall(all, ranks);
}

TEST(DescribeStall, NamesTheRankThatIsAnOperationOrAStepBehind) {
  const std::string behind = "rank 11 on h2 is behind, timing, in operation 37 for 61 s; ";
  EXPECT_EQ(stall(16, {{11, kIn37}}), behind + "15 others wait in operation 38");
  EXPECT_EQ(stall(16, {{11, kIn37}}, kAfter37), behind + "15 others wait after operation 37");
  const std::string earlier =
      "rank 0 on h0 is behind, warming up, after operation 37 for 61 s; 2 others wait in: timing, "
      "in operation 38";
  EXPECT_EQ(stall(3, {{0, kWarmedUp}}), earlier);
  EXPECT_EQ(stall(3, {{0, kWarmedUp}, {1, at(8, "warming up", 75)}}), earlier + " or before that");
}

TEST(DescribeStall, NamesARankThatDoesNotAnswerAndNotThoseThatWaitForIt) {
  const std::string silent = "rank 3 on h0 does not answer; ";
  const std::string wait = "3 others wait in: timing, in operation 38";
  EXPECT_EQ(stall(4, {{3, kSilent}}), silent + wait);
  EXPECT_EQ(stall(4, {{3, kSilent}, {1, kIn37}}), silent + wait + " or before that");
  EXPECT_EQ(stall(4, {{3, kSilent}, {1, at(8, "warming up")}}),  // whose root is further
            silent + wait + " or before that");
  EXPECT_EQ(stall(4, {{3, kSilent}, {1, kPlanning}}),
            silent +
                "rank 1 on h0 is behind, planning memory for 61 s; 2 others wait in: timing, in "
                "operation 38");
  EXPECT_EQ(stall(2, {{0, kSilent}, {1, kSilent}}), "rank 0 on h0, rank 1 on h0 do not answer");
}

TEST(DescribeStall, NamesNoneWhereAllAreEquallyFar) {
  EXPECT_EQ(stall(16, {}), "none of the 16 ranks that answer is behind: timing, in operation 38");
}

TEST(DescribeStall, NamesEightOfManyAndCountsTheRest) {
  Positions behind;
  for (int i = 0; i < 40; ++i) behind[i * 25] = kIn37;
  EXPECT_THAT(stall(1000, behind),
              AllOf(StartsWith("rank 0 on h0, rank 25 on h6, "),
                    HasSubstr(", rank 175 on h43 and 32 more are behind, timing, in operation 37"),
                    EndsWith("; 960 others wait in operation 38")));
}

TEST(StepPosition, IsTextEvenIfItsBytesAreNot) {
  StepPosition broken;
  broken.text.fill('\n');
  EXPECT_EQ(to_string(broken).find('\n'), std::string::npos);
}

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "harness/split.hpp"

#include <set>
#include <utility>

#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"

namespace busbar {
namespace {

std::vector<int> colors(const char* text, int ranks = 8) {
  const Split split = parse_split(text);
  std::vector<int> colors;
  for (int rank = 0; rank < ranks; ++rank) colors.push_back(split.color(rank));
  return colors;
}

TEST(Split, ColorsRanksByNcclTestsRulesWhichHaveSigns) {
  EXPECT_EQ(colors("AND 0x3"), (std::vector<int>{0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_EQ(colors("OR 0x3"), (std::vector<int>{3, 3, 3, 3, 7, 7, 7, 7}));
  EXPECT_EQ(colors("MOD 3"), (std::vector<int>{0, 1, 2, 0, 1, 2, 0, 1}));
  EXPECT_EQ(colors("DIV 3"), (std::vector<int>{0, 0, 0, 1, 1, 1, 2, 2}));
  EXPECT_EQ(colors("&6"), colors("AND 6"));
  EXPECT_EQ(colors("|6"), colors("OR 6"));
  EXPECT_EQ(colors("%6"), colors("MOD 6"));
  EXPECT_EQ(colors("/6"), colors("DIV 6"));
}

TEST(ParseSplit, ReadsDecimalHexadecimalAndBinaryNumbers) {
  EXPECT_EQ(parse_split("MOD 12").operand, 12U);
  EXPECT_EQ(parse_split("MOD 0x1F").operand, 31U);
  EXPECT_EQ(parse_split("MOD 0XfF").operand, 255U);
  EXPECT_EQ(parse_split("MOD 0b101").operand, 5U);
  EXPECT_EQ(parse_split("AND 0").operand, 0U);
}

TEST(ParseSplit, TakesRulesInAnyCaseWithOrWithoutABlank) {
  for (const char* text : {"DIV 4", "DIV4", "div 4", "Div  4", "DIV0b100", "/ 0x4"}) {
    EXPECT_EQ(parse_split(text).rule, Split::Rule::Div) << text;
    EXPECT_EQ(parse_split(text).operand, 4U) << text;
  }
}

TEST(ParseSplit, RefusesWhatIsNoRuleAndDivisionByZeroOnOneLine) {
  for (const char* text :
       {"", "8", "MOD", "MOD x", "MOD -1", "MOD 1.5", "XOR 3", "AND 0x", "OR 0b2", "MOD 8 9",
        "AND 0xffffffff", "* 3", "MOD 99999999999999999999", "MOD 0", "DIV 0", "%0x0", "/0b0"}) {
    const test::Failure failure = test::failure_of([&] { (void)parse_split(text); });
    EXPECT_EQ(failure.status, Status::Usage) << text;
    EXPECT_TRUE(failure.message.starts_with("NCCL_TESTS_SPLIT: ")) << failure.message;
    EXPECT_TRUE(failure.says(text)) << failure.message;
    EXPECT_TRUE(failure.is_one_line()) << failure.message;
  }
}

TEST(ParseSplitMask, IsAHexadecimalAnd) {
  for (const char* text : {"7", "0x7", "00000007"}) {
    EXPECT_EQ(parse_split_mask(text).rule, Split::Rule::And) << text;
    EXPECT_EQ(parse_split_mask(text).operand, 7U) << text;
  }
  EXPECT_EQ(parse_split_mask("10").color(31), 16);
}

TEST(ParseSplitMask, RefusesOtherTextByTheVariablesName) {
  for (const char* text : {"", "0x", "MOD 8", "7 ", "g"}) {
    const auto failure = test::failure_of([&] { (void)parse_split_mask(text); });
    EXPECT_EQ(failure.status, Status::Usage) << text;
    EXPECT_TRUE(failure.message.starts_with("NCCL_TESTS_SPLIT_MASK: ")) << failure.message;
  }
}

TEST(GroupsOf, AreNumberedByTheirLowestRanks) {
  EXPECT_EQ(groups_of(parse_split("OR 2"), 6), (std::vector<int>{0, 1, 0, 1, 2, 3}));
  EXPECT_EQ(groups_of(parse_split("MOD 2"), 5), (std::vector<int>{0, 1, 0, 1, 0}));
  EXPECT_EQ(groups_of(std::nullopt, 4), (std::vector<int>{0, 0, 0, 0}));
}

TEST(PairRounds, HoldEveryOrderedPairExactlyOnceAndARankInOnePairAtMost) {
  for (int ranks = 1; ranks <= 9; ++ranks) {
    std::multiset<std::pair<int, int>> pairs;
    for (const auto& round : pair_rounds(ranks)) {
      std::set<int> busy;
      for (const Pair& pair : round) {
        pairs.emplace(pair.sender, pair.receiver);
        EXPECT_TRUE(busy.insert(pair.sender).second) << pair.sender << " of " << ranks;
        EXPECT_TRUE(busy.insert(pair.receiver).second) << pair.receiver << " of " << ranks;
      }
    }
    for (int sender = 0; sender < ranks; ++sender) {
      for (int receiver = 0; receiver < ranks; ++receiver) {
        EXPECT_EQ(pairs.count({sender, receiver}), sender == receiver ? 0U : 1U)
            << sender << " to " << receiver << " of " << ranks;
      }
    }
    EXPECT_EQ(pairs.size(), static_cast<std::size_t>(ranks * (ranks - 1)));
  }
}

TEST(PairRounds, AreAsFewAsThereCanBe) {
  EXPECT_EQ(pair_rounds(2).size(), 2U);
  EXPECT_EQ(pair_rounds(8).size(), 14U);  // 56 pairs, 4 at a time
  EXPECT_EQ(pair_rounds(9).size(), 18U);  // 72 pairs, 4 at a time
}

}  // namespace
}  // namespace busbar

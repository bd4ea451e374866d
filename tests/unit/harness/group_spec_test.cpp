// SPDX-License-Identifier: BSD-3-Clause
#include "harness/group_spec.hpp"

#include <gtest/gtest.h>

#include "tests/unit/support/failure.hpp"

namespace busbar {
namespace {

TEST(ParseGroupSpec, ReadsEveryRuleAndHasItsSpellingBack) {
  for (const char* text : {"hosts", "pairs", "random-pairs:50", "rails", "halves", "levels:9",
                           "mod:8", "div:4", "and:7", "or:0", "rounds.csv", "0,0,0-3;0,1,4 6"}) {
    EXPECT_EQ(to_text(parse_group_spec("--groups", text)), text);
  }
  EXPECT_EQ(parse_group_spec("--groups", "and:0x1F").number, 31U);
  EXPECT_EQ(parse_group_spec("--groups", "mod:0b101").number, 5U);
}

class BadGroupSpec : public testing::TestWithParam<const char*> {};

TEST_P(BadGroupSpec, IsRefusedOnOneLine) {
  const auto failure = test::failure_of([] { (void)parse_group_spec("--groups", GetParam()); });
  EXPECT_EQ(failure.status, Status::Usage);
  EXPECT_TRUE(failure.says(std::string("invalid value '") + GetParam() + "' for --groups"));
  EXPECT_TRUE(failure.is_one_line());
}

INSTANTIATE_TEST_SUITE_P(Texts, BadGroupSpec,
                         testing::Values("", "host", "hosts:2", "pairs:", "random-pairs",
                                         "random-pairs:0", "random-pairs:x", "levels", "levels:-1",
                                         "mod", "mod:", "mod:0", "div:0", "mod:0xffffffff",
                                         "and:", "xor:3", "MOD 2", "rounds.txt"));

TEST(ParseSplit, ReadsDecimalHexadecimalAndBinaryNumbers) {
  EXPECT_EQ(parse_split("MOD 12").number, 12U);
  EXPECT_EQ(parse_split("MOD 0x1F").number, 31U);
  EXPECT_EQ(parse_split("MOD 0XfF").number, 255U);
  EXPECT_EQ(parse_split("MOD 0b101").number, 5U);
  EXPECT_EQ(parse_split("AND 0").number, 0U);
}

TEST(ParseSplit, TakesRulesInAnyCaseWithOrWithoutABlank) {
  for (const char* text : {"DIV 4", "DIV4", "div 4", "Div  4", "DIV0b100", "/ 0x4"}) {
    EXPECT_EQ(parse_split(text).rule, GroupRule::Div) << text;
    EXPECT_EQ(parse_split(text).number, 4U) << text;
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
    EXPECT_EQ(parse_split_mask(text).rule, GroupRule::And) << text;
    EXPECT_EQ(parse_split_mask(text).number, 7U) << text;
  }
  EXPECT_EQ(parse_split_mask("10").number, 16U);
}

TEST(ParseSplitMask, RefusesOtherTextByTheVariablesName) {
  for (const char* text : {"", "0x", "MOD 8", "7 ", "g"}) {
    const auto failure = test::failure_of([&] { (void)parse_split_mask(text); });
    EXPECT_EQ(failure.status, Status::Usage) << text;
    EXPECT_TRUE(failure.message.starts_with("NCCL_TESTS_SPLIT_MASK: ")) << failure.message;
  }
}

}  // namespace
}  // namespace busbar

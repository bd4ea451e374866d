// SPDX-License-Identifier: BSD-3-Clause
#include "report/text_table.hpp"

#include <gtest/gtest.h>

namespace busbar {
namespace {

const TextTable kTable{
    .columns = {"model", "ms", "note"},
    .rows = {{"alexnet", "3.8", ""}, {"a|b", "458.3", "outside"}, {"c", "", ""}}};

TEST(TextTable, PutsNumbersAtTheRightAndWordsAtTheLeft) {
  EXPECT_EQ(plain_table(kTable),
            "model       ms  note\n"
            "alexnet    3.8  -\n"
            "a|b      458.3  outside\n"
            "c            -  -\n");
}

TEST(TextTable, PutsSizesAndLimitsAtTheRightAndOtherUnitsAtTheLeft) {
  EXPECT_EQ(plain_table({.columns = {"size", "GB/s", "what"},
                         .rows = {{"8 B", "<=50", "1 GPU"}, {"256 KiB", "100", "16 GPUs"}}}),
            "   size  GB/s  what\n"
            "    8 B  <=50  1 GPU\n"
            "256 KiB   100  16 GPUs\n");
}

TEST(TextTable, CountsCharactersAndNotTheirBytes) {
  EXPECT_EQ(plain_table({.columns = {"limit", "of"}, .rows = {{"a\u2194b", "x"}, {"abcd", "y"}}}),
            "limit  of\n"
            "a\u2194b    x\n"
            "abcd   y\n");
}

TEST(TextTable, IsMarkdown) {
  EXPECT_EQ(markdown_table(kTable),
            "| model | ms | note |\n"
            "|---|---:|---|\n"
            "| alexnet | 3.8 | - |\n"
            "| a\\|b | 458.3 | outside |\n"
            "| c | - | - |\n");
}

}  // namespace
}  // namespace busbar

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

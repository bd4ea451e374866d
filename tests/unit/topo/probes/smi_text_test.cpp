// SPDX-License-Identifier: BSD-3-Clause
#include "topo/probes/smi_text.hpp"

namespace busbar::topo {
namespace {

TEST(CleanLines, DropsColoursPrefixesAndLineEndsAndKeepsThePlaces) {
  const auto lines = clean_lines("\x1b[4mGPU0\x1b[0m\r\n# > | b  c \r\n[4ma[0m\n\n");
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0].text, "GPU0");
  EXPECT_EQ(lines[0].words.at(0).column, 5U);
  EXPECT_EQ(lines[1].text, "b  c");
  EXPECT_EQ(lines[1].words.at(0).column, 7U);
  EXPECT_EQ(lines[1].words.at(1).column, 10U);
  EXPECT_EQ(lines[2].text, "a");
  EXPECT_TRUE(lines[3].empty());
}

TEST(CleanLines, LeavesBracketsThatAreNoColours) {
  EXPECT_EQ(clean_lines("[N/A] [0] [12m").at(0).text, "[N/A] [0]");
  EXPECT_EQ(clean_lines("[N/A] [0] [1").at(0).text, "[N/A] [0] [1");
}

TEST(CleanLines, DropsAByteOrderMark) {
  EXPECT_EQ(clean_lines("\xEF\xBB\xBFGPU0").at(0).text, "GPU0");
}

TEST(SmiOrigin, NamesThePlaceTheFaultAndTheCommand) {
  const SmiOrigin from{.name = "f.txt", .command = "nvidia-smi topo -m"};
  const Error error = from.fault({.line = 3, .column = 7}, "what {}", 1);
  EXPECT_EQ(
      error.what(),
      std::string("f.txt:3:7: what 1; save all of the output again: nvidia-smi topo -m > FILE"));
  EXPECT_EQ(error.status(), Status::Usage);
}

TEST(WholeNumber, TakesDigitsOnly) {
  EXPECT_EQ(whole_number("12"), 12);
  for (const char* text : {"", "-1", "+1", "1x", " 1", "12345678901"})
    EXPECT_EQ(whole_number(text), std::nullopt) << text;
}

TEST(InQuotes, MakesForeignBytesHarmlessAndBoundsTheLength) {
  EXPECT_EQ(in_quotes("a\x1b\xFF"), "'a?\?'");
  EXPECT_EQ(in_quotes(" ~\x7f"), "' ~?'");
  EXPECT_EQ(in_quotes(std::string(50, 'x')).size(), 45U);
}

}  // namespace
}  // namespace busbar::topo

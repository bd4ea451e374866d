// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.hpp"

namespace busbar {
namespace {

using Words = std::vector<std::string>;

TEST(Wrapped, BreaksALineAtBlanksAndIndentsTheRest) {
  EXPECT_EQ(wrapped("  name  one two three", 15, 8), "  name  one two\n        three");
  EXPECT_EQ(wrapped("short", 15, 8), "short");
  EXPECT_EQ(wrapped("  anunbreakableword", 8, 2), "  anunbreakableword");
  EXPECT_EQ(wrapped("ab cd ef gh", 5, 1), "ab cd\n ef\n gh");
}

TEST(Join, PutsTheSeparatorBetweenTextsOfAnyContainer) {
  EXPECT_EQ(join(Words{"a", "b", "c"}, ", "), "a, b, c");
  EXPECT_EQ(join(Words{"a"}, ", "), "a");
  EXPECT_EQ(join(Words{}, ", "), "");
  for (const char* text : {"", ",", ",,a", "a,", ",a,,b"}) {
    EXPECT_EQ(join(split(text, ','), ","), text) << "what split takes apart";
  }
  const std::set<std::string> letters{"b", "a"};
  EXPECT_EQ(join_all(letters, "+"), "a+b");
  EXPECT_EQ(join_each(std::vector{1, 2}, ", ", [](int n) { return std::to_string(n); }), "1, 2");
}

TEST(Split, GivesOnePartMoreThanThereAreSeparators) {
  EXPECT_EQ(split("1:12345", ':'), (Words{"1", "12345"}));
  EXPECT_EQ(split("a::b", ':'), (Words{"a", "", "b"}));
  EXPECT_EQ(split(":", ':'), (Words{"", ""}));
  EXPECT_EQ(split("", ':'), (Words{""}));
  EXPECT_EQ(split("abc", ':'), (Words{"abc"}));
  EXPECT_EQ(split_words("  a \t b\n"), (Words{"a", "b"})) << "without any blanks";
  EXPECT_EQ(split_words(" \r\n"), Words{});
}

TEST(Trim, RemovesBlanksAndLineEndsAtBothSides) {
  EXPECT_EQ(trim(" \t a b \r\n"), "a b");
  EXPECT_EQ(trim("ab"), "ab");
  EXPECT_EQ(trim(" \n"), "");
  EXPECT_EQ(trim(""), "");
}

TEST(NearestWord, FindsWhatAMistypedOrShortenedOptionMeantIfAnyIsNear) {
  const Words known{"--minbytes", "--maxbytes", "--cadence", "--bind", "--csv"};
  EXPECT_EQ(nearest_word("--minbyte", known), "--minbytes");
  EXPECT_EQ(nearest_word("--cadance", known), "--cadence");
  EXPECT_EQ(nearest_word("--cvs", known), "--csv");
  EXPECT_EQ(nearest_word("--Csv", known), "--csv");
  EXPECT_EQ(nearest_word("--min", known), "--minbytes");
  EXPECT_EQ(nearest_word("--m", Words{"--bind", "--cache", "--minbytes"}), "--minbytes");
  EXPECT_EQ(nearest_word("--maximbites", known), "--maxbytes") << "two deletions, a substitution";
  EXPECT_EQ(nearest_word("--verbose", Words{"--minbytes", "--cadence"}), "");
  EXPECT_EQ(nearest_word("-q", known), "");
  EXPECT_EQ(nearest_word("--csv", Words{}), "");
}

TEST(OneLine, HasBlanksForLineEndsAndNoControlCharacters) {
  EXPECT_EQ(one_line(std::string("Open MPI") + '\0'), "Open MPI");
  EXPECT_EQ(one_line(std::string_view("a\0b\tc\x1b[1md\x7f"
                                      "e",
                                      12)),
            "a b c [1md e");
  EXPECT_EQ(one_line("\u00b5s"), "\u00b5s");
  EXPECT_EQ(one_line("a\nb\n"), "a b");
  EXPECT_EQ(one_line("a\r\nb"), "a  b");
  EXPECT_EQ(one_line(" a "), "a");
}

TEST(Lower, ChangesLettersOnly) {
  EXPECT_EQ(lower("NVIDIA H200-1\xc3\x84"), "nvidia h200-1\xc3\x84");
}

TEST(Quoted, EscapesQuotesAndDropsControlCharacters) {
  EXPECT_EQ(quoted("a \"b\" \\ c\n\x7f"), "\"a \\\"b\\\" \\\\ c  \"");
}

TEST(ToNumber, TakesTheWholeTextOrNothing) {
  EXPECT_EQ(to_number<int>("-12"), -12);
  EXPECT_EQ(to_number<double>("2.5e3"), 2500.0);
  EXPECT_EQ(to_number<unsigned>("ff", 16), 255U);
  for (const char* text : {"", " 1", "1 ", "+1", "1x", "99999999999"}) {
    EXPECT_EQ(to_number<int>(text), std::nullopt) << text;
  }
}

TEST(ReadFile, GivesAllBytesOrNothingAndFirstLineOfNoLineEnd) {
  const test::TemporaryFolder folder;
  folder.write("two", "first\r\nsecond");
  folder.write("lines", "first\nsecond\n");
  EXPECT_EQ(first_line_of(folder.path("lines")), "first");
  folder.write("unfinished", "only");
  EXPECT_EQ(first_line_of(folder.path("unfinished")), "only");
  EXPECT_EQ(first_line_of(folder.path("none")), "");
  EXPECT_EQ(read_file(folder.path("two")), "first\r\nsecond");
  EXPECT_EQ(read_file(folder.path("none")), std::nullopt);
  for (const std::string& other : {folder.path(), std::string("/dev/zero")}) {
    EXPECT_EQ(read_file(other), std::nullopt) << other << " is no file";
  }
  EXPECT_EQ(read_file("/dev/null"), "");
}

TEST(FormatRanges, JoinsNeighbours) {
  EXPECT_EQ(format_ranges({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(format_ranges({5}), "5");
  EXPECT_EQ(format_ranges({0, 2, 4}), "0,2,4");
  EXPECT_EQ(format_ranges({0, 1}), "0-1");
  EXPECT_EQ(format_ranges({1, 2, 10, 11, 12, 20}), "1-2,10-12,20");
  EXPECT_EQ(format_ranges({}), "");
}

}  // namespace
}  // namespace busbar

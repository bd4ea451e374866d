// SPDX-License-Identifier: BSD-3-Clause
#include "base/text.hpp"

#include "base/embedded_text.hpp"
#include "base/enum_names.hpp"

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

TEST(Counted, AddsAnSExceptToOne) {
  EXPECT_EQ(counted(0, "rank"), "0 ranks");
  EXPECT_EQ(counted(1, "rank"), "1 rank");
  EXPECT_EQ(counted(16, "rank"), "16 ranks");
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

enum class Side { Both, In, Out };
constexpr auto enum_names(Side) {
  return std::array{Named{Side::Both, "both"}, Named{Side::In, "in"}, Named{Side::Out, "out"}};
}

TEST(EnumNames, LeadFromValueToTextAndBack) {
  EXPECT_EQ(name(Side::In), "in");
  EXPECT_EQ(find_value<Side>("out"), Side::Out);
  EXPECT_EQ(find_value<Side>("Out"), std::nullopt);
  EXPECT_EQ(all_values<Side>(), (std::array{Side::Both, Side::In, Side::Out}));
}

TEST(EmbeddedText, IsFoundByItsPathAndNothingOfAnUnknownOne) {
  EXPECT_TRUE(embedded_text("topo/systems/dgx-2.toml").find("dgx-2") != std::string_view::npos);
  EXPECT_TRUE(embedded_text("docs/options.md").starts_with("usage: "));
  EXPECT_TRUE(embedded_text("VERSION").ends_with('\n'));
  EXPECT_TRUE(embedded_text("docs/option.md").empty());
  EXPECT_TRUE(embedded_text("").empty());
}

TEST(EmbeddedText, ListsAFolderByPathAndNotThoseBelowOrBesideIt) {
  const std::vector<EmbeddedText> systems = embedded_texts("topo/systems");
  ASSERT_GE(systems.size(), 8U);
  EXPECT_EQ(systems.front().path, "topo/systems/a3-highgpu-8g.toml");
  EXPECT_TRUE(std::is_sorted(systems.begin(), systems.end(),
                             [](const auto& a, const auto& b) { return a.path < b.path; }));
  for (const EmbeddedText& system : systems) {
    EXPECT_TRUE(system.path.starts_with("topo/systems/")) << system.path;
    EXPECT_FALSE(system.text.empty()) << system.path;
  }
  EXPECT_TRUE(embedded_texts("topo").empty());
  EXPECT_TRUE(embedded_texts("topo/system").empty());
}

}  // namespace
}  // namespace busbar

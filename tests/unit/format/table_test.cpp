// SPDX-License-Identifier: BSD-3-Clause
#include "format/table.hpp"

#include "format/json.hpp"

namespace busbar {
namespace {

const Table kTable{.columns = {"model", "ms", "note"},
                   .rows = {{"alexnet", "3.8", ""}, {"a|b", "458.3", "outside"}, {"c", "", ""}}};

TEST(Table, AlignsNumbersRightAndTextLeft) {
  EXPECT_EQ(plain_table(kTable),
            "model       ms  note\n"
            "alexnet    3.8  -\n"
            "a|b      458.3  outside\n"
            "c            -  -\n");
}

TEST(Table, AlignsSizesAndBoundsRightAndOtherUnitsLeftAndCountsCharacters) {
  EXPECT_EQ(plain_table({.columns = {"size", "GB/s", "what"},
                         .rows = {{"8 B", "<=50", "1 GPU"}, {"256 KiB", "100", "16 GPUs"}}}),
            "   size  GB/s  what\n"
            "    8 B  <=50  1 GPU\n"
            "256 KiB   100  16 GPUs\n");
  EXPECT_EQ(plain_table({.columns = {"limit", "of"}, .rows = {{"a\u2194b", "x"}, {"abcd", "y"}}}),
            "limit  of\na\u2194b    x\nabcd   y\n");
}

TEST(Table, IsMarkdown) {
  EXPECT_EQ(markdown_table(kTable),
            "| model | ms | note |\n"
            "| --- | ---: | --- |\n"
            "| alexnet | 3.8 | \u2013 |\n"
            "| a\\|b | 458.3 | outside |\n"
            "| c | \u2013 | \u2013 |\n");
}

/// A row with a value of every kind, and one with none.
struct Sample {
  std::string name{};
  bool good = false;
  std::uint64_t size = 0;
  std::optional<double> rate{};
  std::vector<double> values{};
};

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
const std::array kRows{
    Sample{.name = "a,b", .good = true, .size = 4096, .rate = 2.5, .values = {1, kNan, 3}},
    Sample{}};

std::string one_digit(double value) { return fmt::format("{:.1f}", value); }

constexpr auto kColumns = std::to_array<Column<Sample>>({
    {"name", "", [](const Sample& row) { return row.name; }},
    {"good", "", [](const Sample& row) { return row.good; }},
    {"size_bytes", "", [](const Sample& row) { return row.size; }},
    {"", "size", [](const Sample& row) { return fmt::format("{} KiB", row.size / 1024); }},
    {"rate_GBps", "GB/s", [](const Sample& row) { return row.rate; }, one_digit},
    {"values", "", [](const Sample& row) { return row.values; }},
});

TEST(Columns, WithATitleMakeATable) {
  EXPECT_EQ(plain_table(make_table(kColumns, kRows)),
            " size  GB/s\n"
            "4 KiB   2.5\n"
            "0 KiB     -\n");
}

TEST(Columns, WithANameMakeACsv) {
  EXPECT_EQ(csv_text(kColumns, kRows),
            "name,good,size_bytes,rate_GBps,values\n"
            "\"a,b\",1,4096,2.5,1 - 3\n"
            ",0,0,,\n");
  EXPECT_EQ(csv_text(select_columns(kColumns, "rate_GBps"), kRows, one_digit),
            "rate_GBps\n2.5\n\n");
}

TEST(Columns, WithANameMakeJson) {
  EXPECT_EQ(
      json_rows(kColumns, kRows).dump(),
      R"([{"name":"a,b","good":true,"size_bytes":4096,"rate_GBps":2.5,"values":[1.0,null,3.0]},)"
      R"({"name":"","good":false,"size_bytes":0,"rate_GBps":null,"values":[]}])");
}

TEST(Columns, AreSelectedByNameInAnyOrderAndUnderAnotherName) {
  const auto columns = select_columns(kColumns, "size_bytes GBps=rate_GBps");
  EXPECT_EQ(csv_text(columns, kRows), "size_bytes,GBps\n4096,2.5\n0,\n");
  EXPECT_THROW(static_cast<void>(select_columns(kColumns, "other")), Error);
}

TEST(Cell, OfANumberThatIsNotFiniteHasNoValue) {
  EXPECT_EQ(to_cell(kNan), Cell());
  EXPECT_EQ(to_cell(-std::numeric_limits<double>::infinity()), Cell());
  EXPECT_EQ(to_cell(std::optional<int>(3)), Cell(std::int64_t{3}));
}

TEST(CsvLine, HasCellsInQuotesWhereTheyHaveACommaOrAQuote) {
  EXPECT_EQ(csv_line({"a b;c", "", "1, 2", "say \"no\"", "a\nb"}),
            "a b;c,,\"1, 2\",\"say \"\"no\"\"\",a b\n");
}

TEST(JsonText, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(json_text({{"a", "\xFF"}}), "{\n  \"a\": \"\uFFFD\"\n}\n");
  EXPECT_EQ(json_text({{"a", 1}}, -1), "{\"a\":1}");
}

}  // namespace
}  // namespace busbar

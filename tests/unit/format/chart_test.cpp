// SPDX-License-Identifier: BSD-3-Clause
#include "format/chart.hpp"

#include <regex>

#include "format/gnuplot.hpp"
#include "format/markup_text.hpp"

namespace busbar {
namespace {

using Curves = std::vector<ChartRange>;

TEST(RateAxis, IsLogarithmicWherePeaksDifferByMoreThanThirtyTimes) {
  const auto low_of = [](const Curves& curves, std::optional<bool> wanted = {}) {
    Chart chart{.panels = {{}}};
    for (const auto& [low, high] : curves)
      chart.curves.push_back({.points = {{1, low}, {2, high}}});
    set_rate_axis(chart, wanted);
    return chart.panels[0].y.low * 1.2;
  };
  EXPECT_EQ(low_of({{1, 10}, {1, 290}}), 0);
  EXPECT_EQ(low_of({{1, 10}, {1, 310}}, false), 0);
  EXPECT_EQ(low_of({}, true), 0);
  // It begins at the lowest rate, or at a three hundredth of the lowest peak.
  EXPECT_DOUBLE_EQ(low_of({{1, 10}}, true), 1);
  EXPECT_DOUBLE_EQ(low_of({{1, 10}, {2, 310}}), 1);
  EXPECT_DOUBLE_EQ(low_of({{0.0001, 3}, {2, 400}}), 0.01);
}

TEST(ChartAxis, HasAValuesHeightByItsLogarithmWhereItIsLogarithmic) {
  EXPECT_DOUBLE_EQ((ChartAxis{.low = 1, .high = 1001}).height(251), 0.25);
  EXPECT_DOUBLE_EQ((ChartAxis{.kind = AxisKind::Log, .low = 1, .high = 10000}).height(10), 0.25);
}

TEST(RateAxis, EndsFivePercentAboveTheHighestRateAndAboveOneWhereThatIsZero) {
  Chart chart{.panels = {{}}, .curves = {{.points = {{.x = 1, .y = 0}}}}};
  for (const auto& [highest, end] : {std::pair{0, 1.05}, {20, 21}}) {
    chart.curves[0].points[0].y = highest;
    set_rate_axis(chart, {});
    EXPECT_DOUBLE_EQ(chart.panels[0].y.high, end);
  }
}

TEST(SizeTicks, AreNamedAWholePowerOfTwoApart) {
  const std::vector<ChartTick> ticks = size_ticks({.low = 1024 / 1.25, .high = 65536 * 1.25}, 4);
  ASSERT_EQ(ticks.size(), 7U);
  EXPECT_EQ(ticks.front().name, "1 KiB");
  EXPECT_TRUE(ticks[1].minor);
  EXPECT_EQ(ticks[2].name, "4 KiB");
  EXPECT_DOUBLE_EQ(ticks.back().at, 65536);
}

TEST(LogTicks, NameDecadesAlsoTwoAndFiveOfFew) {
  const auto names_of = [](double low, double high) {
    std::string names;
    for (const ChartTick& tick : log_ticks({.low = low, .high = high})) {
      if (!tick.minor) names += tick.name + ' ';
    }
    return names;
  };
  EXPECT_EQ(names_of(0.1, 10), "0.1 0.2 0.5 1 2 5 10 ");
  EXPECT_EQ(names_of(0.1, 1000), "0.1 1 10 100 1000 ");
}

TEST(NameTicks, LeaveOutEmptyNamesAndShortenLongOnes) {
  const std::vector<ChartTick> ticks = name_ticks({.names = {"", std::string(50, 'x'), "b"}});
  ASSERT_EQ(ticks.size(), 2U);
  EXPECT_EQ(ticks[0].name, std::string(36, 'x') + "…");
  EXPECT_DOUBLE_EQ(ticks[1].at, 2);
}

using Names = std::vector<std::string>;
using Look = std::pair<int, int>;

Look look_of(const CurveStyle& style) { return {style.colour, style.point}; }

TEST(Palette, KeepThePapersLooksUnderAnyOfTheirNames) {
  const std::vector<std::pair<Names, Look>> owners{
      {{"DGX-2"}, {0x009E73, 13}},
      {{"IBM-P9", "8335-gth"}, {0x0072B2, 5}},
      {{"AWS P3", "p3dn.24xlarge"}, {0xE69F00, 9}},
      {{"RTX"}, {0xD55E00, 7}},
      {{"dgx-a100", "rtx-3090-pair", "p100-sxm2-x4", "vm", ""}, {0x56B4E9, 11}}};
  for (const auto& [names, look] : owners) {
    for (const std::string& name : names) {
      EXPECT_EQ(look_of(Palette(Names{name, "zzz"}).of(name)), look) << name;
    }
  }
}

TEST(Palette, GivesNoTwoSystemsOneColourUpToEightAndNoTwoOneLookWhateverTheirOrder) {
  for (Names systems :
       {Names{"DGX-1V", "HGX H100 (8)", "ABCI", "GCP", "H200", "p4de", "p5", "8x RTX 2080 Ti"},
        Names{"ac922", "ac922-x4", "dgx-2", "a", "b", "c", "d", "e"}}) {
    const Palette styles(systems);
    EXPECT_THAT(set_of(systems, [&](const auto& system) { return styles.of(system).colour; }),
                SizeIs(8));
    std::swap(systems.front(), systems.back());
    for (const std::string& system : systems) {
      EXPECT_EQ(Palette(systems).of(system), styles.of(system)) << system;
    }
    for (int i = 0; i < 17; ++i) systems.push_back("system" + std::to_string(i));
    EXPECT_THAT(
        set_of(systems, [&](const auto& system) { return look_of(Palette(systems).of(system)); }),
        SizeIs(25));
  }
}

TEST(Palette, GiveTheLinesOfALoneSystemColours) {
  const Names one{"dgx-2"};
  const Palette styles(one);
  EXPECT_EQ(styles.of("dgx-2").colour, 0x009E73);
  EXPECT_THAT(set_of(first_numbers<std::size_t>(8),
                     [&](std::size_t line) { return styles.of("dgx-2", line).colour; }),
              SizeIs(8));
  EXPECT_NE(styles.of("dgx-2", 8), styles.of("dgx-2", 0));
}

TEST(Palette, DistinguishesLinesOfASystemByPointAndDash) {
  const Palette styles(Names{"dgx-2", "other"});
  EXPECT_EQ(styles.of("dgx-2", 0, true), (CurveStyle{0x009E73, 13, 2})) << "simulated";
  for (const std::size_t line : {1U, 2U, 3U, 4U}) {
    const CurveStyle style = styles.of("dgx-2", line);
    EXPECT_EQ(style.colour, 0x009E73);
    EXPECT_NE(style.point, styles.of("dgx-2", line - 1).point);
    EXPECT_NE(style.dash, styles.of("dgx-2", line - 1).dash);
  }
}

Chart chart_of(const std::string& title) {
  return {.name = "x",
          .title = title,
          .panels = {{.x = {.high = 4}, .y = {.high = 4}}},
          .curves = {{.title = title, .points = {{.x = 1, .y = 2}, {.x = 2, .y = 3}}}},
          .width = 400,
          .height = 200};
}

Document page_of(std::vector<Chart> charts) {
  Document document{.sections = {{.id = "one", .heading = "one"}}};
  for (Chart& chart : charts) {
    document.sections[0].blocks.emplace_back(Figure{.chart = std::move(chart)});
  }
  return document;
}

std::string svg_of(const Document& document, std::size_t block) {
  return std::get<Figure>(document.sections.at(0).blocks.at(block)).svg;
}

std::vector<std::string> found(const std::string& text, const char* expression) {
  const std::regex pattern(expression);
  const std::sregex_token_iterator all(text.begin(), text.end(), pattern, 1);
  return {all, std::sregex_token_iterator()};
}

TEST(DrawCharts, ShowsHostileNamesAsTheyAre) {
  const std::string file = testing::TempDir() + "busbar-pwned";
  const std::string name = "it's `touch " + file + R"(` "$HOME" @x %d {/Symbol a} <script> & \n \)";
  Chart chart = chart_of(name);
  chart.panels[0].title = name;
  chart.panels[0].x.title = name;
  chart.panels[0].y = {.title = name, .kind = AxisKind::Names, .low = -0.5, .high = 4};
  chart.panels[0].y.names = {name.substr(0, 30)};
  chart.marks = {{.x = 1, .text = name}};
  chart.texts = {{.y = 1, .text = name}};
  Document document = page_of({chart});
  draw_charts(document);
  const std::string svg = svg_of(document, 0);
  EXPECT_THAT(svg, AllOf(HasSubstr("`touch "), HasSubstr("\"$HOME\" @x %d {/Symbol a} &lt;script>"),
                         HasSubstr("&amp; \\n \\<")));
  EXPECT_THAT(svg, Not(HasSubstr("<script")));
  EXPECT_THAT(svg, HasSubstr("aria-label=\"" + markup_text(name) + '"'));
  EXPECT_NE(remove(file.c_str()), 0) << "a name was a command";
}

TEST(DrawCharts, GivesEveryElementOfAPageAnIdOfItsOwn) {
  Document document = page_of({chart_of("a"), chart_of("b")});
  draw_charts(document);
  const std::string page = svg_of(document, 0) + svg_of(document, 1);
  std::set<std::string> ids;
  for (const std::string& id : found(page, R"(\sid=['"]([^'"]*)['"])")) {
    EXPECT_TRUE(ids.insert(id).second) << id;
  }
  for (const std::string& id : found(page, R"(href=['"]#([^'"]*)['"])")) {
    EXPECT_TRUE(ids.contains(id)) << id;
  }
  EXPECT_THAT(page, AllOf(HasSubstr("viewBox=\"0 0 400 "), HasSubstr("<title>b</title>"),
                          Not(HasSubstr("http")), Not(HasSubstr("xlink")),
                          Not(HasSubstr("gnuplot_plot_1</title>"))));
}

TEST(DrawCharts, LeavesOutAChartThatFailsAndWarns) {
  Chart broken = chart_of("broken");
  broken.panels[0] = {};
  for (ChartPoint& point : broken.curves[0].points) point.y = std::nan("");
  Document document = page_of({chart_of("a"), broken, chart_of("c")});
  draw_charts(document);
  const auto& warning = std::get<Paragraph>(document.sections[0].blocks[0]);
  EXPECT_TRUE(warning.warning);
  EXPECT_THAT(warning.text, HasSubstr("1 of 3 charts"));
  EXPECT_THAT(svg_of(document, 1), HasSubstr(">a</title>"));
  EXPECT_EQ(svg_of(document, 2), "");
  EXPECT_THAT(svg_of(document, 3), HasSubstr(">c</title>"));
}

TEST(ChartScript, IsWholeAndSeparatesPointsByAnEmptyLineAtAGap) {
  Chart chart = chart_of("a");
  chart.curves[0].points[1].gap_before = true;
  const std::string script = chart_script(chart);
  EXPECT_THAT(script, HasSubstr("$curve1 << EOD\n1 2 nan nan\n\n2 3 nan nan\nEOD\n"));
  EXPECT_THAT(script, HasSubstr("gnuplot x.gp"));
  EXPECT_EQ(script, chart_script(chart));
}

TEST(DrawText, DrawsCharacters) {
  EXPECT_THAT(draw_text(chart_of("some words"), {.columns = 70, .lines = 20}),
              HasSubstr("some words"));
  // Two quotes at the beginning are an empty text to gnuplot.
  EXPECT_THAT(draw_text(chart_of("'x'=k"), {.columns = 70, .lines = 20}), HasSubstr("'x'=k"));
}

}  // namespace
}  // namespace busbar

// SPDX-License-Identifier: BSD-3-Clause
#include "report/gnuplot.hpp"

#include <cmath>
#include <regex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/markup_text.hpp"

namespace busbar {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

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
  std::vector<std::string> all;
  for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it) {
    all.push_back((*it)[1]);
  }
  return all;
}

TEST(DrawCharts, ShowsHostileNamesAsTheyAre) {
  const std::string file = testing::TempDir() + "busbar-pwned";
  const std::string name =
      "it's `touch " + file + "` \"$HOME\" @x %d {/Symbol a} <script> & \\n \\";
  Chart chart = chart_of(name);
  chart.panels[0].title = name;
  chart.panels[0].x.title = name;
  chart.panels[0].y = {.title = name, .kind = AxisKind::Names, .low = -0.5, .high = 4};
  chart.panels[0].y.names = {name.substr(0, 30)};
  chart.marks = {{.x = 1, .text = name}};
  chart.texts = {{.x = 1, .y = 1, .text = name}};
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

TEST(DrawCharts, LeavesOutAChartThatFailsAndSaysSo) {
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
}

}  // namespace
}  // namespace busbar

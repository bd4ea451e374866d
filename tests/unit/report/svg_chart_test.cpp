// SPDX-License-Identifier: BSD-3-Clause
#include "report/svg_chart.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/svg_graph.hpp"
#include "topo/systems/system_file.hpp"

namespace busbar {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) ++found;
  return found;
}

Chart chart_of(std::vector<ChartPoint> points) {
  return {
      .title = "t",
      .unit = "GB/s",
      .ticks = {{0, "1 MiB"}, {1, "2 MiB"}, {2, "4 MiB"}},
      .series = {{.label = "a<b", .style = {.colour = "#123456"}, .points = std::move(points)}}};
}

TEST(SvgChart, LiftsThePenAtAGapOnly) {
  const std::string whole = svg_chart(chart_of({{0, 1}, {2, 3}}));
  EXPECT_EQ(count(whole, "fill=\"none\" stroke=\"#123456\""), 1U);
  EXPECT_THAT(whole, testing::ContainsRegex("d=\"M[0-9. ]+L[0-9. ]+\""));
  const std::string gap = svg_chart(chart_of({{0, 1}, {1, std::nullopt}, {2, 3}}));
  EXPECT_THAT(gap, testing::ContainsRegex("d=\"M[0-9. ]+M[0-9. ]+\""));
}

TEST(SvgChart, TellsValuesOnTouchAndEscapesLabels) {
  const std::string svg = svg_chart(chart_of({{1, 12.5}}));
  EXPECT_THAT(svg, HasSubstr("<title>a&lt;b, 2 MiB: 12.5 GB/s</title>"));
  EXPECT_THAT(svg, Not(HasSubstr("a<b")));
}

TEST(SvgChart, SaysSimulatedAndDrawsTheBound) {
  Chart chart = chart_of({{0, 1}});
  chart.series[0].simulated = true;
  chart.series[0].bound = 150;
  const std::string svg = svg_chart(chart);
  EXPECT_THAT(svg, HasSubstr("a&lt;b (simulated)</text>"));
  EXPECT_THAT(svg, HasSubstr("stroke-dasharray=\"2 4\""));
  EXPECT_THAT(svg, HasSubstr("bound 150 GB/s"));
}

TEST(SvgChart, HasALogarithmicAxisThatDrawsNothingBelowIt) {
  Chart chart = chart_of({{0, 0.001}, {1, 1}, {2, 100}});
  chart.log_low = 0.1;
  const std::string svg = svg_chart(chart);
  for (const char* tick : {">0.1</text>", ">1</text>", ">10</text>", ">100</text>"}) {
    EXPECT_THAT(svg, HasSubstr(tick));
  }
  EXPECT_THAT(svg, Not(HasSubstr("1 MiB: 0.001")));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
}

TEST(SvgChart, DrawsAHollowPointAndDashesWhereTheyAreWanted) {
  Chart chart = chart_of({{0, 1}, {1, 2}});
  const std::string plain = svg_chart(chart);
  chart.series[0].points[1].hollow = true;
  chart.series[0].style.dash = 1;
  const std::string svg = svg_chart(chart);
  EXPECT_EQ(count(svg, "fill=\"#fff\""), count(plain, "fill=\"#fff\"") + 1);
  EXPECT_EQ(count(svg, "stroke-dasharray=\"9 4\""), 2U);
}

TEST(Axis, EndsAtARoundFigureAboveTheValue) {
  EXPECT_DOUBLE_EQ(axis_for(150).top, 150);
  EXPECT_DOUBLE_EQ(axis_for(151).top, 200);
  EXPECT_DOUBLE_EQ(axis_for(7.9).top, 8);
  EXPECT_DOUBLE_EQ(axis_for(0).top, 1);
}

TEST(SvgGraph, DrawsEveryPartAndLinkOnce) {
  const topo::Graph graph = topo::load_system("dgx-1v");
  const std::string svg = svg_graph(graph, topo::ConstantSet::Nominal);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(count(svg, ">GPU" + std::to_string(i) + "</text>"), 1U);
  EXPECT_EQ(count(svg, "<title>NVLink 2 between GPU"), 8U);
  EXPECT_EQ(count(svg, "<title>2x NVLink 2 between GPU"), 8U);
  EXPECT_EQ(count(svg, "QPI between"), 1U);
}

TEST(SvgGraph, DrawsTheFirstHostsOfALargeMachine) {
  EXPECT_THAT(svg_graph_caption(topo::load_system("gb200-nvl72")), HasSubstr("Drawn: "));
  EXPECT_THAT(svg_graph_caption(topo::load_system("p3dn-x2")), Not(HasSubstr("Drawn: ")));
  for (const topo::SystemSummary& system : topo::built_in_systems()) {
    EXPECT_THAT(svg_graph(topo::load_system(system.name), topo::ConstantSet::Nominal),
                Not(HasSubstr("nan")))
        << system.name;
  }
}

}  // namespace
}  // namespace busbar

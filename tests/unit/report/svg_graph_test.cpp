// SPDX-License-Identifier: BSD-3-Clause
#include "report/svg_graph.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

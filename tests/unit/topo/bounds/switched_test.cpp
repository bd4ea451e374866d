// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/switched.hpp"

#include <gtest/gtest.h>

#include "tests/unit/topo/bounds/small_graphs.hpp"

namespace busbar::topo {
namespace {

/// GPUs on several switches: digits of a row are the links to each switch.
Graph switches_graph(const std::vector<std::string>& rows) {
  Graph graph{.name = "switches"};
  const int medium = add_medium(graph, {.name = "NVLink 4", .nominal_GBps = 25});
  std::vector<int> hubs;
  for (std::size_t k = 0; k < rows.front().size(); ++k) {
    hubs.push_back(add_node(graph, {.kind = NodeKind::NvSwitch, .name = fmt::format("SW{}", k)}));
  }
  for (std::size_t k = 0; k < rows.size(); ++k) {
    graph.devices.push_back(add_node(graph, {.name = fmt::format("GPU{}", k)}));
    for (std::size_t s = 0; s < hubs.size(); ++s) {
      const int count = rows[k][s] - '0';
      if (count > 0) add_cable(graph, graph.devices.back(), hubs[s], medium, count);
    }
  }
  return graph;
}

TEST(SwitchedDomain, IsAsWideAsItsNarrowestPort) {
  Graph graph = star_graph(8, 18, 25);
  graph.links[4].count = 12;  // GPU2 lost links on its way out
  const auto domain = switched_domain(graph, prefix(8), {});
  ASSERT_TRUE(domain.has_value());
  EXPECT_DOUBLE_EQ(domain->port_GBps, 300);
  EXPECT_EQ(domain->narrowest, (std::vector<int>{4, 5}));
  EXPECT_DOUBLE_EQ(switched_domain(graph, std::vector<int>{0, 1, 3}, {})->port_GBps, 450);
}

TEST(SwitchedDomain, AddsTheSwitchesThatAllShare) {
  const auto domain = switched_domain(switches_graph({"5544", "5544", "5544"}), prefix(3), {});
  ASSERT_TRUE(domain.has_value());
  EXPECT_DOUBLE_EQ(domain->port_GBps, 450);
  const Graph uneven = switches_graph({"54", "45", "54"});
  EXPECT_FALSE(switched_domain(uneven, prefix(3), {}).has_value());
  EXPECT_NEAR(bound_of(uneven, prefix(3)).ring_GBps, 200, 1e-9) << "4 links of each switch";
}

TEST(SwitchedDomain, IsNoMeshAndNoPcieTree) {
  EXPECT_FALSE(switched_domain(dgx1(dgx1v_rows(), 25), prefix(4), {}).has_value());
  EXPECT_FALSE(switched_domain(pcie_graph({}), prefix(4), {}).has_value());
  Graph lost = star_graph(4, 18, 25);
  std::erase_if(lost.links, [&](const Link& link) {
    return link.from == lost.devices[3] || link.to == lost.devices[3];
  });
  EXPECT_FALSE(switched_domain(lost, prefix(4), {}).has_value()) << "off the fabric";
  EXPECT_TRUE(switched_domain(lost, prefix(3), {}).has_value());
}

TEST(SwitchedDomain, ReducesWhereTheSwitchCan) {
  const auto in_switch = [](const Graph& graph, int n, ConstantSet constants) {
    return switched_domain(graph, prefix(n), {.constants = constants})->in_switch_GBps;
  };
  const Graph hopper = star_graph(8, 18, 25, true, 20.6);
  EXPECT_DOUBLE_EQ(in_switch(hopper, 8, ConstantSet::Nominal).value_or(0), 700);
  EXPECT_DOUBLE_EQ(in_switch(hopper, 2, ConstantSet::Nominal).value_or(0), 300);
  EXPECT_DOUBLE_EQ(in_switch(hopper, 3, ConstantSet::Nominal).value_or(0), 450);
  EXPECT_DOUBLE_EQ(in_switch(hopper, 8, ConstantSet::Nccl).value_or(0), 476);
  EXPECT_FALSE(in_switch(star_graph(8, 12, 25), 8, ConstantSet::Nominal).has_value());
  EXPECT_FALSE(in_switch(star_graph(72, 18, 50, true, 40.1), 72, ConstantSet::Nccl).has_value())
      << "NCCL lists no speed so low";
}

}  // namespace
}  // namespace busbar::topo

// SPDX-License-Identifier: BSD-3-Clause
#include "topo/graph/ways.hpp"

#include <gtest/gtest.h>

namespace busbar::topo {
namespace {

/// From a GPU to another through one node of this kind.
std::size_t links_through(NodeKind kind) {
  Graph graph;
  const int medium = add_medium(graph, {.name = "PCIe", .kind = LinkKind::Pcie, .nominal_GBps = 1});
  const int one = add_node(graph, {.kind = NodeKind::Gpu, .name = "GPU0"});
  const int between = add_node(graph, {.kind = kind, .name = "between"});
  const int other = add_node(graph, {.kind = NodeKind::Gpu, .name = "GPU1"});
  add_cable(graph, one, between, medium);
  add_cable(graph, between, other, medium);
  return shortest_way(graph, one, other).size();
}

TEST(ShortestWay, LeadsThroughBridgesAndPackagesOnly) {
  for (const NodeKind kind :
       {NodeKind::PcieSwitch, NodeKind::HostBridge, NodeKind::Numa, NodeKind::Package}) {
    EXPECT_EQ(links_through(kind), 2U) << static_cast<int>(kind);
  }
  for (const NodeKind kind :
       {NodeKind::Gpu, NodeKind::Nic, NodeKind::Network, NodeKind::NvSwitch, NodeKind::Processor}) {
    EXPECT_EQ(links_through(kind), 0U) << static_cast<int>(kind);
  }
}

}  // namespace
}  // namespace busbar::topo

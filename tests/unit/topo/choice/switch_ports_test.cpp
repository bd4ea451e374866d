// SPDX-License-Identifier: BSD-3-Clause
#include "topo/choice/switch_ports.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/unit/topo/choice/machines.hpp"

namespace busbar::topo {
namespace {

/// Eight GPUs of which the last has lost links; two NUMA nodes, a card on the second.
Graph hurt_star() {
  Graph graph = star_graph(8, 12, 25);
  for (Link& link : graph.links) {
    if (link.from == graph.devices[7] || link.to == graph.devices[7]) link.count = 10;
  }
  set_two_numa_nodes(graph);
  return graph;
}

TEST(SwitchPorts, AreTheDevicesOwn) {
  const auto ports = switch_ports(hurt_star(), prefix(8), {});
  ASSERT_TRUE(ports);
  EXPECT_EQ(*ports, (std::vector<double>{300, 300, 300, 300, 300, 300, 300, 250}));
}

TEST(SwitchPorts, AreNoneInAMesh) {
  EXPECT_FALSE(switch_ports(nvlink_graph(dgx1v_rows(), 25), prefix(8), {}));
  EXPECT_FALSE(switch_ports(pcie_graph({}), prefix(8), {}));
}

TEST(SwitchPorts, AreNoneWhereTwoSwitchesAreJoinedUnevenly) {
  Graph graph = star_graph(3, 6, 25);
  const int medium = graph.links.front().medium;
  const int hub = add_node(graph, {.kind = NodeKind::NvSwitch, .name = "NVSwitch 2"});
  // 8+4, 6+6 and 4+2 links: the last is narrowest everywhere, the first two are not comparable.
  for (Link& link : graph.links) {
    if (link.from == graph.devices[0] || link.to == graph.devices[0]) link.count = 8;
    if (link.from == graph.devices[2] || link.to == graph.devices[2]) link.count = 4;
  }
  add_cable(graph, graph.devices[0], hub, medium, 4);
  add_cable(graph, graph.devices[1], hub, medium, 6);
  add_cable(graph, graph.devices[2], hub, medium, 2);
  EXPECT_FALSE(switch_ports(graph, prefix(3), {}));
  EXPECT_TRUE(switch_ports(graph, std::vector{0, 2}, {}));
}

TEST(PortClasses, AreCountedWithoutTrying) {
  const std::vector<double> ports{300, 300, 300, 300, 300, 300, 300, 250};
  const auto classes = port_classes(ports, 4);
  ASSERT_EQ(classes.size(), 2U);
  EXPECT_EQ(classes[0].port_GBps, 300);
  EXPECT_EQ(classes[0].count, 35U);
  EXPECT_EQ(classes[1].port_GBps, 250);
  EXPECT_EQ(classes[1].count, 35U);
  EXPECT_EQ(port_classes(ports, 8).size(), 1U);
}

/// What pick_by_ports must find, by trying all sets.
DeviceSet brute(const std::vector<double>& ports, const TieBreaker& ties,
                const PortRequest& request) {
  DeviceSet best;
  for (const DeviceSet& set : all_sets(prefix(static_cast<int>(ports.size())), request.k)) {
    double least = ports[static_cast<std::size_t>(set.front())];
    for (const int i : set) least = std::min(least, ports[static_cast<std::size_t>(i)]);
    if (least != request.level_GBps) continue;
    if (best.empty()) best = set;
    const bool before =
        request.spread ? ties.of(set) > ties.of(best) : ties.of(set) < ties.of(best);
    if (before) best = set;
  }
  return best;
}

TEST(PickByPorts, AgreesWithTryingAllSets) {
  Graph graph = star_graph(9, 12, 25);
  for (int i = 0; i < 9; ++i) gpu(graph, i).numa = (i * 2) % 3;
  const int pcie =
      add_medium(graph, {.name = "PCIe", .kind = LinkKind::Pcie, .nominal_GBps = 15.75});
  const int nic = add_node(graph, {.kind = NodeKind::Nic, .name = "NIC"});
  for (const int near : {2, 5, 6, 7}) {
    add_cable(graph, nic, graph.devices[static_cast<std::size_t>(near)], pcie);
  }
  const TieBreaker ties(graph);
  const std::vector<double> ports{300, 250, 300, 300, 200, 300, 250, 300, 300};
  for (std::size_t k = 2; k <= 9; ++k) {
    for (const PortClass& one : port_classes(ports, k)) {
      for (const bool spread : {false, true}) {
        const PortRequest request{.k = k, .level_GBps = one.port_GBps, .spread = spread};
        EXPECT_EQ(pick_by_ports(prefix(9), ports, ties, request), brute(ports, ties, request))
            << k << " at " << one.port_GBps << (spread ? " spread" : "");
      }
    }
  }
}

}  // namespace
}  // namespace busbar::topo

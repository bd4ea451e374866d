// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/host_limits.hpp"

#include "tests/unit/topo/bounds/small_graphs.hpp"
#include "tests/unit/topo/tree_machine.hpp"
#include "topo/bounds/paths.hpp"

namespace busbar::topo {
namespace {

double network_GBps(const Graph& graph, const std::vector<int>& devices) {
  return network_cut(graph, devices, {}).GBps;
}

TEST(HostNetwork, AgreesWithAllPartsOfTheNodes) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const TreeMachine machine({.gpus = 3}, seed);
    const Graph& graph = machine.graph();
    const std::vector<std::vector<int>> sets{{0}, {2}, {0, 1}, {0, 1, 2}};
    for (const std::vector<int>& set : sets) {
      const std::vector<int> links = network_links(graph, set, {});
      // Our devices on one side and the network on the other, seen from either.
      const int fabric = find_node(graph, "fabric");
      const double least = least_cut(graph, links, [&](const auto& has) {
        const bool first = has(graph.devices[to_size(set.front())]);
        return has(fabric) != first && std::all_of(set.begin(), set.end(), [&](int device) {
                 return has(graph.devices[to_size(device)]) == first;
               });
      });
      EXPECT_NEAR(network_GBps(graph, set), least, 1e-7) << set.size();
    }
  }
}

TEST(HostNetwork, PassesNoProcessorThatRanksOfTheirOwnRunOn) {
  Graph graph{.name = "two sockets"};
  for (const char* name : {"CPU0", "CPU1"}) {
    graph.devices.push_back(add_node(graph, {.kind = NodeKind::Processor, .name = name}));
  }
  const int nic = add_node(graph, {.kind = NodeKind::Nic, .name = "NIC0"});
  const int fabric = add_node(graph, {.kind = NodeKind::Network, .name = "fabric", .host = -1});
  const auto join = [&](int one, int other, const char* name, LinkKind kind, double GBps) {
    add_cable(graph, one, other,
              add_medium(graph, {.name = name, .kind = kind, .nominal_GBps = GBps}));
  };
  join(graph.devices[0], graph.devices[1], "UPI", LinkKind::Smp, 20);
  join(graph.devices[1], nic, "PCIe", LinkKind::Pcie, 16);
  join(nic, fabric, "Ethernet", LinkKind::Network, 12.5);
  EXPECT_EQ(network_GBps(graph, {0}), 0);
  EXPECT_NEAR(network_GBps(graph, {1}), 12.5, 1e-9);
  EXPECT_NEAR(network_GBps(graph, {0, 1}), 12.5, 1e-9);
}

TEST(HostNetwork, StaysWithinItsHost) {
  // Each host of power_graph has two cards of 12 and an X-Bus of 32 between its sockets.
  const Graph graph = power_graph(2, 2, 3);
  EXPECT_NEAR(network_GBps(graph, {4, 6}), 24, 1e-9);
  EXPECT_NEAR(network_GBps(graph, {4, 5}), 12, 1e-9) << "the card of their socket, as their rings";
  Graph joined = graph;
  add_cable(joined, find_node(joined, "host0/NIC0"), find_node(joined, "host1/NIC0"), 3);
  EXPECT_NEAR(network_GBps(joined, {4, 6}), 24, 1e-9) << "not by the card of another host";
}

}  // namespace
}  // namespace busbar::topo

// SPDX-License-Identifier: BSD-3-Clause
#include "topo/predict/host_network.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "tests/unit/topo/bounds/small_graphs.hpp"
#include "tests/unit/topo/tree_machine.hpp"

namespace busbar::topo {
namespace {

double network_GBps(const Graph& host, const std::vector<int>& devices,
                    const BoundOptions& options = {}) {
  return host_network_GBps(Cluster({.host = host}), {.devices = devices}, options);
}

TEST(HostNetwork, AgreesWithAllPartsOfTheNodes) {
  for (unsigned seed = 0; seed < 12; ++seed) {
    SCOPED_TRACE(seed);
    const TreeMachine machine({.gpus = 3}, seed);
    const Graph& graph = machine.graph();
    const std::vector<std::vector<int>> sets{{0}, {2}, {0, 1}, {0, 1, 2}};
    for (const std::vector<int>& set : sets) {
      const auto is_ours = [&](int node) {
        return std::any_of(set.begin(), set.end(), [&](int device) {
          return graph.devices[static_cast<std::size_t>(device)] == node;
        });
      };
      std::vector<int> links;  // less those of the other GPUs
      for (std::size_t k = 0; k < graph.links.size(); ++k) {
        const auto stranger = [&](int node) {
          return graph.nodes[static_cast<std::size_t>(node)].kind == NodeKind::Gpu &&
                 !is_ours(node);
        };
        if (stranger(graph.links[k].from) || stranger(graph.links[k].to)) continue;
        links.push_back(static_cast<int>(k));
      }
      // Our devices on one side and the network on the other, seen from either.
      const int fabric = find_node(graph, "fabric");
      const double least = least_cut(graph, links, [&](const auto& has) {
        const bool first = has(graph.devices[static_cast<std::size_t>(set.front())]);
        return has(fabric) != first && std::all_of(set.begin(), set.end(), [&](int device) {
                 return has(graph.devices[static_cast<std::size_t>(device)]) == first;
               });
      });
      EXPECT_NEAR(network_GBps(graph, set), least, 1e-7) << set.size();
    }
  }
}

TEST(HostNetwork, CountsTheFlowsOfEachCard) {
  Graph graph = cluster_of({"02", "20"}, 25, 1, 12.5, 1.25);
  EXPECT_NEAR(network_GBps(graph, {0, 1}), 12.5, 1e-9);
  EXPECT_NEAR(network_GBps(graph, {0, 1}, {.flows = 3}), 3.75, 1e-9);
  EXPECT_EQ(network_GBps(nvlink_graph({"02", "20"}, 25), {0, 1}), 0) << "no network";
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
  const Cluster cluster({.host = graph});
  EXPECT_NEAR(host_network_GBps(cluster, {.host = 1, .devices = {0, 1}}, {}), 24, 1e-9);
  const Graph narrow = power_graph(2, 2, 3, 5);
  EXPECT_NEAR(host_network_GBps(Cluster({.host = narrow}), {.host = 1, .devices = {2, 3}}, {}), 17,
              1e-9)
      << "one card, and the other over the X-Bus";
}

}  // namespace
}  // namespace busbar::topo

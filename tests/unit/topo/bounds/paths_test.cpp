// SPDX-License-Identifier: BSD-3-Clause
#include "topo/bounds/paths.hpp"

#include "tests/unit/topo/bounds/small_graphs.hpp"

namespace busbar::topo {
namespace {

/// Nodes of a path, "GPU0 PLX0 GPU1"; "-" where there is none.
std::string nodes(const Graph& graph, int from, int to, Level level,
                  const BoundOptions& options = {}) {
  const PathTable table(graph, std::vector<int>{from, to}, level, options);
  const auto& path = table.between(0, 1);
  if (!path) return "-";
  std::vector<std::string> names{device(graph, from).name};
  for (const Use& use : path->uses) {
    names.push_back(node_of(graph, graph.links.at(to_size(use.resource)).to).name);
  }
  return join(names, " ");
}

std::vector<double> times(const Graph& graph, int from, int to, const BoundOptions& options) {
  const PathTable table(graph, std::vector<int>{from, to}, Level::All, options);
  std::vector<double> times;
  for (const Use& use : table.between(0, 1)->uses) times.push_back(use.times);
  return times;
}

TEST(PathTable, KeepsToNvlinkAndProcessorsAtTheFirstLevelAndStagesThroughMemoryWherePeersAreOff) {
  const Graph cube = dgx1(dgx1v_rows(), 25);
  const Graph power = power_graph(1, 2, 3);
  const Graph works = pcie_graph({});
  const Graph off = pcie_graph({.p2p = P2p::Off});
  EXPECT_EQ(first_level(cube), Level::GpuLink);
  EXPECT_EQ(first_level(works), Level::All);
  Graph both = off;
  add_cable(both, find_node(both, "PLX0"), find_node(both, "CPU1"), 0);
  Graph bridge = pcie_graph({.switches_per_package = 4, .p2p = P2p::Off});
  bridge.nodes[to_size(find_node(bridge, "CPU0"))].kind = NodeKind::HostBridge;
  for (const auto& [graph, to, level, path] :
       {std::tuple{&cube, 3, Level::GpuLink, "GPU0 GPU3"},
        {&cube, 5, Level::GpuLink, "-"},  // never through another GPU
        {&cube, 3, Level::All, "GPU0 GPU3"},
        {&cube, 5, Level::All, "GPU0 PLX0 CPU0 CPU1 PLX2 GPU5"},
        {&power, 1, Level::GpuLink, "GPU0 GPU1"},
        {&power, 2, Level::GpuLink, "GPU0 CPU0 CPU1 GPU2"},
        {&works, 1, Level::All, "GPU0 PLX0 GPU1"},
        {&off, 1, Level::All, "GPU0 PLX0 CPU0 PLX0 GPU1"},
        {&off, 4, Level::All, "GPU0 PLX0 CPU0 CPU1 PLX2 GPU4"},
        {&both, 1, Level::All, "GPU0 PLX0 CPU0 PLX0 GPU1"},  // the first of two
        {&bridge, 1, Level::All, "GPU0 PLX0 CPU0 PLX0 GPU1"}}) {
    EXPECT_EQ(nodes(*graph, 0, to, level), path);
  }
}

TEST(PathTable, KnowsWhichModelsHaveNoPeersWhereNothingIsReported) {
  for (const auto& [model, shared] : {std::pair{"NVIDIA GeForce RTX 3090", true},
                                      {"RTX 2080 Ti", true},
                                      {"GTX 1080 GeForce", true},
                                      {"RTX 5090", true},
                                      {"RTX 3050", true},
                                      {"RTX 2060 SUPER", true},
                                      {"RTX 6090", false},
                                      {"Quadro RTX 4000", false},
                                      {"NVIDIA RTX 5000 Ada Generation", false},
                                      {"NVIDIA RTX A6000", false},
                                      {"NVIDIA L40S", false},
                                      {"", false}}) {
    Graph graph = pcie_graph({.p2p = P2p::Unknown});
    graph.nodes[0].model = model;
    EXPECT_EQ(nodes(graph, 0, 1, Level::All).find("CPU0") != std::string::npos, shared) << model;
  }
}

TEST(PathTable, ChargesPeersAtAnIntelRootAsNcclDoes) {
  const Graph graph = pcie_graph({});
  const BoundOptions nccl{.constants = ConstantSet::Nccl};
  EXPECT_EQ(times(graph, 0, 1, nccl), (std::vector<double>{1, 1}));
  EXPECT_EQ(times(graph, 0, 2, nccl), (std::vector<double>{1.2, 1.2, 1.2, 1.2}));
  EXPECT_EQ(times(graph, 0, 4, nccl), (std::vector<double>{1.2, 1.2, 1, 1.2, 1.2}));
  EXPECT_EQ(times(graph, 0, 2, {}), (std::vector<double>{1, 1, 1, 1}));
  EXPECT_EQ(times(pcie_graph({.vendor = "amd"}), 0, 2, nccl), (std::vector<double>{1, 1, 1, 1}));
  EXPECT_EQ(times(pcie_graph({.p2p = P2p::Off}), 0, 2, nccl), (std::vector<double>{1, 1, 1, 1}));
}

TEST(PathTable, StagesWhereEitherEndHasNoPeers) {
  for (const std::size_t board : {0U, 1U}) {
    Graph graph = pcie_graph({.p2p = P2p::Unknown});
    graph.nodes[board].model = "NVIDIA GeForce RTX 4090";
    EXPECT_EQ(nodes(graph, 0, 1, Level::All), "GPU0 PLX0 CPU0 PLX0 GPU1") << board;
    EXPECT_EQ(nodes(graph, 2, 3, Level::All), "GPU2 PLX1 GPU3");
    graph.p2p[0][1] = P2p::Works;  // the machine knows better
    EXPECT_EQ(nodes(graph, 0, 1, Level::All), "GPU0 PLX0 GPU1");
  }
}

TEST(PathTable, TakesTheWidestOfTheShortestAndTheFirstOfEqualOnes) {
  const auto way = [](double first_GBps, double second_GBps) {
    Graph graph = pcie_graph({.gpus = 2, .per_switch = 1});
    for (const auto& [name, GBps] : {std::pair{"first", first_GBps}, {"second", second_GBps}}) {
      const int hub = add_node(graph, {.kind = NodeKind::PcieSwitch, .name = name});
      const int medium = add_medium(
          graph,
          {.name = fmt::format("PCIe of {}", GBps), .kind = LinkKind::Pcie, .nominal_GBps = GBps});
      for (const int gpu : graph.devices) add_cable(graph, gpu, hub, medium);
    }
    return nodes(graph, 0, 1, Level::All);
  };
  EXPECT_EQ(way(31.5, 31.5), "GPU0 first GPU1");
  EXPECT_EQ(way(3.9, 31.5), "GPU0 second GPU1");
  EXPECT_EQ(way(31.5, 3.9), "GPU0 first GPU1");
}

TEST(PathTable, LeavesAHostByItsNearestCards) {
  const Graph power = power_graph(2, 2, 3);
  EXPECT_EQ(nodes(power, 0, 6, Level::GpuLink),
            "host0/GPU0 host0/CPU0 host0/NIC0 fabric host1/NIC1 host1/CPU1 host1/GPU2");
  EXPECT_EQ(nodes(power, 1, 7, Level::GpuLink),
            "host0/GPU1 host0/CPU0 host0/NIC0 fabric host1/NIC1 host1/CPU1 host1/GPU3")
      << "a card on the other socket is farther";
}

TEST(PathTable, SpreadsDevicesOverCardsThatAreEquallyNear) {
  for (const int cards : {2, 3}) {
    Graph graph = cluster_of({"0111", "1011", "1101", "1110"}, 25, 2, 12.5);
    for (const int host : {0, 1}) {
      for (int k = 1; k < cards; ++k) {
        const std::string name = fmt::format("host{}/NIC{}", host, k);
        const int nic = add_node(graph, {.kind = NodeKind::Nic, .name = name, .host = host});
        add_cable(graph, find_node(graph, fmt::format("host{}/CPU0", host)), nic, 1);
        add_cable(graph, nic, find_node(graph, "fabric"), 2);
      }
    }
    for (int k = 0; k < 4; ++k) {
      const std::string turn = fmt::format("NIC{0} fabric host1/NIC{0} ", k % cards);
      EXPECT_NE(nodes(graph, k, k + 4, Level::GpuLink).find(turn), std::string::npos) << k;
    }
    EXPECT_NEAR(bound_of(graph, prefix(8)).ring_GBps, 12.5 * cards, 1e-9);
  }
}

TEST(PathTable, JoinsHostsBySwitchWhereThereIsOne) {
  Graph graph = star_graph(4, 18, 50);
  for (int k = 0; k < 4; ++k) graph.nodes[static_cast<std::size_t>(k) + 1].host = k / 2;
  EXPECT_EQ(nodes(graph, 0, 3, Level::GpuLink), "GPU0 NVSwitch GPU3");
  const PathTable table(graph, std::vector<int>{0, 3}, Level::GpuLink, {});
  EXPECT_EQ(table.between(0, 1)->kinds, PathKinds{PathKind::NvSwitch});
}

TEST(ProblemOf, LeavesOutLinksWithoutALimit) {
  Graph graph = pcie_graph({.smp_GBps = 0});
  const PathTable table(graph, prefix(8), Level::All, {});
  const LinkProblem problem = problem_of(table, std::vector<int>{0, 4});
  EXPECT_EQ(problem.rings.hop(0, 1)->size(), 4U) << "five links, the one between packages free";
  EXPECT_EQ(problem.links.size(), 8U);
  EXPECT_EQ(problem.rings.capacity.size(), 8U);
}

}  // namespace
}  // namespace busbar::topo

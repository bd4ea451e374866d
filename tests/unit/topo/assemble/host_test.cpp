// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/support/topology_sources.hpp"
#include "topo/assemble/gpus.hpp"

namespace busbar::topo {
namespace {

/// A tree of sockets of this vendor, one for each NUMA node.
HostTree sockets(const std::string& vendor, const std::vector<int>& nodes) {
  HostTree tree{.origin = "box.xml"};
  for (const int node : nodes) {
    const auto index = static_cast<int>(tree.packages.size());
    tree.packages.push_back({.index = index, .vendor = vendor});
    tree.numa.push_back({.os_index = node, .package = index});
  }
  return tree;
}

TEST(Assemble, AssumesNoNvlinkWhereNoSourceShowsAny) {
  Sources sources{.name = "skeleton"};
  sources.nccl = sockets("", {});
  for (const char* gpu : {"0000:01:00.0", "0000:02:00.0"}) {
    sources.nccl->pci.push_back({.bus_id = gpu, .kind = PciKind::Gpu});
    sources.nccl->gpus.push_back({.bus_id = gpu});
  }
  EXPECT_THAT(notes_of(assemble(sources)), HasSubstr("no NVLink, since no source"));
  sources.smi.nvlink = two_with({});
  EXPECT_THAT(notes_of(assemble(sources)), Not(HasSubstr("no NVLink")));
  sources.nccl->nvlinks.push_back({.from = "0000:01:00.0", .kind = NvlinkKind::Unknown});
  EXPECT_THAT(notes_of(assemble(sources)), HasSubstr("no NVLink, since box.xml"));
}

TEST(Assemble, WithoutGpusTakesTheProcessorsForDevices) {
  const Graph graph = assemble({.name = "host", .hwloc = sockets("intel", {0, 1})});
  ASSERT_EQ(device_count(graph), 2U);
  EXPECT_EQ(device(graph, 1).name, "CPU1");
  EXPECT_EQ(graph.labels[0][1], "SYS");
}

/// Two GPUs and a NIC below a switch of socket 1 of a POWER machine.
Sources power_machine() {
  Sources sources = sources_of(uniform(2, "NV3"), "Tesla V100-SXM2-16GB");
  HostTree tree = sockets("ibm", {0, 8});
  const auto add = [&](PciKind kind, int parent, const char* bus_id, int generation) {
    tree.pci.push_back({.bus_id = bus_id,
                        .kind = kind,
                        .parent = parent,
                        .numa = 8,
                        .package = 1,
                        .generation = generation,
                        .width = 16});
  };
  add(PciKind::HostBridge, -1, "", 0);
  add(PciKind::Switch, 0, "0000:0f:00.0", 3);
  add(PciKind::Gpu, 1, "0000:01:00.0", 1);
  add(PciKind::Gpu, 1, "0000:02:00.0", 0);
  add(PciKind::Nic, 1, "0000:03:00.0", 3);
  tree.pci.back().names = {"mlx5_0"};
  tree.pci.back().net_GBps = 12.5;
  tree.gpus = {{.bus_id = "0000:01:00.0"}, {.bus_id = "0000:02:00.0"}};
  sources.hwloc = tree;
  sources.smi.nvlink = two_with(std::vector<double>(6, 25.781));
  return sources;
}

TEST(Assemble, JoinsTheSourcesByBusId) {
  const Graph graph = assemble(power_machine());
  EXPECT_EQ(device(graph, 0).numa, 8);
  EXPECT_EQ(device(graph, 1).uuid, "GPU-1");
  EXPECT_EQ(count_kind(graph, NodeKind::PcieSwitch), 1U);
  EXPECT_GE(find_node(graph, "mlx5_0"), 0);
  EXPECT_EQ(nearest(graph, graph.devices[0], NodeKind::Nic), find_node(graph, "mlx5_0"));
  Sources old = power_machine();
  old.hwloc->pci.back().generation = 1;
  old.hwloc->pci.back().width = 8;
  const Graph slow = assemble(old);
  EXPECT_TRUE(std::any_of(slow.media.begin(), slow.media.end(), [](const Medium& medium) {
    return medium.kind == LinkKind::Pcie && medium.nominal_GBps == 2;  // 8 lanes of 250 MB/s
  }));
  Sources two = power_machine();
  two.nccl = two.hwloc;
  for (PciObject& object : two.hwloc->pci) object.numa = 0;
  EXPECT_EQ(device(assemble(two), 0).numa, 8) << "NCCL's";
  EXPECT_EQ(assemble(two).source,
            "box.xml, nvidia-smi, box.xml: each fact by the first that has it");
}

/// The same without what nvidia-smi shows.
Sources tree_machine() {
  Sources sources = power_machine();
  sources.smi = {};
  return sources;
}

Sources matrix_alone(const std::string& text) {
  Sources sources{.name = "box"};
  sources.smi.matrix = parse_smi_matrix(text, "box.txt");
  return sources;
}

/// Of six links three are to the other GPU; sources without UUIDs are joined by number.
TEST(Assemble, GivesThePowerMachinesSpareLinksToTheProcessor) {
  Sources sources = power_machine();
  EXPECT_EQ(cables(assemble(sources), 0, "CPU1"), 3);
  for (auto& gpu : sources.smi.gpus) gpu.uuid.clear();
  sources.hwloc->gpus[1].uuid = "GPU-h";
  EXPECT_EQ(device(assemble(sources), 1).uuid, "GPU-h");
  sources.smi.nvlink->at(1).links.resize(4);
  EXPECT_EQ(cables(assemble(sources), 0, "CPU1"), 3);
  EXPECT_EQ(cables(assemble(sources), 1, "CPU1"), 1);
}

TEST(Assemble, TakesTheNvlinksOfHwlocsMatrixBothWays) {
  Sources sources = tree_machine();
  sources.hwloc->nvlink_matrix =
      NvlinkMatrix{.bus_ids = {"0000:01:00.0", "0000:02:00.0"}, .GBps = {{0, 75}, {75, 0}}};
  const Graph graph = assemble(sources);
  EXPECT_EQ(cables(graph, 0, "GPU1"), 3) << "75 GB/s at 25 a link";
  EXPECT_EQ(cables(graph, 1, "GPU0"), 3);
  sources.hwloc->nvlink_matrix->GBps = {{0, 300}, {300, 0}};
  EXPECT_EQ(assemble(sources).labels[0][1], "NV12");
}

TEST(Assemble, TakesTheNvlinksOfHwlocsMatrixAndOfNcclsFileToASwitch) {
  Sources sources = tree_machine();
  sources.hwloc->nvlink_matrix =
      NvlinkMatrix{.bus_ids = {"0000:c0:00.0", "0000:01:00.0", "0000:02:00.0"},
                   .GBps = {{0, 100, 100}, {100, 0, 0}, {100, 0, 0}}};
  sources.hwloc->packages[0].model = "POWER8NVL, altivec supported";
  const Graph power = assemble(sources);
  EXPECT_EQ(count_kind(power, NodeKind::NvSwitch), 0U) << "they end at the processors of POWER";
  EXPECT_EQ(cables(power, 1, "CPU1"), 4);
  EXPECT_THAT(notes_of(power), HasSubstr("X-Bus as of POWER9"));
  sources.hwloc->packages = sockets("intel", {0, 8}).packages;
  Sources file = tree_machine();
  file.nccl = std::exchange(file.hwloc, {});
  for (const char* gpu : {"0000:01:00.0", "0000:02:00.0"}) {
    file.nccl->nvlinks.push_back(
        {.from = gpu, .to = "0000:c0:00.0", .kind = NvlinkKind::NvSwitch, .count = 4});
  }
  for (const Graph& graph : {assemble(sources), assemble(file)}) {
    ASSERT_EQ(count_kind(graph, NodeKind::NvSwitch), 1U);
    EXPECT_EQ(cables(graph, 0, "NVSwitch"), 4);  // 100 GB/s at 25 a link
    EXPECT_EQ(cables(graph, 1, "NVSwitch"), 4);
  }
}

TEST(Assemble, JoinsGpusOfOneNumaNodeWhoseCellShowsNvlinkOnly) {
  const auto packages = [&](const std::string& second) {
    const std::string head = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\tX\tNV4\t0-3\t0\n";
    return count_kind(assemble(matrix_alone(head + "GPU1\tNV4\tX\t" + second + "\n")),
                      NodeKind::Package);
  };
  EXPECT_EQ(packages("4-7\t0"), 1U);
  EXPECT_EQ(packages("0-3\tN/A"), 1U);
  EXPECT_EQ(packages("4-7\t1"), 2U);
}

/// GPU0 and GPU1 are at both processors, NIC0 beside GPU0; NIC1 is nowhere, and rows of NICs lack.
TEST(Assemble, GivesNoProcessorToANicThatNoSourcePlaces) {
  const Graph graph =
      assemble(matrix_alone("\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\n"
                            "GPU0\tX\tSYS\tPIX\tSYS\t0-3\t0\nGPU1\tSYS\tX\tSYS\tSYS\t4-7\t1\n"));
  EXPECT_EQ(count_kind(graph, NodeKind::Package), 2U);
  ASSERT_EQ(count_kind(graph, NodeKind::Nic), 2U);
  EXPECT_EQ(nearest(graph, find_node(graph, "NIC1"), NodeKind::Package), -1);
  EXPECT_GE(nearest(graph, find_node(graph, "NIC0"), NodeKind::Package), 0);
}

TEST(Assemble, KnowsNoNumaNodeOfAPackageWithANicAlone) {
  const Graph graph = assemble(matrix_alone(
      "\tGPU0\tNIC0\tCPU Affinity\tNUMA Affinity\nGPU0\tX\tSYS\t0-3\t0\nNIC0\tSYS\tX\n"));
  ASSERT_EQ(count_kind(graph, NodeKind::Package), 2U);
  EXPECT_EQ(node_of(graph, find_node(graph, "CPU0")).numa, 0);
  EXPECT_EQ(node_of(graph, find_node(graph, "CPU1")).numa, -1);
}

TEST(Assemble, TakesATreeThatLacksAGpuWhereThereIsNoMatrix) {
  Sources sources = power_machine();
  sources.smi.matrix.reset();
  sources.smi.gpus[1].bus_id = "0000:77:00.0";
  EXPECT_EQ(count_kind(assemble(sources), NodeKind::PcieSwitch), 1U);
}

TEST(Assemble, CountsNoNumaNodeWithoutProcessorsAsASecondOne) {
  Sources sources = power_machine();
  sources.hwloc->numa.push_back({.os_index = 9, .package = 1, .has_cpus = false});
  EXPECT_EQ(count_kind(assemble(sources), NodeKind::Numa), 0U);
  sources.hwloc->numa.back().has_cpus = true;
  EXPECT_EQ(count_kind(assemble(sources), NodeKind::Numa), 1U);
  for (PciObject& object : sources.hwloc->pci) object.numa = -1;
  EXPECT_EQ(count_kind(assemble(sources), NodeKind::Numa), 0U) << "near to none of them";
}

TEST(Assemble, KeepsTheNumbersThatHwlocHasOfGpus) {
  Sources sources = tree_machine();
  sources.hwloc->gpus[0].index = 5;
  sources.hwloc->gpus[1].index = 3;
  EXPECT_EQ(device(assemble(sources), 0).name, "GPU3");
  sources.hwloc->gpus[1].index = -1;  // not of all: in the order of the bus ids
  EXPECT_EQ(device(assemble(sources), 0).name, "GPU0");
}

TEST(Assemble, BelievesTheNameOfAnIdleGpuMoreThanItsSlot) {
  Sources sources = power_machine();
  for (GpuFacts& gpu : sources.smi.gpus) gpu.pcie_generation = 0;  // an old driver
  EXPECT_EQ(nominal_of_first(assemble(sources), LinkKind::Pcie), 15.75);
}

TEST(Assemble, AssumesTheOrderOfGpusWithoutBusIds) {
  Sources sources = power_machine();
  sources.smi.gpus.clear();
  EXPECT_THAT(notes_of(assemble(sources)), HasSubstr("GPUs in the order of"));
  sources.hwloc->gpus.pop_back();
  EXPECT_THAT(notes_of(assemble(sources)), Not(HasSubstr("GPUs in the order of")));
}

}  // namespace
}  // namespace busbar::topo

// SPDX-License-Identifier: BSD-3-Clause
#include "topo/assemble/assemble.hpp"

#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "topo/graph/graph.hpp"

namespace busbar::topo {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A matrix of `topo -m` from its words, a row per GPU.
std::string matrix_text(const std::vector<std::string>& rows) {
  std::string text;
  for (std::size_t i = 0; i < rows.size(); ++i) text += "\tGPU" + std::to_string(i);
  text += "\tCPU Affinity\tNUMA Affinity\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::string row = "GPU" + std::to_string(i) + "\t" + rows[i];
    std::replace(row.begin(), row.end(), ' ', '\t');
    text += row + (i < (rows.size() + 1) / 2 ? "\t0-7\t0\n" : "\t8-15\t1\n");
  }
  return text + "\nLegend:\n\n  NV#  = Connection traversing a bonded set of # NVLinks\n";
}

Sources sources_of(const std::vector<std::string>& rows, const std::string& model = "") {
  Sources sources{.name = "box"};
  sources.smi.matrix = parse_smi_matrix(matrix_text(rows), "box.txt");
  for (std::size_t i = 0; !model.empty() && i < rows.size(); ++i) {
    sources.smi.gpus.push_back({.index = static_cast<int>(i),
                                .uuid = "GPU-" + std::to_string(i),
                                .name = model,
                                .bus_id = normal_bus_id("0000:0" + std::to_string(i + 1) + ":00.0"),
                                .pcie_generation = 3,
                                .pcie_width = 16,
                                .mig = false});
  }
  return sources;
}

std::string all_warnings(const Graph& graph) {
  std::string text;
  for (const std::string& warning : graph.warnings) text += warning + "\n";
  return text;
}

std::vector<std::string> assumptions_of(const Graph& graph) {
  std::vector<std::string> texts;
  for (const Assumption& assumption : graph.assumptions) texts.push_back(assumption.text);
  return texts;
}

int count_kind(const Graph& graph, NodeKind kind) {
  return static_cast<int>(std::count_if(graph.nodes.begin(), graph.nodes.end(),
                                        [&](const Node& node) { return node.kind == kind; }));
}

TEST(Assemble, BuildsThePcieTreeThatTheWordsMean) {
  Graph graph = assemble(
      sources_of({"X PIX PXB PHB SYS SYS", "PIX X PXB PHB SYS SYS", "PXB PXB X PHB SYS SYS",
                  "PHB PHB PHB X SYS SYS", "SYS SYS SYS SYS X NODE", "SYS SYS SYS SYS NODE X"}));
  const auto told = graph.labels;
  label_devices(graph);
  EXPECT_EQ(graph.labels, told);
  EXPECT_EQ(count_kind(graph, NodeKind::Package), 2);
}

TEST(Assemble, TakesMoreLinksInARowThanAGpuHasForASwitch) {
  const Graph graph =
      assemble(sources_of({"X NV6 NV6 NV6", "NV6 X NV6 NV6", "NV6 NV6 X NV6", "NV6 NV6 NV6 X"},
                          "Tesla V100-SXM3-32GB"));
  EXPECT_EQ(count_kind(graph, NodeKind::NvSwitch), 1);
  const int hub = find_node(graph, "NVSwitch");
  const auto port = std::find_if(graph.links.begin(), graph.links.end(),
                                 [&](const Link& link) { return link.to == hub; });
  EXPECT_EQ(capacity_GBps(graph, *port, ConstantSet::Nominal), 150);
}

TEST(Assemble, TakesAMeshWithinAGpusLinksForCables) {
  const Graph graph =
      assemble(sources_of({"X NV2 NV2 NV2", "NV2 X NV2 NV2", "NV2 NV2 X NV2", "NV2 NV2 NV2 X"},
                          "Tesla V100-SXM2-16GB"));
  EXPECT_EQ(count_kind(graph, NodeKind::NvSwitch), 0);
  EXPECT_THAT(graph.warnings, IsEmpty());
  EXPECT_THAT(assumptions_of(graph), Contains(HasSubstr("no source names the processors")));
}

/// The same number between any two of three or more GPUs may be the ports of a switch, unless a
/// model says how many links a GPU has; two GPUs have the same bandwidth either way.
TEST(Assemble, AssumesLinksFromGpuToGpuWhereASwitchWouldLookAlike) {
  const auto assumes = [](const std::vector<std::string>& rows, const std::string& model = "") {
    const auto texts = assumptions_of(assemble(sources_of(rows, model)));
    return std::any_of(texts.begin(), texts.end(), [](const std::string& text) {
      return text.find("from GPU to GPU, not to a switch") != std::string::npos;
    });
  };
  EXPECT_TRUE(assumes({"X NV4 NV4", "NV4 X NV4", "NV4 NV4 X"}));
  EXPECT_FALSE(assumes({"X NV4 NV4", "NV4 X NV4", "NV4 NV4 X"}, "NVIDIA A100-SXM4-40GB"));
  EXPECT_FALSE(assumes({"X NV4 NV2", "NV4 X NV4", "NV2 NV4 X"}));
  EXPECT_FALSE(assumes({"X NV4 NV4", "NV4 X NV2", "NV4 NV2 X"}));
  EXPECT_FALSE(assumes({"X NV1 NV1", "NV1 X NV1", "NV1 NV1 X"}));
  EXPECT_FALSE(assumes({"X NV4", "NV4 X"}));
}

TEST(Assemble, ReportedRatesOfLinksStandBesideTheNominalOnes) {
  Sources sources = sources_of({"X NV2", "NV2 X"}, "Tesla V100-SXM2-16GB");
  sources.smi.nvlink = NvlinkStatus{};
  for (int i = 0; i < 2; ++i) {
    sources.smi.nvlink->gpus.push_back(
        {.index = i, .links = {{.number = 0, .GBps = 25.781}, {.number = 1, .GBps = 25.781}}});
  }
  const Graph graph = assemble(sources);
  const auto link = std::find_if(graph.links.begin(), graph.links.end(), [&](const Link& l) {
    return graph.media[static_cast<std::size_t>(l.medium)].kind == LinkKind::NvLink;
  });
  ASSERT_NE(link, graph.links.end());
  EXPECT_EQ(capacity_GBps(graph, *link, ConstantSet::Nominal), 50);
  EXPECT_DOUBLE_EQ(capacity_GBps(graph, *link, ConstantSet::Reported), 51.562);
}

TEST(Assemble, TellsSwitchesByTheRemoteEnds) {
  Sources sources = sources_of({"X NV2", "NV2 X"}, "NVIDIA H100 80GB HBM3");
  sources.smi.remotes = NvlinkRemotes{};
  for (int i = 0; i < 2; ++i) {
    sources.smi.remotes->gpus.push_back({.index = i,
                                         .links = {{.number = 0, .bus_id = "0000:a0:00.0"},
                                                   {.number = 1, .bus_id = "0000:a1:00.0"}}});
  }
  const Graph graph = assemble(sources);
  ASSERT_EQ(count_kind(graph, NodeKind::NvSwitch), 1);
  EXPECT_TRUE(graph.nodes[static_cast<std::size_t>(find_node(graph, "NVSwitch"))].reduces);
  EXPECT_EQ(graph.labels[0][1], "NV2");
}

TEST(Assemble, WarnsOfAFabricThatIsDown) {
  const Graph graph = assemble(sources_of({"X NODE", "NODE X"}, "NVIDIA H100 80GB HBM3"));
  EXPECT_THAT(all_warnings(graph), HasSubstr("fabric manager"));
}

TEST(Assemble, WarnsOfOneGpuOffTheFabric) {
  const Graph graph = assemble(sources_of(
      {"X NV18 NV18 SYS", "NV18 X NV18 SYS", "NV18 NV18 X SYS", "SYS SYS SYS X"}, "NVIDIA B200"));
  EXPECT_THAT(all_warnings(graph), HasSubstr("GPU3 has no NVLink though others have"));
}

TEST(Assemble, TakesBridgesBetweenSomeBoardsAsTheyAre) {
  const Graph graph =
      assemble(sources_of({"X NV4 NODE", "NV4 X NODE", "NODE NODE X"}, "NVIDIA RTX A6000"));
  EXPECT_THAT(all_warnings(graph), testing::Not(HasSubstr("fabric")));
}

TEST(Assemble, WarnsOfP2pThatIsOff) {
  Sources sources = sources_of({"X PIX", "PIX X"}, "NVIDIA GeForce RTX 2080 Ti");
  sources.smi.p2p_read = parse_smi_p2p(" \tGPU0\tGPU1\n GPU0\tX\tNS\n GPU1\tNS\tX\n", "p2p.txt");
  const Graph graph = assemble(sources);
  EXPECT_THAT(all_warnings(graph), HasSubstr("P2P reading is off between 1 pair of GPUs (0-1)"));
  EXPECT_EQ(graph.p2p[0][1], P2p::Off);
}

TEST(Assemble, NeedsReadingAndWritingForP2p) {
  Sources sources = sources_of({"X PIX", "PIX X"}, "Tesla P40");
  sources.smi.p2p_read = parse_smi_p2p(" \tGPU0\tGPU1\n GPU0\tX\tOK\n GPU1\tOK\tX\n", "r.txt");
  EXPECT_EQ(assemble(sources).p2p[0][1], P2p::Works);
  sources.smi.p2p_write = parse_smi_p2p(" \tGPU0\tGPU1\n GPU0\tX\tCNS\n GPU1\tCNS\tX\n", "w.txt");
  EXPECT_EQ(assemble(sources).p2p[0][1], P2p::Off);
}

TEST(Assemble, WarnsOfMig) {
  Sources sources = sources_of({"X NV12", "NV12 X"}, "NVIDIA A100-SXM4-40GB");
  sources.smi.gpus[1].mig = true;
  EXPECT_THAT(all_warnings(assemble(sources)), HasSubstr("MIG is on for GPU1"));
}

TEST(Assemble, AssumesNoNvlinkWhereNoSourceShowsAny) {
  Sources sources{.name = "skeleton"};
  sources.nccl = HostTree{.origin = "topo.xml",
                          .pci = {{.bus_id = "0000:01:00.0", .kind = PciKind::Gpu},
                                  {.bus_id = "0000:02:00.0", .kind = PciKind::Gpu}},
                          .gpus = {{.bus_id = "0000:01:00.0"}, {.bus_id = "0000:02:00.0"}}};
  EXPECT_THAT(assumptions_of(assemble(sources)), Contains(HasSubstr("no NVLink")));
}

TEST(Assemble, KnowsTheGpusOfRemoteEndsAlone) {
  Sources sources{.name = "ends"};
  sources.smi.remotes = NvlinkRemotes{};
  for (int i = 0; i < 2; ++i) {
    sources.smi.remotes->gpus.push_back({.index = i,
                                         .name = "NVIDIA H100 80GB HBM3",
                                         .links = {{.number = 0, .bus_id = "0000:a0:00.0"}}});
  }
  const Graph graph = assemble(sources);
  EXPECT_EQ(graph.title, "2x NVIDIA H100 80GB HBM3");
  EXPECT_EQ(graph.labels[0][1], "NV1");
  EXPECT_EQ(count_kind(graph, NodeKind::NvSwitch), 0) << "two GPUs and one end each: a bridge";
}

TEST(Assemble, AssumesThePathsOfAFlatVirtualMachine) {
  const std::vector<std::string> rows{"X PHB PHB PHB PHB PHB", "PHB X PHB PHB PHB PHB",
                                      "PHB PHB X PHB PHB PHB", "PHB PHB PHB X PHB PHB",
                                      "PHB PHB PHB PHB X PHB", "PHB PHB PHB PHB PHB X"};
  EXPECT_THAT(assumptions_of(assemble(sources_of(rows))), Contains(HasSubstr("virtual machine")));
}

TEST(Assemble, TakesPathsAsTheyAreWhereNvlinkHidesThemOrGpusAreFew) {
  const std::vector<std::string> joined{"X NV4 NV4 NV4 NV4", "NV4 X NV4 NV4 NV4",
                                        "NV4 NV4 X NV4 NV4", "NV4 NV4 NV4 X NV4",
                                        "NV4 NV4 NV4 NV4 X"};
  const std::vector<std::string> few{"X PHB PHB PHB", "PHB X PHB PHB", "PHB PHB X PHB",
                                     "PHB PHB PHB X"};
  for (const auto& rows : {joined, few}) {
    EXPECT_THAT(assumptions_of(assemble(sources_of(rows))),
                Not(Contains(HasSubstr("virtual machine"))));
  }
}

TEST(Assemble, AssumesRatesThatABareMatrixLacks) {
  const auto texts = assumptions_of(assemble(sources_of({"X NV4 SYS", "NV4 X SYS", "SYS SYS X"})));
  EXPECT_THAT(texts, Contains(HasSubstr("PCIe 3.0 x16")));
  EXPECT_THAT(texts, Contains(HasSubstr("25 GB/s a link")));
}

TEST(Assemble, AssumesNoRateThatSourcesReport) {
  const auto texts = assumptions_of(
      assemble(sources_of({"X NV4 SYS", "NV4 X SYS", "SYS SYS X"}, "NVIDIA A100-PCIE-40GB")));
  EXPECT_THAT(texts, Not(Contains(HasSubstr("a link"))));
  EXPECT_THAT(texts, Not(Contains(HasSubstr("PCIe 3.0"))));
}

TEST(Assemble, WithoutGpusTakesTheProcessorsForDevices) {
  Sources sources{.name = "host"};
  HostTree tree{.origin = "hwloc"};
  tree.packages = {{.index = 0, .vendor = "intel", .model_number = 0x55},
                   {.index = 1, .vendor = "intel", .model_number = 0x55}};
  tree.numa = {{.os_index = 0, .package = 0, .cpus = "0-3"},
               {.os_index = 1, .package = 1, .cpus = "4-7"}};
  sources.hwloc = tree;
  const Graph graph = assemble(sources);
  ASSERT_EQ(device_count(graph), 2U);
  EXPECT_EQ(device(graph, 1).name, "CPU1");
  EXPECT_EQ(graph.labels[0][1], "SYS");
}

/// Two GPUs and a NIC below a switch of socket 1 of a POWER machine.
Sources power_machine() {
  Sources sources = sources_of({"X NV3", "NV3 X"}, "Tesla V100-SXM2-16GB");
  HostTree tree{.origin = "box.xml"};
  tree.packages = {{.index = 0, .vendor = "ibm"}, {.index = 1, .vendor = "ibm"}};
  tree.numa = {{.os_index = 0, .package = 0, .cpus = "0-79"},
               {.os_index = 8, .package = 1, .cpus = "80-159"}};
  tree.pci = {
      {.kind = PciKind::HostBridge, .numa = 8, .package = 1},
      {.bus_id = "0000:0f:00.0",
       .kind = PciKind::Switch,
       .parent = 0,
       .numa = 8,
       .package = 1,
       .generation = 3,
       .width = 16},
      {.bus_id = "0000:01:00.0",
       .kind = PciKind::Gpu,
       .parent = 1,
       .numa = 8,
       .package = 1,
       .generation = 1,
       .width = 16},
      {.bus_id = "0000:02:00.0", .kind = PciKind::Gpu, .parent = 1, .numa = 8, .package = 1},
      {.bus_id = "0000:03:00.0",
       .kind = PciKind::Nic,
       .parent = 1,
       .numa = 8,
       .package = 1,
       .generation = 3,
       .width = 16,
       .names = {"mlx5_0"},
       .net_GBps = 12.5}};
  tree.gpus = {{.bus_id = "0000:01:00.0"}, {.bus_id = "0000:02:00.0"}};
  sources.hwloc = tree;
  sources.smi.nvlink = NvlinkStatus{};
  for (int i = 0; i < 2; ++i) {
    NvlinkGpu gpu{.index = i};
    for (int link = 0; link < 6; ++link) gpu.links.push_back({.number = link, .GBps = 25.781});
    sources.smi.nvlink->gpus.push_back(gpu);
  }
  return sources;
}

TEST(Assemble, JoinsTheSourcesByBusId) {
  const Graph graph = assemble(power_machine());
  EXPECT_EQ(device(graph, 0).numa, 8);
  EXPECT_EQ(device(graph, 1).uuid, "GPU-1");
  EXPECT_EQ(count_kind(graph, NodeKind::PcieSwitch), 1);
  EXPECT_GE(find_node(graph, "mlx5_0"), 0);
  EXPECT_EQ(nearest(graph, graph.devices[0], NodeKind::Nic), find_node(graph, "mlx5_0"));
}

TEST(Assemble, GivesThePowerMachinesSpareLinksToTheProcessor) {
  const Graph graph = assemble(power_machine());
  const int socket = find_node(graph, "CPU1");
  const auto link = std::find_if(graph.links.begin(), graph.links.end(), [&](const Link& l) {
    return l.from == graph.devices[0] && l.to == socket;
  });
  ASSERT_NE(link, graph.links.end());
  EXPECT_EQ(link->count, 3);
}

TEST(Assemble, TakesTheNvlinksOfHwlocsMatrixBothWays) {
  Sources sources = power_machine();
  sources.smi = {};
  sources.hwloc->nvlink_matrix =
      NvlinkMatrix{.bus_ids = {"0000:01:00.0", "0000:02:00.0"}, .GBps = {{0, 75}, {75, 0}}};
  const Graph graph = assemble(sources);
  for (const std::size_t from : {0U, 1U}) {
    const auto link = std::find_if(graph.links.begin(), graph.links.end(), [&](const Link& l) {
      return l.from == graph.devices[from] && l.to == graph.devices[1 - from];
    });
    ASSERT_NE(link, graph.links.end()) << from;
    EXPECT_EQ(link->count, 3) << "75 GB/s at 25 a link";
  }
  sources.hwloc->nvlink_matrix->GBps = {{0, 300}, {300, 0}};
  EXPECT_EQ(assemble(sources).labels[0][1], "NV12");
}

TEST(Assemble, TakesTheNvlinksOfHwlocsMatrixToASwitch) {
  Sources sources = power_machine();
  sources.smi = {};
  sources.hwloc->nvlink_matrix =
      NvlinkMatrix{.bus_ids = {"0000:c0:00.0", "0000:01:00.0", "0000:02:00.0"},
                   .GBps = {{0, 100, 100}, {100, 0, 0}, {100, 0, 0}}};
  const Graph graph = assemble(sources);
  ASSERT_EQ(count_kind(graph, NodeKind::NvSwitch), 1);
  for (const int gpu : graph.devices) {
    const std::vector<const Link*> way = shortest_way(graph, gpu, find_node(graph, "NVSwitch"));
    ASSERT_EQ(way.size(), 1U);
    EXPECT_EQ(way.front()->count, 4) << "100 GB/s at 25 a link";
  }
}

TEST(Assemble, JoinsGpusOfOneNumaNodeWhoseCellShowsNvlinkOnly) {
  Sources sources{.name = "box"};
  const auto packages = [&](const std::string& second) {
    sources.smi.matrix = parse_smi_matrix(
        "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\nGPU0\tX\tNV4\t0-3\t0\nGPU1\tNV4\tX\t" + second +
            "\n",
        "box.txt");
    return count_kind(assemble(sources), NodeKind::Package);
  };
  EXPECT_EQ(packages("4-7\t0"), 1);
  EXPECT_EQ(packages("0-3\tN/A"), 1);
  EXPECT_EQ(packages("4-7\t1"), 2);
}

TEST(Assemble, TakesLinksByNumberWhereNobodyHasUuids) {
  Sources sources = power_machine();
  for (auto& gpu : sources.smi.gpus) gpu.uuid.clear();
  sources.smi.nvlink->gpus[1].links.pop_back();
  sources.smi.nvlink->gpus[1].links.pop_back();
  const Graph graph = assemble(sources);
  const auto to_processor = [&](std::size_t gpu) {
    double count = 0;
    for (const Link& link : graph.links) {
      if (link.from == graph.devices[gpu] && link.to == find_node(graph, "CPU1"))
        count = link.count;
    }
    return count;
  };
  EXPECT_EQ(to_processor(0), 3) << "of six links three are to the other GPU";
  EXPECT_EQ(to_processor(1), 1) << "of four";
}

TEST(Assemble, TakesATreeThatLacksAGpuWhereThereIsNoMatrix) {
  Sources sources = power_machine();
  sources.smi.matrix.reset();
  sources.smi.gpus[1].bus_id = "0000:77:00.0";
  EXPECT_EQ(count_kind(assemble(sources), NodeKind::PcieSwitch), 1);
}

TEST(Assemble, CountsNoNumaNodeWithoutProcessorsAsASecondOne) {
  Sources sources = power_machine();
  sources.hwloc->numa.push_back({.os_index = 9, .package = 1});
  EXPECT_EQ(count_kind(assemble(sources), NodeKind::Numa), 0);
  sources.hwloc->numa.back().cpus = "160-239";
  EXPECT_EQ(count_kind(assemble(sources), NodeKind::Numa), 1);
}

TEST(Assemble, KeepsTheNumbersThatHwlocHasOfGpus) {
  Sources sources = power_machine();
  sources.smi = {};
  sources.hwloc->gpus = {{.bus_id = "0000:01:00.0", .index = 5},
                         {.bus_id = "0000:02:00.0", .index = 3}};
  EXPECT_EQ(device(assemble(sources), 0).name, "GPU3");
  sources.hwloc->gpus[1].index = -1;  // not of all: in the order of the bus ids
  EXPECT_EQ(device(assemble(sources), 0).name, "GPU0");
}

TEST(Assemble, TakesABridgeOfAModelWithoutKnownLinksAsItIs) {
  const Graph graph = assemble(sources_of({"X NV1", "NV1 X"}, "NVIDIA GeForce RTX 2070 SUPER"));
  EXPECT_EQ(count_kind(graph, NodeKind::NvSwitch), 0);
  EXPECT_EQ(graph.labels[0][1], "NV1");
}

TEST(Assemble, TakesNvlinksOfNcclsFileToASwitch) {
  Sources sources = power_machine();
  sources.smi = {};
  sources.nccl = std::move(sources.hwloc);
  sources.hwloc.reset();
  for (const char* gpu : {"0000:01:00.0", "0000:02:00.0"}) {
    sources.nccl->nvlinks.push_back(
        {.from = gpu, .to = "0000:c0:00.0", .kind = NvlinkKind::NvSwitch, .count = 4});
  }
  const Graph graph = assemble(sources);
  ASSERT_EQ(count_kind(graph, NodeKind::NvSwitch), 1);
  const int hub = find_node(graph, "NVSwitch");
  for (const int gpu : graph.devices) {
    const auto link = std::find_if(graph.links.begin(), graph.links.end(),
                                   [&](const Link& l) { return l.from == gpu && l.to == hub; });
    ASSERT_NE(link, graph.links.end());
    EXPECT_EQ(link->count, 4);
  }
}

TEST(Assemble, BelievesTheNameOfAnIdleGpuMoreThanItsSlot) {
  Sources sources = power_machine();
  for (GpuFacts& gpu : sources.smi.gpus) gpu.pcie_generation = 0;  // an old driver
  const Graph graph = assemble(sources);
  const auto slot = std::find_if(graph.links.begin(), graph.links.end(), [&](const Link& link) {
    return link.from == graph.devices[0] &&
           graph.media[static_cast<std::size_t>(link.medium)].kind == LinkKind::Pcie;
  });
  EXPECT_EQ(capacity_GBps(graph, *slot, ConstantSet::Nominal), 15.75);
}

TEST(Assemble, AssumesTheOrderOfGpusWithoutBusIds) {
  Sources sources = power_machine();
  sources.smi.gpus.clear();
  EXPECT_THAT(assumptions_of(assemble(sources)), Contains(HasSubstr("GPUs in the order of")));
}

TEST(Assemble, SaysWhenSourcesDisagreeOnTheNumberOfGpus) {
  Sources sources = sources_of({"X PIX", "PIX X"});
  sources.hwloc = HostTree{.origin = "one.xml", .gpus = {{.bus_id = "0000:01:00.0"}}};
  EXPECT_THAT(assemble(sources).warnings, Contains(HasSubstr("one.xml has 1 GPU")));
}

class Captures : public testing::Test {
 protected:
  const std::filesystem::path folder_ = "../shared/data/nvidia_smi_topo_m";
};

TEST_F(Captures, GiveTheirOwnMatrixBackFromTheGraph) {
  if (!std::filesystem::exists(folder_)) GTEST_SKIP() << folder_ << " is absent";
  int told = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    if (entry.path().extension() != ".txt") continue;
    Sources sources{.name = entry.path().stem()};
    try {
      sources.smi.matrix =
          parse_smi_matrix(read_text_file("--smi", entry.path()), entry.path().string());
    } catch (const Error&) {
      continue;  // damaged ones are the parser's business
    }
    Graph graph = assemble(sources);
    const auto labels = graph.labels;
    label_devices(graph);
    EXPECT_EQ(graph.labels, labels) << entry.path();
    ++told;
  }
  EXPECT_GT(told, 50);
}

}  // namespace
}  // namespace busbar::topo

// SPDX-License-Identifier: BSD-3-Clause
#include "topo/assemble/assemble.hpp"

#include <algorithm>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/text.hpp"
#include "tests/unit/support/captures.hpp"
#include "topo/assemble/agreement.hpp"
#include "topo/graph/graph.hpp"

namespace busbar::topo {
namespace {

using testing::HasSubstr;
using testing::Not;

using Rows = std::vector<std::string>;

/// Rows of so many GPUs with the same cell between any two.
Rows uniform(std::size_t gpus, const std::string& cell) {
  Rows rows;
  for (std::size_t i = 0; i < gpus; ++i) {
    Rows cells(gpus, cell);
    cells[i] = "X";
    rows.push_back(join(cells, " "));
  }
  return rows;
}

/// A matrix of `topo -m` from its cells, a row per GPU.
std::string matrix_text(const Rows& rows) {
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

/// A matrix, and a query where the GPUs have a model.
Sources sources_of(const Rows& rows, const std::string& model = "") {
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

/// Two GPUs with these links each, by `nvlink -s` or `-R`.
std::vector<GpuFacts> two_with(const std::vector<NvlinkLink>& links, const std::string& name = "") {
  return {{.index = 0, .name = name, .links = links}, {.index = 1, .name = name, .links = links}};
}

/// `topo -p2p` of two GPUs.
P2pMatrix p2p_of(const std::string& cell) {
  return parse_smi_p2p("GPU0 GPU1\nGPU0 X " + cell + "\nGPU1 " + cell + " X\n", "p2p.txt");
}

/// Warnings and assumptions, a line each.
std::string notes_of(const Graph& graph) {
  return join(graph.warnings, "\n") + "\n" +
         join_each(graph.assumptions, "\n", [](const Assumption& one) { return one.text; });
}

std::size_t count_kind(const Graph& graph, NodeKind kind) {
  return nodes_of_kind(graph, kind).size();
}

/// The first link from a node to another, or of a kind; null where there is none.
const Link* link_to(const Graph& graph, int from, int to) {
  const auto found = std::find_if(graph.links.begin(), graph.links.end(), [&](const Link& link) {
    return link.from == from && link.to == to;
  });
  return found == graph.links.end() ? nullptr : &*found;
}

/// Cables from a device to the node of this name; 0 where there are none.
double cables(const Graph& graph, std::size_t device, const std::string& to) {
  const Link* link = link_to(graph, graph.devices.at(device), find_node(graph, to));
  return link == nullptr ? 0 : link->count;
}

double nominal_of_first(const Graph& graph, LinkKind kind,
                        ConstantSet constants = ConstantSet::Nominal) {
  const auto found = std::find_if(graph.links.begin(), graph.links.end(), [&](const Link& link) {
    return link.from == graph.devices[0] &&
           graph.media[static_cast<std::size_t>(link.medium)].kind == kind;
  });
  return found == graph.links.end() ? -1 : capacity_GBps(graph, *found, constants);
}

TEST(Assemble, BuildsThePcieTreeThatTheCellsMean) {
  Graph graph = assemble(
      sources_of({"X PIX PXB PHB SYS SYS", "PIX X PXB PHB SYS SYS", "PXB PXB X PHB SYS SYS",
                  "PHB PHB PHB X SYS SYS", "SYS SYS SYS SYS X NODE", "SYS SYS SYS SYS NODE X"}));
  const auto labels = graph.labels;
  label_devices(graph);
  EXPECT_EQ(graph.labels, labels);
  EXPECT_EQ(count_kind(graph, NodeKind::Package), 2U);
}

TEST(Assemble, TakesMoreLinksInARowThanAGpuHasForASwitch) {
  const Graph graph = assemble(sources_of(uniform(4, "NV6"), "Tesla V100-SXM3-32GB"));
  EXPECT_EQ(count_kind(graph, NodeKind::NvSwitch), 1U);
  EXPECT_EQ(nominal_of_first(graph, LinkKind::NvLink), 150);
  for (std::size_t gpu = 0; gpu < 4; ++gpu) EXPECT_EQ(cables(graph, gpu, "NVSwitch"), 6) << gpu;
}

TEST(Assemble, TakesAMeshWithinAGpusLinksForCables) {
  const Graph graph = assemble(sources_of(uniform(4, "NV2"), "Tesla V100-SXM2-16GB"));
  EXPECT_EQ(count_kind(graph, NodeKind::NvSwitch), 0U);
  EXPECT_TRUE(graph.warnings.empty());
}

/// What AMD's tools report of GPUs that are all XGMI to each other.
Sources xgmi_sources(std::size_t gpus, const std::string& model, const std::string& cell = "XGMI") {
  Sources sources = sources_of(uniform(gpus, cell), model);
  sources.smi.tool = "amd-smi";
  return sources;
}

TEST(Assemble, TakesXgmiForCablesOfTheModelsRate) {
  for (const auto& [model, GBps] :
       {std::pair{"AMD Instinct MI300X", 64.0}, {"AMD Instinct MI355X", 76.8}}) {
    const Graph graph = assemble(xgmi_sources(8, model));
    EXPECT_EQ(count_kind(graph, NodeKind::NvSwitch), 0U);
    EXPECT_EQ(count_kind(graph, NodeKind::Package), 2U);
    EXPECT_EQ(nominal_of_first(graph, LinkKind::Xgmi), GBps);
    EXPECT_EQ(nominal_of_first(graph, LinkKind::Xgmi, ConstantSet::Nccl), 48);
    EXPECT_EQ(graph.labels[0][7], "XGMI");
    EXPECT_EQ(graph.source, "amd-smi");
    EXPECT_TRUE(graph.warnings.empty());
  }
  EXPECT_EQ(
      nominal_of_first(assemble(xgmi_sources(2, "AMD Instinct MI250X", "XGMI4")), LinkKind::Xgmi),
      200);
}

TEST(Assemble, AssumesTheRateOfXgmiWhereNoGpuHasAName) {
  Sources sources = xgmi_sources(4, "");
  sources.smi.matrix->shows_host = false;
  sources.smi.matrix->numa_affinity.assign(4, "");
  const Graph graph = assemble(sources);
  EXPECT_EQ(nominal_of_first(graph, LinkKind::Xgmi), 50);
  ASSERT_EQ(graph.assumptions.size(), 1U);
  EXPECT_THAT(graph.assumptions[0].text, HasSubstr("xGMI of 50 GB/s"));
  EXPECT_EQ(count_kind(graph, NodeKind::Package), 0U) << "nothing shows any";
}

TEST(Assemble, WarnsWhereAGpuMadeForXgmiShowsNone) {
  const Graph graph = assemble(xgmi_sources(4, "AMD Instinct MI300X", "SYS"));
  ASSERT_FALSE(graph.warnings.empty());
  EXPECT_THAT(graph.warnings[0], HasSubstr("made for xGMI and no GPU shows any"));
  Sources sources;
  sources.smi.gpus = xgmi_sources(2, "AMD Instinct MI300X").smi.gpus;
  const Graph bare = assemble(sources);
  EXPECT_THAT(notes_of(bare), HasSubstr("no xGMI, since no source shows"));
  EXPECT_EQ(gpu_link_kind(bare), LinkKind::Xgmi);
}

TEST(Assemble, TakesABridgeOfAModelWithoutKnownLinksAsItIs) {
  const Graph graph = assemble(sources_of(uniform(2, "NV1"), "NVIDIA GeForce RTX 2070 SUPER"));
  EXPECT_EQ(count_kind(graph, NodeKind::NvSwitch), 0U);
  EXPECT_EQ(graph.labels[0][1], "NV1");
}

struct Note {
  Rows rows;
  std::string model;
  std::string token;
  bool there = true;  ///< in a warning or an assumption
};

TEST(Assemble, WarnsAndAssumesByTheMatrixAndTheModel) {
  const std::string to_gpu = "from GPU to GPU, not to a switch";
  const Rows off_fabric{"X NV18 NV18 SYS", "NV18 X NV18 SYS", "NV18 NV18 X SYS", "SYS SYS SYS X"};
  const Rows bridge{"X NV4 NODE", "NV4 X NODE", "NODE NODE X"};
  for (const Note& note : std::vector<Note>{
           {uniform(4, "NV2"), "Tesla V100-SXM2-16GB", "no source names the processors"},
           // The same number between any two of three or more GPUs may be the ports of a switch,
           // unless a model says how many links a GPU has; two GPUs have the same bandwidth either
           // way.
           {uniform(3, "NV4"), "", to_gpu},
           {uniform(3, "NV4"), "NVIDIA A100-SXM4-40GB", to_gpu, false},
           {{"X NV4 NV2", "NV4 X NV4", "NV2 NV4 X"}, "", to_gpu, false},
           {{"X NV4 NV4", "NV4 X NV2", "NV4 NV2 X"}, "", to_gpu, false},
           {uniform(3, "NV1"), "", to_gpu, false},
           {uniform(2, "NV4"), "", to_gpu, false},
           {uniform(2, "NODE"), "NVIDIA H100 80GB HBM3", "fabric manager"},
           {off_fabric, "NVIDIA B200", "GPU3 has no NVLink though others have"},
           {bridge, "NVIDIA RTX A6000", "fabric", false},
           {uniform(6, "PHB"), "", "virtual machine"},
           {uniform(5, "PHB"), "", "virtual machine"},
           {uniform(5, "NV4"), "", "virtual machine", false},
           {uniform(4, "PHB"), "", "virtual machine", false},
           {bridge, "", "PCIe 3.0 x16"},
           {bridge, "", "25 GB/s a link"},
           {bridge, "NVIDIA A100-PCIE-40GB", "a link", false},
           {bridge, "NVIDIA A100-PCIE-40GB", "PCIe 3.0", false}}) {
    const std::string notes = notes_of(assemble(sources_of(note.rows, note.model)));
    EXPECT_EQ(notes.find(note.token) != std::string::npos, note.there)
        << note.rows[0] << ' ' << note.model << ": " << note.token << "\n"
        << notes;
  }
}

TEST(Assemble, ReportedRatesOfLinksStandBesideTheNominalOnes) {
  Sources sources = sources_of(uniform(2, "NV2"), "Tesla V100-SXM2-16GB");
  sources.smi.nvlink = two_with({2, {.GBps = 25.781}});
  const Graph graph = assemble(sources);
  EXPECT_EQ(nominal_of_first(graph, LinkKind::NvLink), 50);
  EXPECT_DOUBLE_EQ(nominal_of_first(graph, LinkKind::NvLink, ConstantSet::Reported), 51.562);
}

TEST(Assemble, NamesGpusOfAMatrixAsTheirLinksAreListed) {
  Sources sources = sources_of(uniform(2, "NV2"));
  sources.smi.nvlink = two_with({2, {.GBps = 25.781}}, "Tesla V100-SXM2-16GB");
  sources.smi.nvlink->at(1).uuid = "GPU-b";
  EXPECT_EQ(assemble(sources).title, "2x Tesla V100-SXM2-16GB");
  EXPECT_EQ(device(assemble(sources), 1).uuid, "GPU-b");
  sources.smi.gpus = {{.index = 0, .name = "NVIDIA Graphics Device"}, {.index = 1}};
  EXPECT_EQ(assemble(sources).title, "2x Tesla V100-SXM2-16GB") << "a generic name says nothing";
}

TEST(Assemble, WarnsOfLinksThatAreInactive) {
  Sources sources = sources_of(uniform(2, "NV2"), "Tesla V100-SXM2-16GB");
  sources.smi.nvlink = two_with({{.GBps = 25.781}, {}, {.GBps = 25.781}, {}, {}});
  EXPECT_THAT(notes_of(assemble(sources)), HasSubstr("GPU1: 3 NVLinks inactive"));
}

TEST(Assemble, KnowsSwitchesByTheRemoteEnds) {
  Sources sources = sources_of(uniform(2, "NV2"), "NVIDIA H100 80GB HBM3");
  sources.smi.remotes = two_with({{.bus_id = "0000:a0:00.0"}, {.bus_id = "0000:a1:00.0"}});
  const Graph graph = assemble(sources);
  ASSERT_EQ(count_kind(graph, NodeKind::NvSwitch), 1U);
  EXPECT_TRUE(graph.nodes[static_cast<std::size_t>(find_node(graph, "NVSwitch"))].reduces);
  EXPECT_EQ(cables(graph, 1, "NVSwitch"), 2);
  EXPECT_EQ(graph.labels[0][1], "NV2");
}

TEST(Assemble, KnowsTheGpusOfRemoteEndsAlone) {
  Sources sources{.name = "ends"};
  sources.smi.remotes = two_with({{.bus_id = "0000:a0:00.0"}}, "NVIDIA H100 80GB HBM3");
  const Graph graph = assemble(sources);
  EXPECT_EQ(graph.title, "2x NVIDIA H100 80GB HBM3");
  EXPECT_EQ(graph.labels[0][1], "NV1");
  EXPECT_EQ(count_kind(graph, NodeKind::NvSwitch), 0U) << "two GPUs and one end each: a bridge";
}

/// A bound never rests on a source that is missing: links whose ends no source shows are no zero.
TEST(Assemble, TakesActiveLinksWithoutEndsToASwitch) {
  const auto nvlinks = [](const Graph& graph) { return graph.labels[0][1]; };
  Sources sources{.name = "status"};
  sources.smi.nvlink = two_with({18, {.GBps = 53.125}}, "NVIDIA GB200");
  Graph graph = assemble(sources);
  EXPECT_EQ(nvlinks(graph), "NV18");
  EXPECT_FALSE(graph.gpu_links_known);
  EXPECT_THAT(notes_of(graph), HasSubstr("no source shows where it leads; give --smi"));
  EXPECT_THAT(notes_of(graph), Not(HasSubstr("fabric manager")));
  sources.smi.matrix = parse_smi_matrix("GPU0 GPU1\nGPU0 X PHB\nGPU1 PHB X\n", "mp.txt");
  sources.smi.matrix->pcie_only = true;
  EXPECT_EQ(nvlinks(assemble(sources)), "NV18") << "topo -mp does not show where";
  sources.smi.matrix.reset();
  sources.smi.nvlink = two_with({});
  graph = assemble(sources);
  EXPECT_EQ(nvlinks(graph), "PHB");
  EXPECT_TRUE(graph.gpu_links_known) << "none is active";
  EXPECT_THAT(notes_of(graph), HasSubstr("a slot of its own of one processor"));
}

/// Three GPUs in a ring, each linked to the two others, by `nvlink -R` without their addresses.
TEST(Assemble, KnowsNoEndsOfAddressesThatSomeGpusReach) {
  Sources sources{.name = "ends"};
  sources.smi.remotes.emplace();
  const std::vector<std::string> addresses{"0000:01:00.0", "0000:02:00.0", "0000:03:00.0"};
  for (int i = 0; i < 3; ++i) {
    GpuFacts& gpu = sources.smi.remotes->emplace_back();
    gpu.index = i;
    for (int j = 0; j < 3; ++j) {
      if (i != j) gpu.links.push_back({.bus_id = addresses[static_cast<std::size_t>(j)]});
    }
  }
  EXPECT_THAT(notes_of(assemble(sources)), HasSubstr("no source shows where it leads"));
  sources.smi.matrix =
      parse_smi_matrix("GPU0 GPU1 GPU2\nGPU0 X NV1 NV1\nGPU1 NV1 X NV1\nGPU2 NV1 NV1 X\n", "m.txt");
  EXPECT_EQ(count_kind(assemble(sources), NodeKind::NvSwitch), 0U) << "the matrix shows them";
  sources.smi.matrix.reset();
  for (GpuFacts& gpu : *sources.smi.remotes) gpu.links = {2, {.bus_id = addresses[0]}};
  EXPECT_THAT(notes_of(assemble(sources)), Not(HasSubstr("no source shows where"))) << "a switch";
}

TEST(Assemble, WarnsOfP2pThatIsOff) {
  Sources sources = sources_of(uniform(2, "PIX"), "NVIDIA GeForce RTX 2080 Ti");
  sources.smi.p2p_read = p2p_of("NS");
  const Graph graph = assemble(sources);
  EXPECT_THAT(notes_of(graph), HasSubstr("P2P reading is off between 1 pair of GPUs (0-1)"));
  EXPECT_THAT(notes_of(graph), HasSubstr("not supported (NS)"));
  EXPECT_EQ(graph.p2p[0][1], P2p::Off);
}

TEST(Assemble, NeedsReadingAndWritingForP2p) {
  Sources sources = sources_of(uniform(2, "PIX"), "Tesla P40");
  sources.smi.p2p_read = p2p_of("OK");
  EXPECT_EQ(assemble(sources).p2p[0][1], P2p::Works);
  sources.smi.p2p_write = p2p_of("CNS");
  EXPECT_EQ(assemble(sources).p2p[0][1], P2p::Off);
}

TEST(Assemble, WarnsOfMig) {
  Sources sources = sources_of(uniform(2, "NV12"), "NVIDIA A100-SXM4-40GB");
  sources.smi.gpus[1].mig = true;
  EXPECT_THAT(notes_of(assemble(sources)), HasSubstr("MIG is on for GPU1"));
}

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
  sources.smi.nvlink = two_with({6, {.GBps = 25.781}});
  return sources;
}

TEST(Assemble, JoinsTheSourcesByBusId) {
  const Graph graph = assemble(power_machine());
  EXPECT_EQ(device(graph, 0).numa, 8);
  EXPECT_EQ(device(graph, 1).uuid, "GPU-1");
  EXPECT_EQ(count_kind(graph, NodeKind::PcieSwitch), 1U);
  EXPECT_GE(find_node(graph, "mlx5_0"), 0);
  EXPECT_EQ(nearest(graph, graph.devices[0], NodeKind::Nic), find_node(graph, "mlx5_0"));
  Sources two = power_machine();
  two.nccl = two.hwloc;
  for (PciObject& object : two.hwloc->pci) object.numa = 0;
  EXPECT_EQ(device(assemble(two), 0).numa, 0) << "hwloc's";
}

/// Of six links three are to the other GPU; sources without UUIDs are joined by number.
TEST(Assemble, GivesThePowerMachinesSpareLinksToTheProcessor) {
  Sources sources = power_machine();
  EXPECT_EQ(cables(assemble(sources), 0, "CPU1"), 3);
  for (auto& gpu : sources.smi.gpus) gpu.uuid.clear();
  sources.smi.nvlink->at(1).links.resize(4);
  EXPECT_EQ(cables(assemble(sources), 0, "CPU1"), 3);
  EXPECT_EQ(cables(assemble(sources), 1, "CPU1"), 1);
}

TEST(Assemble, TakesTheNvlinksOfHwlocsMatrixBothWays) {
  Sources sources = power_machine();
  sources.smi = {};
  sources.hwloc->nvlink_matrix =
      NvlinkMatrix{.bus_ids = {"0000:01:00.0", "0000:02:00.0"}, .GBps = {{0, 75}, {75, 0}}};
  const Graph graph = assemble(sources);
  EXPECT_EQ(cables(graph, 0, "GPU1"), 3) << "75 GB/s at 25 a link";
  EXPECT_EQ(cables(graph, 1, "GPU0"), 3);
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
  ASSERT_EQ(count_kind(graph, NodeKind::NvSwitch), 1U);
  EXPECT_EQ(cables(graph, 0, "NVSwitch"), 4) << "100 GB/s at 25 a link";
  EXPECT_EQ(cables(graph, 1, "NVSwitch"), 4);
}

TEST(Assemble, TakesNvlinksOfNcclsFileToASwitch) {
  Sources sources = power_machine();
  sources.smi = {};
  sources.nccl = std::exchange(sources.hwloc, {});
  for (const char* gpu : {"0000:01:00.0", "0000:02:00.0"}) {
    sources.nccl->nvlinks.push_back(
        {.from = gpu, .to = "0000:c0:00.0", .kind = NvlinkKind::NvSwitch, .count = 4});
  }
  const Graph graph = assemble(sources);
  ASSERT_EQ(count_kind(graph, NodeKind::NvSwitch), 1U);
  EXPECT_EQ(cables(graph, 0, "NVSwitch"), 4);
  EXPECT_EQ(cables(graph, 1, "NVSwitch"), 4);
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
  EXPECT_EQ(packages("4-7\t0"), 1U);
  EXPECT_EQ(packages("0-3\tN/A"), 1U);
  EXPECT_EQ(packages("4-7\t1"), 2U);
}

/// GPU0 and GPU1 are at both processors, NIC0 beside GPU0; NIC1 is nowhere, and rows of NICs lack.
TEST(Assemble, GivesNoProcessorToANicThatNoSourcePlaces) {
  Sources sources{.name = "box"};
  sources.smi.matrix = parse_smi_matrix(
      "\tGPU0\tGPU1\tNIC0\tNIC1\tCPU Affinity\tNUMA Affinity\nGPU0\tX\tSYS\tPIX\tSYS\t0-3\t0\n"
      "GPU1\tSYS\tX\tSYS\tSYS\t4-7\t1\n",
      "box.txt");
  const Graph graph = assemble(sources);
  EXPECT_EQ(count_kind(graph, NodeKind::Package), 2U);
  ASSERT_EQ(count_kind(graph, NodeKind::Nic), 2U);
  EXPECT_EQ(nearest(graph, find_node(graph, "NIC1"), NodeKind::Package), -1);
  EXPECT_GE(nearest(graph, find_node(graph, "NIC0"), NodeKind::Package), 0);
}

TEST(Assemble, KnowsNoNumaNodeOfAPackageWithANicAlone) {
  Sources sources{.name = "box"};
  sources.smi.matrix = parse_smi_matrix(
      "\tGPU0\tNIC0\tCPU Affinity\tNUMA Affinity\nGPU0\tX\tSYS\t0-3\t0\nNIC0\tSYS\tX\n", "box.txt");
  const Graph graph = assemble(sources);
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
  Sources sources = power_machine();
  sources.smi = {};
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
  EXPECT_THAT(notes_of(assemble(sources)), HasSubstr("box.xml has 1 GPU"));
  EXPECT_THAT(notes_of(assemble(sources)), Not(HasSubstr("GPUs in the order of")));
}

TEST(Captures, AgreeWithThemselvesAndGiveTheirMatrixBackFromTheGraph) {
  const std::filesystem::path folder = test::captures("nvidia_smi_topo_m");
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".txt") continue;
    Sources sources{.name = entry.path().stem()};
    try {
      sources.smi.matrix =
          parse_smi_matrix(read_text_file("--smi", entry.path()), entry.path().string());
    } catch (const Error&) {
      continue;  // damaged ones are the parser's business
    }
    EXPECT_EQ(contradiction(sources), std::nullopt) << entry.path();
    Graph graph = assemble(sources);
    const auto labels = graph.labels;
    label_devices(graph);
    EXPECT_EQ(graph.labels, labels) << entry.path();
    ++compared;
  }
  EXPECT_GE(compared, std::filesystem::exists(test::kSharedData) ? 51 : 2);
}

}  // namespace
}  // namespace busbar::topo

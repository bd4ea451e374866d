// SPDX-License-Identifier: BSD-3-Clause
#include "topo/assemble/assemble.hpp"

#include "tests/unit/support/topology_sources.hpp"

namespace busbar::topo {
namespace {

/// `topo -p2p` of two GPUs.
P2pMatrix p2p_of(const std::string& cell) {
  return parse_smi_p2p("GPU0 GPU1\nGPU0 X " + cell + "\nGPU1 " + cell + " X\n", "p2p.txt");
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

TEST(Assemble, TakesMoreLinksInARowThanAGpuHasForASwitchAndElseCables) {
  const Graph graph = assemble(sources_of(uniform(4, "NV6"), "Tesla V100-SXM3-32GB"));
  EXPECT_EQ(count_kind(graph, NodeKind::NvSwitch), 1U);
  EXPECT_EQ(nominal_of_first(graph, LinkKind::NvLink), 150);
  for (std::size_t gpu = 0; gpu < 4; ++gpu) EXPECT_EQ(cables(graph, gpu, "NVSwitch"), 6) << gpu;
  const Graph mesh = assemble(sources_of(uniform(4, "NV2"), "Tesla V100-SXM2-16GB"));
  EXPECT_EQ(count_kind(mesh, NodeKind::NvSwitch), 0U);
  EXPECT_TRUE(mesh.warnings.empty());
  const Graph unknown = assemble(sources_of(uniform(2, "NV1"), "NVIDIA GeForce RTX 2070 SUPER"));
  EXPECT_EQ(count_kind(unknown, NodeKind::NvSwitch), 0U) << "links of the model are not known";
  EXPECT_EQ(unknown.labels[0][1], "NV1");
}

/// What AMD's tools report of GPUs that are all XGMI to each other.
Sources xgmi_sources(std::size_t gpus, const std::string& model, const std::string& cell = "XGMI") {
  Sources sources = sources_of(uniform(gpus, cell), model);
  sources.smi.tool = "amd-smi";
  return sources;
}

TEST(Assemble, TakesXgmiForCablesOfTheModelsRate) {
  // MI300A has two links side by side, which rocm-smi does not show.
  for (const auto& [gpus, model, cell, label, GBps] :
       {std::tuple{8U, "MI300X", "XGMI", "XGMI", 64.0},
        {8U, "MI355X", "XGMI", "XGMI", 76.8},
        {4U, "MI300A", "XGMI", "XGMI2", 128},
        {4U, "MI210", "XGMI", "XGMI", 50},
        {2U, "MI250X", "XGMI4", "XGMI4", 200}}) {
    const Graph graph = assemble(xgmi_sources(gpus, fmt::format("AMD Instinct {}", model), cell));
    EXPECT_EQ(count_kind(graph, NodeKind::NvSwitch), 0U) << model;
    EXPECT_EQ(count_kind(graph, NodeKind::Package), 2U) << model;
    EXPECT_EQ(nominal_of_first(graph, LinkKind::Xgmi), GBps) << model;
    EXPECT_EQ(graph.source, "amd-smi");
    EXPECT_TRUE(graph.warnings.empty()) << graph.warnings[0];
    EXPECT_EQ(graph.labels[0].back(), label) << model;
  }
}

TEST(Assemble, AssumesTheRateOfXgmiWhereNoGpuHasAName) {
  Sources sources = xgmi_sources(4, "");
  sources.smi.matrix->shows_host = false;
  sources.smi.matrix->numa_affinity.assign(4, "");
  const Graph graph = assemble(sources);
  EXPECT_EQ(nominal_of_first(graph, LinkKind::Xgmi), 50);
  ASSERT_EQ(graph.assumptions.size(), 1U);
  EXPECT_THAT(graph.assumptions[0].text, HasSubstr("xGMI of 50 GB/s"));
  EXPECT_THAT(graph.assumptions[0].text, HasSubstr("MI300A: 2 of 64"));
  EXPECT_EQ(graph.title, "4x AMD GPU") << "of a tool of AMD";
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
  sources.smi.nvlink = two_with(std::vector<double>(2, 25.781));
  const Graph graph = assemble(sources);
  EXPECT_EQ(nominal_of_first(graph, LinkKind::NvLink), 50);
  EXPECT_DOUBLE_EQ(nominal_of_first(graph, LinkKind::NvLink, ConstantSet::Reported), 51.562);
}

TEST(Assemble, NamesGpusOfAMatrixAsTheirLinksAreListed) {
  Sources sources = sources_of(uniform(2, "NV2"));
  sources.smi.nvlink = two_with(std::vector<double>(2, 25.781), "Tesla V100-SXM2-16GB");
  sources.smi.nvlink->at(1).uuid = "GPU-b";
  EXPECT_EQ(assemble(sources).title, "2x Tesla V100-SXM2-16GB");
  EXPECT_EQ(device(assemble(sources), 1).uuid, "GPU-b");
  sources.smi.gpus = {{.index = 0, .name = "NVIDIA Graphics Device"}, {.index = 1}};
  EXPECT_EQ(assemble(sources).title, "2x Tesla V100-SXM2-16GB") << "a generic name says nothing";
}

TEST(Assemble, WarnsOfInactiveLinksAndTakesTheRateOfTheOthers) {
  Sources sources = sources_of(uniform(2, "NV2"), "Tesla V100-SXM2-16GB");
  sources.smi.nvlink = two_with({25.781, 0, 25.781, 0, 0});
  EXPECT_THAT(notes_of(assemble(sources)), HasSubstr("GPU1: 3 NVLinks inactive"));
  sources.smi.gpus.clear();
  sources.smi.nvlink = two_with({50, 50, 0});
  EXPECT_EQ(nominal_of_first(assemble(sources), LinkKind::NvLink), 100);
}

/// A bound never rests on a source that is missing: links whose ends no source shows are no zero.
TEST(Assemble, TakesActiveLinksWithoutEndsToASwitch) {
  const auto nvlinks = [](const Graph& graph) { return graph.labels[0][1]; };
  Sources sources{.name = "status"};
  sources.smi.nvlink = two_with(std::vector<double>(18, 53.125), "NVIDIA GB200");
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

TEST(Assemble, KnowsWhereP2pWorksAndWarnsWhereItIsOff) {
  Sources sources = sources_of(uniform(2, "PIX"), "NVIDIA GeForce RTX 2080 Ti");
  sources.smi.p2p = p2p_of("OK");
  EXPECT_EQ(assemble(sources).p2p[0][1], P2p::Works);
  sources.smi.p2p = p2p_of("NS");
  const Graph graph = assemble(sources);
  EXPECT_THAT(notes_of(graph), HasSubstr("P2P is off between 1 pair of GPUs (0-1)"));
  EXPECT_THAT(notes_of(graph), HasSubstr("not supported (NS)"));
  EXPECT_EQ(graph.p2p[0][1], P2p::Off);
}

TEST(Assemble, WarnsOfMig) {
  Sources sources = sources_of(uniform(2, "NV12"), "NVIDIA A100-SXM4-40GB");
  sources.smi.gpus[1].mig = true;
  EXPECT_THAT(notes_of(assemble(sources)), HasSubstr("MIG is on for GPU1"));
}

}  // namespace
}  // namespace busbar::topo

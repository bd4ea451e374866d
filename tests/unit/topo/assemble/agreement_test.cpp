// SPDX-License-Identifier: BSD-3-Clause
#include "tests/unit/support/captures.hpp"
#include "tests/unit/support/topology_sources.hpp"

namespace busbar::topo {
namespace {

/// `nvlink -s` of so many GPUs, each with so many active links.
std::vector<GpuFacts> status_of(int gpus, std::size_t links) {
  std::vector<GpuFacts> status(to_size(gpus), {.links = std::vector<double>(links, 25)});
  for (int i = 0; i < gpus; ++i) status[to_size(i)].index = i;
  return status;
}

Sources matrix_and_query(std::size_t in_matrix, std::size_t in_query) {
  Sources sources = sources_of(uniform(in_matrix, "NV2"));
  sources.smi.gpus = sources_of(uniform(in_query, "NV2"), "Tesla V100-SXM2-16GB").smi.gpus;
  return sources;
}

/// With the bus ids of such a query.
HostTree tree_of(std::size_t gpus) {
  HostTree tree{.origin = "tree.xml"};
  for (const GpuFacts& gpu : matrix_and_query(gpus, gpus).smi.gpus) {
    tree.gpus.push_back({.bus_id = gpu.bus_id});
  }
  return tree;
}

/// Without a token the sources agree.
void expect_contradiction(const Sources& sources, const std::string& token = "") {
  const auto found = contradiction(sources);
  EXPECT_EQ(found.has_value(), !token.empty()) << found.value_or(token);
  EXPECT_NE(found.value_or("").find(token), std::string::npos) << found.value_or("");
}

TEST(Agreement, RefusesAQueryOfFewerOrMoreGpus) {
  expect_contradiction(matrix_and_query(4, 4));
  expect_contradiction(matrix_and_query(8, 4), "--smi shows 8 GPUs and --query 4");
  expect_contradiction(matrix_and_query(8, 9), "--query 9");
  expect_contradiction(matrix_and_query(4, 1), "--query 1");
}

TEST(Agreement, RefusesLinksThatOneSourceHasAndAnotherExcludes) {
  Sources sources = matrix_and_query(4, 4);
  for (const auto& [gpus, links, token] : std::vector<std::tuple<int, std::size_t, std::string>>{
           {4, 6, ""}, {4, 0, "GPU0 has 0 NVLinks active"}, {1, 6, "GPU1 has 0 NVLinks active"}}) {
    sources.smi.nvlink = status_of(gpus, links);
    expect_contradiction(sources, token);
  }
  sources.smi.nvlink->clear();
  expect_contradiction(sources);
  sources = sources_of(uniform(2, "SYS"));
  sources.smi.nvlink = status_of(2, 4);
  expect_contradiction(sources, "its row of --smi shows none");
  sources.smi.matrix->pcie_only = true;
  expect_contradiction(sources);
}

TEST(Agreement, ComparesTheNumberOfTheStatusWithATree) {
  Sources sources;
  sources.smi.nvlink = status_of(2, 6);
  sources.nccl = tree_of(2);
  expect_contradiction(sources);
  sources.hwloc = tree_of(1);
  expect_contradiction(sources, "--hwloc 1");
  sources.hwloc = tree_of(3);
  sources.nccl.reset();
  expect_contradiction(sources);
}

TEST(Agreement, OfTwoTreesNeedsACommonBusId) {
  Sources sources{.hwloc = tree_of(2), .nccl = tree_of(1)};
  expect_contradiction(sources);
  sources.nccl->gpus[0].bus_id = "0000:a0:00.0";
  expect_contradiction(sources, "none of the bus ids in --hwloc is in --nccl-xml");
}

TEST(Agreement, RefusesAnotherModel) {
  Sources sources = matrix_and_query(2, 2);
  sources.smi.nvlink = status_of(2, 2);
  sources.smi.nvlink->at(0).name = "NVIDIA H100 80GB HBM3";
  expect_contradiction(sources, "GPU0 is Tesla V100-SXM2-16GB in --query");
  for (const char* same : {"Tesla V100-SXM2-32GB", "NVIDIA Graphics Device"}) {
    sources.smi.nvlink->at(0).name = same;
    expect_contradiction(sources);
  }
}

TEST(Agreement, OfATreeAndAQueryIsOfGenerationsOnly) {
  Sources sources = matrix_and_query(2, 2);
  sources.hwloc = tree_of(2);
  std::string& model = sources.hwloc->gpus[0].name;
  for (const char* same : {"", "GV100GL [Tesla V100 SXM3 32GB]", "Tesla V100-SXM3-32GB", "X9"}) {
    model = same;
    expect_contradiction(sources);
  }
  model = "NVIDIA H100 80GB HBM3";
  expect_contradiction(sources, "and NVIDIA H100 80GB HBM3 in --hwloc");
  sources.smi.gpus[0].name = "X9";
  expect_contradiction(sources);
}

TEST(Agreement, NeedsOneOfTheBusIdsInATree) {
  Sources sources = matrix_and_query(2, 2);
  sources.nccl = tree_of(1);
  expect_contradiction(sources);
  sources.hwloc = HostTree{.origin = "other.xml", .gpus = {{.bus_id = "0000:a0:00.0"}}};
  expect_contradiction(sources, "none of the bus ids in --query");
}

TEST(Agreement, ComparesNumbersOfGpusWhereThereAreNoBusIds) {
  for (const std::size_t gpus : {1U, 2U, 3U}) {
    const auto shows = [&](const char* option) {
      return gpus == 2 ? "" : fmt::format("--smi shows 2 GPUs and {} {}", option, gpus);
    };
    Sources sources = sources_of(uniform(2, "SYS"));
    sources.hwloc = tree_of(gpus);
    expect_contradiction(sources, shows("--hwloc"));
    sources.nccl = std::exchange(sources.hwloc, {});
    expect_contradiction(sources, shows("--nccl-xml"));
  }
}

TEST(Captures, AgreeWithThemselvesAndGiveTheirMatrixBackFromTheGraph) {
  const std::filesystem::path folder = test::captures("nvidia_smi_topo_m");
  int compared = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".txt") continue;
    Sources sources{.name = entry.path().stem()};
    try {
      sources.smi.matrix = parse_smi_matrix(*read_file(entry.path()), entry.path().string());
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

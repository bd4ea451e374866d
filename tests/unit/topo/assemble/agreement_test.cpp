// SPDX-License-Identifier: BSD-3-Clause
#include "topo/assemble/agreement.hpp"

#include <filesystem>
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.hpp"

namespace busbar::topo {
namespace {

using testing::HasSubstr;
using testing::Optional;

/// `topo -m` of so many GPUs with the same word between any two.
SmiMatrix matrix_of(int gpus, const std::string& cell) {
  std::string text;
  for (int i = 0; i < gpus; ++i) text += "\tGPU" + std::to_string(i);
  text += "\tCPU Affinity\n";
  for (int i = 0; i < gpus; ++i) {
    text += "GPU" + std::to_string(i);
    for (int j = 0; j < gpus; ++j) text += "\t" + (i == j ? "X" : cell);
    text += "\t0-7\n";
  }
  return parse_smi_matrix(text, "box.txt");
}

GpuFacts gpu(int index, const std::string& model = "Tesla V100-SXM2-16GB") {
  return {.index = index,
          .uuid = "GPU-" + std::to_string(index),
          .name = model,
          .bus_id = normal_bus_id("0000:0" + std::to_string(index + 1) + ":00.0")};
}

/// `nvlink -s` of so many GPUs, each with so many active links.
NvlinkStatus status_of(int gpus, int links) {
  NvlinkStatus status;
  for (int i = 0; i < gpus; ++i) {
    NvlinkGpu gpu{.index = i};
    for (int k = 0; k < links; ++k) gpu.links.push_back({.number = k, .GBps = 25});
    status.gpus.push_back(gpu);
  }
  return status;
}

Sources matrix_and_query(int in_matrix, int in_query) {
  Sources sources;
  sources.smi.matrix = matrix_of(in_matrix, "NV2");
  for (int i = 0; i < in_query; ++i) sources.smi.gpus.push_back(gpu(i));
  return sources;
}

TEST(Agreement, OfSourcesOfOneMachineIsNoContradiction) {
  Sources sources = matrix_and_query(4, 4);
  sources.smi.nvlink = status_of(4, 6);
  EXPECT_EQ(contradiction(sources), std::nullopt);
}

TEST(Agreement, RefusesAQueryOfFewerOrMoreGpus) {
  EXPECT_THAT(contradiction(matrix_and_query(8, 4)),
              Optional(HasSubstr("--smi shows 8 GPUs and --query 4")));
  EXPECT_THAT(contradiction(matrix_and_query(8, 9)), Optional(HasSubstr("--query 9")));
  EXPECT_THAT(contradiction(matrix_and_query(4, 1)), Optional(HasSubstr("--query 1")));
}

TEST(Agreement, RefusesLinksOfAnotherMachine) {
  Sources sources = matrix_and_query(4, 4);
  sources.smi.nvlink = status_of(4, 18);
  EXPECT_EQ(contradiction(sources), std::nullopt) << "18 links of 2 are 9 peers, 3 of them hidden";
  sources.smi.nvlink = status_of(4, 17);
  EXPECT_THAT(contradiction(sources), Optional(HasSubstr("17 NVLinks active")));
}

TEST(Agreement, RefusesLinksWhereTheMatrixShowsNone) {
  Sources sources;
  sources.smi.matrix = matrix_of(2, "SYS");
  sources.smi.nvlink = status_of(2, 4);
  EXPECT_THAT(contradiction(sources), Optional(HasSubstr("its row of --smi shows none")));
}

/// Rows of unequal cells are of a V100's mesh, of whose six links some may go to GPUs that are not
/// shown. GPU0 has 1 + 2 links here, GPU2 2 + 2.
TEST(Agreement, AcceptsUnequalCellsUpToTheLinksOfAV100) {
  Sources sources;
  sources.smi.matrix = parse_smi_matrix(
      "\tGPU0\tGPU1\tGPU2\tCPU Affinity\nGPU0\tX\tNV1\tNV2\t0-7\n"
      "GPU1\tNV1\tX\tNV2\t0-7\nGPU2\tNV2\tNV2\tX\t0-7\n",
      "box.txt");
  for (const int links : {4, 6}) {
    sources.smi.nvlink = status_of(3, links);
    EXPECT_EQ(contradiction(sources), std::nullopt) << links;
  }
  for (const int links : {0, 2, 7}) {
    sources.smi.nvlink = status_of(3, links);
    EXPECT_THAT(contradiction(sources), Optional(HasSubstr("GPU0 has"))) << links;
  }
}

TEST(Agreement, RefusesAnotherModel) {
  Sources sources = matrix_and_query(2, 2);
  sources.smi.nvlink = status_of(2, 2);
  sources.smi.nvlink->gpus[0].name = "NVIDIA H100 80GB HBM3";
  EXPECT_THAT(contradiction(sources),
              Optional(HasSubstr("GPU0 is Tesla V100-SXM2-16GB in --query")));
}

TEST(Agreement, OfATreeAndAQueryIsOfGenerationsOnly) {
  Sources sources = matrix_and_query(2, 2);
  sources.hwloc = HostTree{
      .origin = "tree.xml",
      .gpus = {{.bus_id = sources.smi.gpus[0].bus_id}, {.bus_id = sources.smi.gpus[1].bus_id}}};
  std::string& model = sources.hwloc->gpus[0].model;
  for (const char* same : {"", "GV100GL [Tesla V100 SXM3 32GB]", "Tesla V100-SXM3-32GB", "X9"}) {
    model = same;
    EXPECT_EQ(contradiction(sources), std::nullopt) << same;
  }
  model = "NVIDIA H100 80GB HBM3";
  EXPECT_THAT(contradiction(sources), Optional(HasSubstr("and NVIDIA H100 80GB HBM3 in --hwloc")));
  sources.smi.gpus[0].name = "X9";
  EXPECT_EQ(contradiction(sources), std::nullopt);
}

TEST(Agreement, RefusesAnotherUuid) {
  Sources sources = matrix_and_query(2, 2);
  sources.smi.nvlink = status_of(2, 2);
  sources.smi.nvlink->gpus[1].uuid = "GPU-other";
  EXPECT_THAT(contradiction(sources), Optional(HasSubstr("UUID")));
}

TEST(Agreement, RefusesATreeWithNoneOfTheBusIds) {
  Sources sources = matrix_and_query(2, 2);
  sources.hwloc = HostTree{.origin = "other.xml",
                           .pci = {{.bus_id = "0000:a0:00.0", .kind = PciKind::Gpu}},
                           .gpus = {{.bus_id = "0000:a0:00.0"}}};
  EXPECT_THAT(contradiction(sources), Optional(HasSubstr("none of the bus ids in --query")));
}

/// A list without bus ids is compared by numbers: hwloc has every GPU, a job's file maybe fewer.
TEST(Agreement, ComparesNumbersOfGpusWhereThereAreNoBusIds) {
  Sources sources;
  sources.smi.matrix = matrix_of(2, "SYS");
  const auto tree_of = [](int gpus) {
    HostTree tree{.origin = "tree.xml"};
    for (int i = 0; i < gpus; ++i) tree.gpus.push_back({.bus_id = gpu(i).bus_id});
    return tree;
  };
  sources.hwloc = tree_of(2);
  EXPECT_EQ(contradiction(sources), std::nullopt);
  sources.hwloc = tree_of(3);
  EXPECT_THAT(contradiction(sources), Optional(HasSubstr("--hwloc shows 3 GPUs")));
  sources.hwloc = tree_of(1);
  EXPECT_THAT(contradiction(sources), Optional(HasSubstr("--hwloc shows 1 GPU")));
  sources.hwloc.reset();
  sources.nccl = tree_of(1);
  EXPECT_EQ(contradiction(sources), std::nullopt);
  sources.nccl = tree_of(3);
  EXPECT_THAT(contradiction(sources), Optional(HasSubstr("--nccl-xml shows 3 GPUs")));
}

TEST(Agreement, TakesAMatrixOfPcieForNoWordAboutNvlink) {
  Sources sources;
  sources.smi.matrix = matrix_of(2, "SYS");
  sources.smi.matrix->pcie_only = true;
  sources.smi.nvlink = status_of(2, 4);
  EXPECT_EQ(contradiction(sources), std::nullopt);
}

TEST(Agreement, AcceptsTheOtherGpusOfATreeWhenOneIsThere) {
  Sources sources = matrix_and_query(2, 2);
  sources.nccl = HostTree{.origin = "job.xml",
                          .pci = {{.bus_id = gpu(0).bus_id, .kind = PciKind::Gpu}},
                          .gpus = {{.bus_id = gpu(0).bus_id}}};
  EXPECT_EQ(contradiction(sources), std::nullopt);
}

/// Captures named after one machine, "h200_8_1" and "h200_status_8", agree as far as they go.
TEST(Agreement, AcceptsEveryCaptureByItself) {
  const std::filesystem::path folder = "../shared/data/nvidia_smi_topo_m";
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is absent";
  int read = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".txt") continue;
    Sources sources;
    try {
      sources.smi.matrix =
          parse_smi_matrix(read_text_file("--smi", entry.path()), entry.path().string());
    } catch (const Error&) {
      continue;  // damaged ones are the parser's business
    }
    EXPECT_EQ(contradiction(sources), std::nullopt) << entry.path();
    ++read;
  }
  EXPECT_GT(read, 50);
}

}  // namespace
}  // namespace busbar::topo
